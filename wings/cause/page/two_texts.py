"""Two texts that differ in a word, the written token and the two answers to compare."""

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import islice, pairwise
from typing import NamedTuple

import streamlit as st

from headlight.model.reader import Reader
from headlight.model.shape import Shape
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.words import capital
from headlight.pages.shared.state.choice import Choice, text
from headlight.pages.shared.state.choices import LONGEST_SENTENCE, MOST_TOKENS, put
from headlight.pages.shared.widgets.choose import choose, pick_one
from headlight.wings.cause.calls import TwoTexts, two_texts
from headlight.wings.cause.page.pair import LONGEST_WORD, choose_word
from headlight.wings.cause.patching import AnswerPair

WORD = re.compile(r"[^\W\d_]+")
LETTER = re.compile(r"[^\W_]")
MOST = 8  # changed texts that are offered
MOST_TRIED = 40  # the most replacements of words that are tried
# Words that can replace each other in most sentences, the most interesting ones first; each word is
# replaced by the next on its line.
ALIKE = (
    "cat dog horse",
    "tired wide",
    "hungry fresh",
    "red blue green",
    "black white",
    "brother sister",
    "father mother",
    "son daughter",
    "man woman",
    "boy girl",
    "king queen",
    "old young",
    "big small",
    "hot cold",
    "good bad",
    "two three four",
    "five six",
    "seven eight",
    "nine ten",
    "today tomorrow",
    "yesterday today",
    "summer winter",
    "house garden",
    "car boat",
    "cars boats",
    "bread meat",
    "France Italy",
    "Paris London",
    "John Mary",
    "he she",
    "his her",
    "my your",
    "love hate",
    "was is",
)


def next_words() -> dict[str, str]:
    """Return the replacement of each word, in the order in which replacements are offered."""
    replacements: dict[str, str] = {}
    for line in ALIKE:
        words = line.lower().split()
        for word, other in zip(words, line.split()[1:] + line.split()[:1], strict=True):
            replacements.setdefault(word, other)
    return replacements


NEXT = next_words()
PLACE = {word: place for place, word in enumerate(NEXT)}


def for_one_alike(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each replacement of a word by a similar one.

    A name is like cat → dog, without the punctuation next to the word.
    """
    known = [word for word in WORD.finditer(text) if word[0].lower() in NEXT]
    for word in sorted(known, key=lambda word: PLACE[word[0].lower()]):
        yield in_place(text, word, NEXT[word[0].lower()])


def for_its_neighbour(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each replacement of a word by the word before it, from the end."""
    for other, word in reversed(list(pairwise(WORD.finditer(text)))):
        yield in_place(text, word, other[0])


def for_the_letter_before(text: str) -> Iterator[tuple[str, str]]:
    """Yield for letters and digits what `for_its_neighbour` yields for words."""
    for other, letter in reversed(list(pairwise(LETTER.finditer(text)))):
        yield in_place(text, letter, other[0])


def in_place(text: str, word: re.Match[str], other: str) -> tuple[str, str]:
    """Return the name of a replacement, and the text with `word` replaced by `other`."""
    other = capital(other) if word[0][0].isupper() else other
    return f"{word[0]} → {other}", text[: word.start()] + other + text[word.end() :]


def texts_beside(reader: Reader, text: str) -> dict[str, str]:
    """Return copies of a text with one word replaced, by the name of the replacement.

    The copies have as many tokens as the text, as far as is known before the model has read them.
    If no word has a similar one, words are replaced by their neighbours; if every token is one
    character, letters are replaced.
    """
    with suppress(ValueError):  # the model may have no tokens for a text
        tokens = reader.begin(text)
        length = len(tokens)
        in_letters = all(token.is_special or len(token.text) == 1 for token in tokens)
        ways = [for_the_letter_before] if in_letters else [for_one_alike, for_its_neighbour]
        for way_of in ways:
            tried = islice(way_of(text), MOST_TRIED)
            fit = (way for way in tried if way[1] != text and len(reader.begin(way[1])) == length)
            if texts := dict(islice(fit, MOST)):
                return texts
    return {}


FIRST = "first"
SAME = "“{word}” is the answer to the clean text: type another."
OWN = "the model’s own"
GIVES_WAY = "The model's own token is used in place of the answer that was asked for:"


def read_step(written: str, shape: Shape) -> int | str:
    """Read from a link the written token at which answers are compared: from 1, or "first"."""
    if written == FIRST:
        return FIRST
    if not (written.isascii() and written.isdecimal() and 1 <= int(written) <= MOST_TOKENS):
        raise ValueError(f"{written} is neither {FIRST}, nor from 1 to {MOST_TOKENS}.")
    return int(written) - 1


def write_step(step: int | str) -> str:
    """Return the written token at which answers are compared, as written in links."""
    return step if isinstance(step, str) else str(step + 1)


CHANGED = text("patch_text", "", LONGEST_SENTENCE, label="Changed text")
STEP = Choice("patch_word", FIRST, read_step, write_step, label="Written word")
CLEAN_ANSWER = text("patch_clean", "", LONGEST_WORD, label="Answer to the clean text")
CHANGED_ANSWER = text("patch_changed", "", LONGEST_WORD, label="Answer to the changed text")
CHOICES = (CHANGED, STEP, CLEAN_ANSWER, CHANGED_ANSWER)


class Compared(NamedTuple):
    """A changed text, both texts as read, and the two answers as ids and as words."""

    changed: str
    texts: TwoTexts
    answers: AnswerPair
    words: tuple[str, str]


def choose_compared(run: ModelRun) -> Compared | None:
    """Draw the choice of a text and two answers; None, with a message, if the text is refused."""
    changed = choose_changed(run)
    if not changed:
        st.info("Type a changed text, which differs from this one in a word.")
        return None
    try:
        texts = two_texts(run, changed)
    except ValueError as error:
        st.text(str(error))
        return None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        index = choose_step(texts)
        row = texts.written.rows[index]
        first, second = (best[index] for best in texts.likeliest)
        own = texts.written.ids[index]
        answer = partial(choose_word, run.reader, row=row, instead=GIVES_WAY, width=260)
        best, default = [own, *first], OWN if run == run.as_trained else "as trained"
        clean = answer(texts.clean, CLEAN_ANSWER, best=best, default=default, refused={})
        rest, refused = [token for token in second if token != clean[0]], {clean[0]: SAME}
        other = answer(texts.changed, CHANGED_ANSWER, best=rest, default=OWN, refused=refused)
    return Compared(changed, texts, AnswerPair(row, clean[0], other[0]), (clean[1], other[1]))


def choose_changed(run: ModelRun) -> str:
    """Draw the choice of the changed text and return it; empty if there is none."""
    offered = texts_beside(run.reader, run.sentence)
    default = next(iter(offered.values()), "")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        typed = choose(CHANGED, placeholder=default)
        if offered:
            pick_one(
                "Exchange a word", offered, "exchange", lambda name: put(CHANGED, offered[name])
            )
    return typed if typed.strip() else default


def choose_step(texts: TwoTexts) -> int:
    """Draw the choice of the written token at which answers are compared; return its index."""
    names = [f"{step + 1}: {word}" for step, word in enumerate(texts.written.texts)]
    step = choose(
        STEP,
        [FIRST, *range(len(names))],
        widget=st.selectbox,
        format_func=lambda step: (
            f"first to differ, {names[texts.first_apart]}" if step == FIRST else names[step]
        ),
        width=240,
    )
    return texts.first_apart if step == FIRST else step
