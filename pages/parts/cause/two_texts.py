"""Two texts that are compared, the written token at which they are, and an answer for each."""

from functools import partial
from typing import NamedTuple

import streamlit as st

from model.insight.patching import Answers
from model.reader import Question, Reader
from model.trace import Shape, Trace
from pages.parts.cause.exchange import texts_beside
from pages.parts.cause.pair import LONGEST_WORD, Step, other_token
from pages.shared.runs.patching import TwoTexts, two_texts
from pages.shared.runs.run import ModelRun
from pages.shared.state.choice import Choice, text
from pages.shared.state.choices import LONGEST_SENTENCE, MOST_TOKENS, chosen, put
from pages.shared.widgets.choose import choose, pick_one

FIRST = "first"
NOTHING_OFFERED = "Type a changed text, which differs from this one in a word."
NO_TOKEN = -1
SAME = "“{word}” is the answer to the clean text: type another."
GIVES_WAY = "The token of the model itself stands in place of the answer that was asked for:"


def read_step(written: str, shape: Shape) -> int | str:
    """Read the written token at which answers are compared: from 1 in links, or "first"."""
    if written == FIRST:
        return FIRST
    if not (written.isascii() and written.isdecimal() and 1 <= int(written) <= MOST_TOKENS):
        raise ValueError(f"{written} is neither {FIRST}, nor from 1 to {MOST_TOKENS}.")
    return int(written) - 1


def write_step(place: int | str) -> str:
    """Write the written token at which answers are compared, in the form that links hold."""
    return FIRST if place == FIRST else str(place + 1)


CHANGED = text("patch_text", "", LONGEST_SENTENCE, label="Changed text")
STEP = Choice("patch_word", FIRST, read_step, write_step, label="Written word")
CLEAN_ANSWER = text("patch_clean", "", LONGEST_WORD, label="Answer to the clean text")
CHANGED_ANSWER = text("patch_changed", "", LONGEST_WORD, label="Answer to the changed text")
CHOICES = (CHANGED, STEP, CLEAN_ANSWER, CHANGED_ANSWER)


class Compared(NamedTuple):
    """Two texts, their answers, and the names of both."""

    changed: str
    texts: TwoTexts
    answers: Answers
    words: tuple[str, str]


def choose_compared(run: ModelRun) -> Compared | None:
    """Draw the choice of a changed text and of two answers; None, with a message, if one fails."""
    changed = choose_changed(run)
    if not changed:
        st.info(NOTHING_OFFERED)
        return None
    try:
        texts = two_texts(run, changed)
    except ValueError as error:
        st.text(str(error))
        return None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        place = choose_step(texts)
        row = texts.written.rows[place]
        first, second = (best[place] for best in texts.likeliest)
        own = texts.written.ids[place]
        clean = choose_answer(run.reader, texts.clean, CLEAN_ANSWER, row, [own, *first])
        rest = [token for token in second if token != clean[0]]
        other = choose_answer(run.reader, texts.changed, CHANGED_ANSWER, row, rest, clean[0])
    return Compared(changed, texts, Answers(row, clean[0], other[0]), (clean[1], other[1]))


def choose_changed(run: ModelRun) -> str:
    """Draw the choice of the changed text and return it; empty if there is none."""
    offered = texts_beside(run.reader, run.sentence)
    default = next(iter(offered.values()), "")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        typed = choose(CHANGED, placeholder=default)
        if offered:
            pick_one("Exchange a word", offered, "exchange", partial(exchange, offered))
    return typed if typed.strip() else default


def exchange(offered: dict[str, str], name: str) -> None:
    """Use an offered text as the changed one; a callback."""
    put(CHANGED, offered[name])


def choose_step(texts: TwoTexts) -> int:
    """Draw the choice of the written token at which answers are compared; return its index."""
    names = [f"{place + 1}: {word}" for place, word in enumerate(texts.written.texts)]
    place = choose(
        STEP,
        [FIRST, *range(len(names))],
        widget=st.selectbox,
        format_func=lambda place: (
            f"the first apart: {names[texts.first_apart]}" if place == FIRST else names[place]
        ),
        width=240,
    )
    return texts.first_apart if place == FIRST else place


def choose_answer(
    reader: Reader,
    trace: Trace,
    choice: Choice,
    row: int,
    best: list[int],
    not_this: int | None = None,
) -> tuple[int, str]:
    """Draw the choice of an answer after a row, by default the first of the `best` tokens.

    Return the token, which is not `not_this`, and its name.
    """
    question = Question("", row)
    likely = {reader.label(trace, question, token): token for token in reversed(best)}
    own = reader.label(trace, question, best[0])
    if len(typed := chosen(choice)) > LONGEST_WORD:
        put(choice, typed := typed[:LONGEST_WORD])
    asked = choose(
        choice,
        dict.fromkeys(["", *reversed(likely), typed]),
        widget=st.selectbox,
        format_func=lambda word: word or f"the model’s own: {own}",
        accept_new_options=True,
        width=260,
    )
    if asked in likely:
        return likely[asked], asked
    if asked.strip():
        try:
            token = other_token(reader, asked.strip(), Step(row, NO_TOKEN, "", ""))
            if token == not_this:
                raise ValueError(SAME.format(word=asked.strip()))
            return token, asked.strip()
        except ValueError as error:
            st.info(GIVES_WAY)
            st.text(str(error))
    return best[0], own
