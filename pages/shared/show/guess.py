"""Guess first: a picture is neither drawn nor sent before somebody has guessed what it shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
import streamlit as st

from model.trace import Kind
from pages.browser import parts
from pages.browser.library import mounted
from pages.shared.show.captions import site_words
from pages.shared.show.pictures import component
from pages.shared.show.saving import About
from pages.shared.show.stage import (
    SAID,
    is_question_kept,
    is_staged,
    note_question,
    place,
    question_key,
)
from pages.shared.state.choices import GUESS, GUESS_ROW, KINDS, QUERY, chosen, put
from pages.shared.state.page import shown
from pages.shared.state.slide import slide
from pages.shared.widgets.choose import choose, choose_token
from viz import CanvasPicture
from viz.numbers import number_text

HIDDEN = "Hidden as long as **Guess first** is on: it would give the answers away."
NO_GUESS = -1  # what the browser sends for being told the answer


@dataclass(frozen=True)
class Riddle:
    """What is asked of a picture before it is drawn.

    `options` are the short texts of what can be guessed, `names` tell them apart in words, and
    `told` are their numbers in words. What the `right` ones are, by place, `finds` says up to the
    name, as in: “it” looks most at. Options that are heads have no texts: they stand in `boards`, a
    label, layers and heads each.
    """

    asks: str
    finds: str
    options: Sequence[str]
    names: Sequence[str]
    told: Sequence[str]
    right: Sequence[int]
    boards: Sequence[tuple[str, int, int]] = ()

    def verdict(self, guess: int) -> str:
        """Return in words what was guessed, by place or `NO_GUESS`, beside the answer."""
        best = guess if guess in self.right else self.right[0]
        answer = f"{self.finds} {self.names[best]}, {self.told[best]}."
        if guess == NO_GUESS:
            return answer[0].upper() + answer[1:]
        said = f"You guessed {self.names[guess]}"
        return (
            f"{said}: right, {answer}" if guess == best else f"{said}, {self.told[guess]}: {answer}"
        )

    @property
    def verdicts(self) -> list[str]:
        """What is said of no guess, and then of each one."""
        return [self.verdict(guess) for guess in (NO_GUESS, *range(len(self.options)))]


def choose_guess() -> None:
    """Draw the switch; the first row that is asked about is the query that was chosen last.

    A slide may draw several parts of a page that have it, and needs none.
    """
    if slide() is None:
        choose(GUESS, on_change=lambda: put(GUESS_ROW, chosen(QUERY)))


def may_show(key: str, ask: Callable[[], Riddle], *, of: About, what: str) -> bool:
    """Return whether the picture with this key may be drawn, and all else that tells what it shows.

    With the switch on it may not until what `ask` returns is answered: that is drawn in the
    picture's place, and later the answer above it. The guess is the state of what asks for it, and
    is forgotten as soon as that is not drawn any more. For `of` and `what` see `show`.
    """
    if not chosen(GUESS):
        return True
    riddle = ask()
    if is_question_kept(key, lambda: (open_part(riddle), riddle.verdicts)):
        return True
    asked = shown().key, slide(), of, what, riddle
    name = f"{question_key(key)}-{sha256(repr(asked).encode()).hexdigest()[:12]}"
    guess = st.session_state.get(name, {}).get("guess")
    answered = type(guess) is int and NO_GUESS <= guess < len(riddle.options)
    note_question(key, not answered)
    if answered:
        part = parts.guess(riddle.asks, said=riddle.verdict(guess))
        where = place(SAID) if is_staged(key) else nullcontext()
    else:
        part = open_part(riddle)
        where = place(key, (of, what))
    with where, st.container(key=question_key(key)):
        component(part.part)(data=mounted(part), key=name, on_guess_change=lambda: None)
    return answered


def open_part(riddle: Riddle) -> CanvasPicture:
    """Return what asks a riddle that nobody has answered."""
    options = list(zip(riddle.options, riddle.names, strict=True))
    return parts.guess(riddle.asks, options, riddle.boards)


def most_looked_at(
    where: str,
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    blocked: np.ndarray | None = None,
) -> Riddle:
    """Draw the choice of a row of weights (Q, K); ask which key it looks at most, of those open.

    `where` names the head.
    """
    row = choose_token(GUESS_ROW, queries)
    query = told_apart(queries)[row]
    is_open = np.ones(len(keys), bool) if blocked is None else ~blocked[row]
    places = np.flatnonzero(is_open) if is_open.any() else np.arange(len(keys))
    names, found = told_apart(keys), weights[row, places]
    return Riddle(
        f"{where}: which token does {query} look at most?",
        f"{query} looks most at",
        [keys[place] for place in places],
        [names[place] for place in places],
        [f"weight {number_text(weight)}" for weight in found],
        places_of_most(found),
    )


def which_head(
    asks: str,
    finds: str,
    numbers: Mapping[Kind, np.ndarray],
    told: Callable[[float], str],
    *,
    least: bool = False,
) -> Riddle:
    """Ask which head has the largest of some numbers, (layers, heads) by kind, or the least.

    `told` returns a number in words.
    """
    found = np.concatenate([values.ravel() for values in numbers.values()])
    heads = [(kind, *at) for kind, values in numbers.items() for at in np.ndindex(values.shape)]
    return Riddle(
        asks,
        finds,
        [""] * len(heads),
        [site_words(*head) for head in heads],
        [told(number) for number in found],
        places_of_most(-found if least else found),
        [(KINDS[kind], *values.shape) for kind, values in numbers.items()],
    )


def places_of_most(numbers: np.ndarray) -> list[int]:
    """Return the places of the largest number; what is NaN counts as none, unless all is."""
    known = np.nan_to_num(numbers, nan=-np.inf, posinf=np.inf, neginf=-np.inf)
    return np.flatnonzero(known == known.max()).tolist()


def told_apart(tokens: Sequence[str]) -> list[str]:
    """Return tokens in quotation marks, those that occur several times with their places."""
    times = Counter(tokens)
    return [
        f"“{token}”" if times[token] == 1 else f"“{token}” (token {place})"
        for place, token in enumerate(tokens, start=1)
    ]
