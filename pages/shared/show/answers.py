"""The predictions of a model in two runs, side by side: answers, and each token's probability."""

from collections.abc import Sequence
from contextlib import nullcontext

import numpy as np
import streamlit as st

from headlight.model.insight.scoring import log_probabilities
from headlight.model.questions import Objective, Question
from headlight.pages.shared.runs.arrays import as_array
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.comparison import LABELS, scores_in_words, scores_of
from headlight.pages.shared.show.likeliest import AnswersOfRun, likeliest
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.saving import About
from headlight.pages.shared.show.texts import ended, listed
from headlight.pages.shared.show.words import capital
from headlight.pages.shared.state.showing import say
from headlight.viz import measure_bars, probability_bars

LONG = 40  # a list of more tokens than this scrolls
LIST_HEIGHT = 720  # pixels
PROBABILITIES = "Probability of each {each}"
ALL_OF = {"label": "labels", "tag": "likeliest tags"}
NO_OUTPUT = (
    "This model has no output that can be shown: it was saved without an output layer, or with one "
    "of an unsupported kind."
)


def compare_answers(
    before: ModelRun, after: ModelRun, labels: tuple[str, str] = LABELS, *, of: About
) -> None:
    """Draw each token's probability and the model's predictions in two runs.

    If the model has no such output, say so.
    """
    if not compare_outputs(before, after, labels, of=of) and not says_tokens(before):
        st.caption(NO_OUTPUT)


def says_tokens(run: ModelRun) -> bool:
    """Return whether a model outputs tokens, not classes, scores or the place of an answer."""
    return not {"write", "mask words"} <= {*run.reader.missing}


def compare_outputs(
    before: ModelRun, after: ModelRun, labels: tuple[str, str], *, of: About
) -> bool:
    """Draw what can be compared of the outputs of two runs, of one model or of two.

    The probabilities of tokens are drawn if they are of the same tokens in both runs, the models'
    predictions if both answer the same question. Return whether anything can be compared.
    """
    measured, other = (measured_on(run) for run in (before, after))
    answered = {question.row for question, _ in asked_alike(before, after)}
    alike, objective = bool(measured) and measured == other, before.objective()
    said_below = answered.issuperset(objective.rows) if objective else True
    if objective and alike and (objective.each == "tag" or not said_below):
        compare_probabilities(before, after, measured, labels, of=of)
    return compare_choices(before, after, labels, of=of) or alike


def compare_choices(
    before: ModelRun, after: ModelRun, labels: tuple[str, str] = LABELS, *, of: About
) -> bool:
    """Draw the predictions in two runs if both answer the same questions; return if they do."""
    pairs = asked_alike(before, after)
    if pairs and pairs[0][0].kind != "choice":
        compare_numbers((before, after), pairs, labels, of=of)
        return True
    if len(pairs) > 2:  # the text has many masked words or tags
        by_words = {words_of(pair): pair for pair in pairs}
        pairs = [by_words[st.selectbox("Shown", by_words, key="question")]]
    for number, pair in enumerate(pairs):
        compare_choice((before, after), pair, labels, key=f"answer-{number}", of=of)
    return bool(pairs)


def say_predictions(before: ModelRun, after: ModelRun) -> None:
    """Say in one sentence how changes affected the predictions of a model that writes no text.

    The log-probabilities (or scores) follow. If nothing can be measured, nothing is said.
    """
    objective = before.objective()
    if before == after or "write" not in before.reader.missing or objective is None:
        return
    of = of_score if objective.is_score else of_choices
    said = of(before, after, objective)
    say(said, "outcome", numbers=scores_in_words(before, after))


def of_score(before: ModelRun, after: ModelRun, objective: Objective) -> str:
    """Return whether a score rises or falls, as a sentence."""
    first, second = scores_of(before, after, objective)
    becomes = "rises" if second > first else "falls" if second < first else "stays the same"
    return f"{capital(objective.description)} {becomes}."


def of_choices(before: ModelRun, after: ModelRun, objective: Objective) -> str:
    """Return which of a model's predictions change, as a sentence."""
    asked = asked_alike(before, after)
    answer = [pair for pair in asked if all(question.together for question in pair)]
    outcomes = []
    for pair in answer or asked:
        likeliest = "likeliest " if pair[0].kind == "choice" else ""
        name = pair[0].words.removeprefix("The ")
        what = "answer" if answer else likeliest + name[0].lower() + name[1:]
        first, second = (
            AnswersOfRun(*each).text for each in zip((before, after), pair, strict=True)
        )
        outcomes.append((what, first, second))
    changes = [f"the {what} changes from “{a}” to “{b}”" for what, a, b in outcomes if a != b]
    all_stay = f"{ALL_OF.get(objective.each, 'likeliest words')} stay the same"
    stays = f"{what} stays “{first}”" if len(outcomes) == 1 else all_stay
    return ended(capital(listed(changes) or f"the {stays}"))


def measured_on(run: ModelRun) -> list[str]:
    """Return the texts of the tokens on whose likelihood effects are measured in a run."""
    objective = run.objective()
    if objective is None:
        return []
    if objective.texts:
        return list(objective.texts)
    chosen = zip(objective.rows, objective.ids, strict=True)
    return [run.reader.label(run.trace(), Question("", row), index) for row, index in chosen]


def asked_alike(before: ModelRun, after: ModelRun) -> list[tuple[Question, Question]]:
    """Return the questions that both runs answer, as pairs: the first run's, the second run's."""
    first, second = (run.reader.questions(run.trace()) for run in (before, after))
    pairs = zip(first, second, strict=False)
    return [
        (first_question, other)
        for first_question, other in pairs
        if without_place(first_question) == without_place(other)
    ]


def without_place(question: Question) -> str:
    """Return the words of a question without the number of a token at their end."""
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
    what = PROBABILITIES.format(each=begins.each if begins else "token")
    with room:
        st.markdown(f"**{what}**")
        if len(tokens) > LONG:
            st.caption(f"There are {len(tokens)} tokens: scroll the list to see them all.")
        alone = {*before.reader.shape.kinds} == {"decoder"}
        # The model does not write the prompt, so the list of written tokens begins after it.
        first = begins.rows[0] + 2 if alone and begins else 1
        picture = probability_bars(bars, tokens, first=first)
        show(picture, "probabilities", of=of, what=what)


def compare_numbers(
    both: tuple[ModelRun, ModelRun],
    pairs: Sequence[tuple[Question, Question]],
    labels: tuple[str, str],
    *,
    of: About,
) -> None:
    """Draw all scores that a model gives, or the probability of each of its labels, in two runs."""
    runs = 1 if both[0] == both[1] else 2
    is_score = pairs[0][0].kind == "score"
    names = [both[0].reader.label(both[0].trace(), question, 1) for question, _ in pairs]
    values = {}
    for number, label in enumerate(labels[:runs]):
        logits = both[number].trace().logits[0, [pair[number].row for pair in pairs]]  # (N, V)
        numbers = logits[:, 0] if is_score else logits.softmax(dim=-1)[:, 1]
        values[label] = as_array(numbers)
    if is_score:
        what = words_of(pairs[0]) if len(pairs) == 1 else "The scores"
        end = max(float(np.abs(numbers).max()) for numbers in values.values()) or 1.0
        measures = {
            label: dict(zip(names, numbers.tolist(), strict=True))
            for label, numbers in values.items()
        }
        picture = measure_bars(measures, dict.fromkeys(names, end))
    else:
        what = PROBABILITIES.format(each="label")
        picture = probability_bars(values, names)
    st.markdown(f"**{what}**")
    show(picture, "answer-0", of=of, what=what)


def compare_choice(
    both: tuple[ModelRun, ModelRun],
    questions: tuple[Question, Question],
    labels: tuple[str, str],
    *,
    key: str,
    of: About,
) -> None:
    """Draw the likeliest answers in two runs; in one picture if both have the same answers."""
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
