"""The predictions of a model in two runs, side by side: answers, and each token's probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import NamedTuple

import streamlit as st
from torch import Tensor

from headlight.model.insight.scoring import log_probabilities
from headlight.model.library.pieces import as_pieces
from headlight.model.questions import Question
from headlight.pages.shared.runs.arrays import as_array
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.comparison import LABELS, scores_in_words
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.saving import About
from headlight.pages.shared.show.texts import ended, listed
from headlight.pages.shared.show.words import capital
from headlight.pages.shared.state.showing import say
from headlight.viz import CanvasPicture, probability_bars

TOP = 8  # answers shown
LONG = 40  # tokens whose probabilities are listed without scrolling
LIST_HEIGHT = 720  # pixels
PROBABILITIES = "Probability of each token"
NO_OUTPUT = (
    "This model has no output that can be shown: it was saved without an output layer, or with one "
    "of an unsupported kind."
)


def compare_answers(
    before: ModelRun, after: ModelRun, labels: tuple[str, str] = LABELS, *, of: About
) -> None:
    """Draw each token's probability and the model's predictions in two runs.

    If there is neither, say so.
    """
    if not compare_outputs(before, after, labels, of=of) and not says_tokens(before):
        st.caption(NO_OUTPUT)


def says_tokens(run: ModelRun) -> bool:
    """Return whether a model's output is tokens, not a class or the positions of an answer."""
    return not {"write", "mask words"} <= {*run.reader.missing}


def compare_outputs(
    before: ModelRun, after: ModelRun, labels: tuple[str, str], *, of: About
) -> bool:
    """Draw the probabilities that can be compared in two runs, of one model or of two.

    The tokens' probabilities are drawn if both runs are measured on the same tokens, the models'
    predictions if both answer the same question. Return whether anything can be compared.
    """
    measured, other = (measured_on(run) for run in (before, after))
    answered = {question.row for question, _ in asked_alike(before, after)}
    alike, objective = bool(measured) and measured == other, before.objective()
    if objective and alike and not answered.issuperset(objective.rows):
        compare_probabilities(before, after, measured, labels, of=of)
    return compare_choices(before, after, labels, of=of) or alike


def compare_choices(
    before: ModelRun, after: ModelRun, labels: tuple[str, str] = LABELS, *, of: About
) -> bool:
    """Draw the predictions in two runs if both answer the same questions; return whether so."""
    pairs = asked_alike(before, after)
    if len(pairs) > 2:  # the text has many masked words
        by_words = {words_of(pair): pair for pair in pairs}
        pairs = [by_words[st.selectbox("Shown", by_words, key="question")]]
    for number, pair in enumerate(pairs):
        compare_choice((before, after), pair, labels, key=f"answer-{number}", of=of)
    return bool(pairs)


def say_predictions(before: ModelRun, after: ModelRun) -> None:
    """Say in one sentence how changes affected the predictions of a model that does not write.

    The scores follow the sentence. Without an objective to measure nothing is said.
    """
    if before == after or "write" not in before.reader.missing or before.objective() is None:
        return
    asked = asked_alike(before, after)
    answer = [pair for pair in asked if all(question.together for question in pair)]
    outcomes = []
    for pair in answer or asked:
        what = "answer" if answer else f"likeliest {pair[0].words.removeprefix('The ').lower()}"
        first, second = (
            AnswersOfRun(*each).text for each in zip((before, after), pair, strict=True)
        )
        outcomes.append((what, first, second))
    changes = [f"the {what} changes from “{a}” to “{b}”" for what, a, b in outcomes if a != b]
    stays = f"{what} stays “{first}”" if len(outcomes) == 1 else "likeliest words stay the same"
    said = ended(capital(listed(changes) or f"the {stays}"))
    say(said, "outcome", numbers=scores_in_words(before, after))


def measured_on(run: ModelRun) -> list[str]:
    """Return the texts of the tokens that effects are measured on in a run."""
    objective = run.objective()
    if objective is None:
        return []
    if objective.texts:
        return list(objective.texts)
    chosen = zip(objective.rows, objective.ids, strict=True)
    return [run.reader.label(run.trace(), Question("", row), index) for row, index in chosen]


def asked_alike(before: ModelRun, after: ModelRun) -> list[tuple[Question, Question]]:
    """Return pairs of questions, one of each run, that are of the same kind."""
    first, second = (run.reader.questions(run.trace()) for run in (before, after))
    pairs = zip(first, second, strict=False)
    return [
        (first_question, other)
        for first_question, other in pairs
        if without_place(first_question) == without_place(other)
    ]


def without_place(question: Question) -> str:
    """Return the words of a question without a token's number at the end."""
    return question.words.rstrip("0123456789")


def words_of(pair: tuple[Question, Question]) -> str:
    return " and ".join(dict.fromkeys(question.words for question in pair))


def compare_probabilities(
    before: ModelRun,
    after: ModelRun,
    tokens: list[str],
    labels: tuple[str, str] = LABELS,
    *,
    of: About,
) -> None:
    """Draw the probability of each target token in two runs.

    If there are many tokens, they are in a box that scrolls.
    """
    runs = dict(zip(labels, (before, after), strict=True))
    if before == after:
        del runs[labels[1]]
    bars = {
        label: as_array(log_probabilities(run.trace().logits, objective)[0].exp())
        for label, run in runs.items()
        if (objective := run.objective())
    }
    begins = before.objective()
    room = st.container(height=LIST_HEIGHT, border=False) if len(tokens) > LONG else nullcontext()
    with room:
        st.markdown(f"**{PROBABILITIES}**")
        if len(tokens) > LONG:
            st.caption(f"There are {len(tokens)} tokens: scroll the list to see them all.")
        alone = {*before.reader.shape.kinds} == {"decoder"}
        # The tokens of a prompt are read, not written: a list of written tokens begins after them.
        first = begins.rows[0] + 2 if alone and begins else 1
        picture = probability_bars(bars, tokens, first=first)
        show(picture, "probabilities", of=of, what=PROBABILITIES)


def compare_choice(
    both: tuple[ModelRun, ModelRun],
    questions: tuple[Question, Question],
    labels: tuple[str, str],
    *,
    key: str,
    of: About,
) -> None:
    """Draw the likeliest answers in two runs, side by side if the answers are of the same kind."""
    what, runs = words_of(questions), 1 if both[0] == both[1] else 2
    asked = zip(labels[:runs], both, questions, strict=False)
    answers = {label: AnswersOfRun(run, question) for label, run, question in asked}
    for label, each in answers.items():
        if each.question.together:
            st.text(f"The answer {label}: “{each.question.together}”")
    st.markdown(f"**{what}**")
    *_, last = answers.values()
    if all(each.is_comparable_to(last) for each in answers.values()):
        show(likeliest(answers), key, of=of, what=what)
    else:
        for column, (label, each) in zip(st.columns(2), answers.items(), strict=True):
            with column:
                show(likeliest({label: each}), f"{key}-{label}", of=of, what=f"{what}, {label}")
    if sentence := last.of_hidden_word():
        st.text(sentence)


class AnswersOfRun(NamedTuple):
    """The probabilities of the answers to a question in a run."""

    run: ModelRun
    question: Question

    @property
    def probabilities(self) -> Tensor:
        """The probability of every answer: (V,)."""
        return self.run.trace().logits[0, self.question.row].softmax(dim=-1)

    @property
    def best(self) -> list[int]:
        probabilities = self.probabilities
        return probabilities.topk(min(TOP, len(probabilities))).indices.tolist()

    @property
    def text(self) -> str:
        """The joint result of this and later rows, if there is one, else the likeliest answer."""
        return self.question.together or self.texts(self.best[:1])[0]

    def texts(self, answers: Sequence[int]) -> list[str]:
        label = self.run.reader.label
        return [label(self.run.trace(), self.question, answer) for answer in answers]

    def of_hidden_word(self) -> str:
        """Return a sentence on the probability of the hidden word here; empty if none is hidden."""
        if not self.run.masked:
            return ""
        tokens = as_pieces(self.run.trace().source_tokens)
        masks = [token for token in tokens if token.role == "mask"]
        answer = masks[self.question.row].hides
        if answer is None:  # the visitor typed the mask, so that it hides no word
            return ""
        probabilities = self.probabilities
        rank = int((probabilities > probabilities[answer]).sum()) + 1
        (text,) = self.texts([answer])
        return (
            f"The hidden word “{text}”: {probabilities[answer]:.3f}, "
            f"rank {rank} of {len(probabilities)}"
        )

    def is_comparable_to(self, other: AnswersOfRun) -> bool:
        """Return whether the same index means the same answer in another run."""
        if len(self.probabilities) != len(other.probabilities):
            return False
        shown = [*self.best, *other.best]
        return self.texts(shown) == other.texts(shown)


def likeliest(answers: Mapping[str, AnswersOfRun]) -> CanvasPicture:
    """Return bars of the likeliest answers in each run; the last run's answers come first."""
    each = list(answers.values())
    shown = list(dict.fromkeys(answer for run in reversed(each) for answer in run.best))
    bars = {label: as_array(run.probabilities[shown]) for label, run in answers.items()}
    return probability_bars(bars, each[-1].texts(shown))
