"""Choose two words to compare: one that the model wrote, and one that it could have written."""

from collections.abc import Mapping
from typing import NamedTuple

import streamlit as st

from headlight.model.questions import Question
from headlight.model.reader import Reader
from headlight.model.trace import Trace
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.state.choice import Choice, counted, text
from headlight.pages.shared.state.choices import MOST_TOKENS, chosen, put
from headlight.pages.shared.widgets.choose import choose

LIKELIEST = 12  # tokens offered as the other word
LONGEST_WORD = 60  # characters of a typed word
MOST_PIECES = 8  # the most pieces of a word that a message names
WRITTEN = counted("wrote_word", 0, MOST_TOKENS, label="Written word")
AGAINST = text("wrote_against", "", LONGEST_WORD, label="Against (or type another)")


class Step(NamedTuple):
    """A token that the decoder wrote, or predicts next, and the row that predicts it."""

    row: int
    token: int
    text: str
    label: str


class Contrast(NamedTuple):
    """A written token, and another token that it is compared with."""

    step: Step
    other: int
    text: str

    @property
    def ends(self) -> tuple[str, str]:
        """What the ends of the scale mean: above 0 for the written token, below 0 for the other."""
        return f"for “{self.step.text}”", f"for “{self.text}”"


def steps_of(run: ModelRun) -> list[Step]:
    """Return each token that the decoder writes as trained, with the row that predicts it.

    For a decoder-only model the likeliest next token comes first, then the tokens of its text.
    """
    reader, trace = run.reader, run.tokens()
    objective, steps, first = run.objective(), [], 1
    if "cross" not in reader.shape.kinds:
        first = 2  # no row predicts the first token of a decoder-only model
        (question,) = reader.questions(trace)
        token = int(trace.logits[0, question.row].argmax())
        words = reader.label(trace, question, token)
        steps.append(Step(question.row, token, words, f"next: {words}"))
    if objective is not None:
        for row, token in zip(objective.rows, objective.ids, strict=True):
            words = reader.label(trace, Question("", row), token)
            steps.append(Step(row, token, words, f"{row + first}: {words}"))
    return steps


def choose_pair(run: ModelRun) -> Contrast:
    """Draw the choice of a written word and of the word that it is compared with."""
    steps = steps_of(run)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        index = choose(
            WRITTEN,
            range(len(steps)),
            widget=st.selectbox,
            format_func=lambda index: steps[index].label,
            width=240,
        )
        step = steps[index]
        logits = run.trace().logits[0, step.row]
        likeliest = logits.topk(min(LIKELIEST, len(logits))).indices.tolist()
        best = [token for token in likeliest if token != step.token]
        other, name = choose_word(
            run.reader,
            run.trace(),
            AGAINST,
            step.row,
            best,
            default="the runner-up",
            refused={step.token: "“{word}” is the written word itself: type another."},
            instead="The runner-up is used in place of the word that was asked for:",
            width=280,
        )
    return Contrast(step, other, name)


def choose_word(
    reader: Reader,
    trace: Trace,
    choice: Choice,
    row: int,
    best: list[int],
    *,
    default: str,
    refused: Mapping[int, str],
    instead: str,
    width: int,
) -> tuple[int, str]:
    """Draw the choice of a token that `row` could predict, by default the first of the `best`.

    Return the token with its name. A typed word must be one token, and not one that is `refused`;
    otherwise a message says that the default is used `instead`.
    """
    names = {token: reader.label(trace, Question("", row), token) for token in best}
    likely = {name: token for token, name in reversed(names.items())}
    own = names[best[0]]
    if len(typed := chosen(choice)) > LONGEST_WORD:
        put(choice, typed := typed[:LONGEST_WORD])
    word = choose(
        choice,
        dict.fromkeys(["", *(name for name in reversed(likely) if name != own), typed]),
        widget=st.selectbox,
        format_func=lambda word: word or f"{default}: {own}",
        accept_new_options=True,
        width=width,
    )
    if word in likely:
        return likely[word], word
    if word := word.strip():
        try:
            return token_of(reader, word, refused), word
        except ValueError as error:
            st.info(instead)
            st.text(str(error))
    return best[0], own


def token_of(reader: Reader, word: str, refused: Mapping[int, str]) -> int:
    """Return the id of a word's token, with or without a space before it.

    Raises ValueError if the word is not a single token, or if `refused` has a message for it.
    """
    texts = [word] if "cross" in reader.shape.kinds else [f" {word}", word]
    tried = [reader.begin(text) for text in texts]
    token = next((tokens[0].id for tokens in tried if len(tokens) == 1), None)
    if token is None:
        pieces = " ".join(token.text for token in tried[-1][:MOST_PIECES])
        more = " …" if len(tried[-1]) > MOST_PIECES else ""
        raise ValueError(
            f"“{word}” is {len(tried[-1])} tokens here ({pieces}{more}): type a word that is one."
        )
    if token in refused:
        raise ValueError(refused[token].format(word=word))
    return token
