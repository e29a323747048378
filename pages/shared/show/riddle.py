"""Riddles: each asks a question about a picture, which is hidden until the visitor has guessed."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from headlight.model.transformer.trace import Kind
from headlight.pages.shared.runs.arrays import heads_of
from headlight.pages.shared.show.captions import site_words
from headlight.pages.shared.show.words import capital
from headlight.pages.shared.state.choices import GUESS, GUESS_ROW, KINDS, LIT, chosen, put
from headlight.pages.shared.state.showing import drawn
from headlight.pages.shared.widgets.choose import choose_token
from headlight.viz import CanvasPicture
from headlight.viz.numbers import number_text

QUESTION = "question-"
NO_GUESS = -1  # stands for a visitor who asked for the answer without a guess
CHOICES = (GUESS, GUESS_ROW)


@dataclass(frozen=True)
class Riddle:
    """A question that is asked about a picture before it is drawn.

    `asks` is the question. `options` are the short texts of the possible guesses, `names` their
    names in a sentence, and `told` the number of each, such as “weight 0.31”. `right` are the
    indices of the right options, and `finds` is the beginning of the answer, such as: “it” looks
    most at. If the options are heads, their texts are empty and they are drawn as tables: `boards`
    has for each kind of attention a label, the number of layers, and the number of heads.
    """

    asks: str
    finds: str
    options: Sequence[str]
    names: Sequence[str]
    told: Sequence[str]
    right: Sequence[int]
    boards: Sequence[tuple[str, int, int]] = ()

    def verdict(self, guess: int) -> str:
        """Return a sentence with the right answer, and with the guess unless it is `NO_GUESS`."""
        best = guess if guess in self.right else self.right[0]
        answer = f"{self.finds} {self.names[best]}, {self.told[best]}."
        if guess == NO_GUESS:
            return capital(answer)
        said = f"You guessed {self.names[guess]}"
        return (
            f"{said}: right, {answer}" if guess == best else f"{said}, {self.told[guess]}: {answer}"
        )

    @property
    def verdicts(self) -> list[str]:
        """First the answer without a guess, then the verdict on each possible guess."""
        return [self.verdict(guess) for guess in (NO_GUESS, *range(len(self.options)))]


Question = tuple[CanvasPicture, Sequence[str]]  # the picture with the question, and the `verdicts`


def question_key(key: str) -> str:
    """Return the key of the question that is asked about the picture with this key."""
    return f"{QUESTION}{key}"


def is_question(key: str) -> bool:
    return key.startswith(QUESTION)


def is_open(key: str) -> bool | None:
    """Return whether the riddle about a picture is still to be guessed; None if there is none."""
    return drawn().get(question_key(key))


def row_asked_about(rows: int, first: int = 0) -> int:
    """Return the index of the row that a riddle is about: the chosen row, by default `first`."""
    row = chosen(GUESS_ROW)
    return first if row is None else min(row, rows - 1)


def choose_row(tokens: Sequence[str], first: int = 0, **more: Any) -> int:
    """Draw the choice of the token that a riddle is about; return the token's index.

    By default it is the token with the index `first`.
    """
    put(GUESS_ROW, row_asked_about(len(tokens), first))
    return choose_token(GUESS_ROW, tokens, **more)


def most_looked_at(
    where: str,
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    blocked: np.ndarray | None = None,
    first: int = 0,
) -> Riddle:
    """Draw the choice of a query; return a riddle that asks which visible key it looks at most.

    `weights` are (Q, K), `where` names the head, and `first` is the index of the default query.
    """
    row = choose_row(queries, first, on_change=partial(put, LIT, ""))
    query = told_apart(queries)[row]
    is_open = np.ones(len(keys), bool) if blocked is None else ~blocked[row]
    visible = np.flatnonzero(is_open).tolist() or list(range(len(keys)))
    names, open_weights = told_apart(keys), weights[row, visible]
    return Riddle(
        f"{where}: which token does {query} look at most?",
        f"{query} looks most at",
        [keys[key] for key in visible],
        [names[key] for key in visible],
        [f"weight {number_text(weight)}" for weight in open_weights],
        places_of_most(open_weights),
    )


def stays_first(
    layers: Sequence[str],
    read: Sequence[str],
    words: Sequence[Sequence[str]],
    probabilities: np.ndarray,
    settled: np.ndarray,
) -> Riddle:
    """Draw the choice of a token; return a riddle: from which layer on is its next word likeliest?

    `words` are the likeliest next words by layer and token, with their `probabilities` (L, T).
    `settled` (T,) has the right answers: the index of the first layer from which on the word that
    the last layer finds likeliest is the likeliest.
    """
    row = choose_row(read)
    after, first = told_apart(read)[row], [line[row] for line in words]
    return Riddle(
        f"After {after} the model writes “{first[-1]}”: from which layer on is that the likeliest?",
        f"after {after}, “{first[-1]}” stays the likeliest from",
        layers,
        layers,
        [
            f"where “{word}” has {number_text(number)}"
            for word, number in zip(first, probabilities[:, row], strict=True)
        ],
        [int(settled[row])],
    )


def which_head(
    asks: str,
    finds: str,
    numbers: Mapping[Kind, np.ndarray],
    told: Callable[[float], str],
    *,
    least: bool = False,
) -> Riddle:
    """Return a riddle that asks which head has the largest number, or if `least` the smallest.

    `numbers` are (layers, heads) by kind of attention; `told` turns a number into words.
    """
    flat = np.concatenate([values.ravel() for values in numbers.values()])
    heads = heads_of(numbers)
    return Riddle(
        asks,
        finds,
        [""] * len(heads),
        [site_words(*head) for head in heads],
        [told(number) for number in flat],
        places_of_most(-flat if least else flat),
        [(KINDS[kind], *values.shape) for kind, values in numbers.items()],
    )


def least_without(effects: Mapping[Kind, np.ndarray], measure: str, unit: str = "nats") -> Riddle:
    """Return a riddle that asks without which head a measure falls most.

    `effects` has the change of the measure without each head: (layers, heads) by kind.
    """
    asks = f"Which head matters most: without which one does {measure} fall most?"
    told = partial(number_text, signed=True)
    finds = "most is lost without"
    return which_head(asks, finds, effects, lambda x: f"{told(x)} {unit}", least=True)


def places_of_most(numbers: np.ndarray) -> list[int]:
    """Return the indices of the largest number, several if they are equal; NaN is smallest."""
    known = np.nan_to_num(numbers, nan=-np.inf, posinf=np.inf, neginf=-np.inf)
    return np.flatnonzero(known == known.max()).tolist()


def told_apart(tokens: Sequence[str], places: Sequence[int] | None = None) -> list[str]:
    """Return tokens in quotation marks; repeated tokens also have their positions, from 1.

    `places` are the positions from 0, by default the indices of the tokens.
    """
    times = Counter(tokens)
    return [
        f"“{token}”" if times[token] == 1 else f"“{token}” (token {place + 1})"
        for place, token in zip(places or range(len(tokens)), tokens, strict=True)
    ]
