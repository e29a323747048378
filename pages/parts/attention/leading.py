"""Sentences about the token in focus: what it looks at, why it is in focus, and its best head."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import streamlit as st

from headlight.model.edits import Edits
from headlight.model.insight.linking import LEAST, Linked, Word, on_words, words_of
from headlight.model.library.pieces import Piece
from headlight.pages.parts.attention.view import View
from headlight.pages.shared.show.riddle import told_apart
from headlight.pages.shared.state.wings import WINGS, first_known
from headlight.pages.shared.widgets.choose import offer_head
from headlight.viz.arrays import as_floats
from headlight.viz.numbers import number_text

APART = 2  # smallest distance in tokens: many heads look at neighbours, whatever the words
GOOD = 2  # a head with this many times the hits of chance counts as good at pronouns
NOTHING = "No word stands out"
LEADS_AS = {
    "pronoun": "Why this token: this pronoun looks most at a content word, not at “the” or “is”.",
    "content word": "Why this token: there is no pronoun, and of all content words this one "
    "looks most at another content word.",
}
NONE_LEADS = "No {word} here gives its largest weight, of {least} or more, to a content word."
FIGURE = "It links a pronoun to its noun in {hits} of {sentences} sentences; chance: {chance:.0f}."

Token = tuple[str, int]  # "query" or "key", and the token's index among the drawn queries or keys


class Link(NamedTuple):
    """The largest weight between a token and a word, with its layer and head (from 0)."""

    layer: int
    head: int
    token: Token
    word: Word
    weight: float


def said_of(
    token: Token,
    weights: np.ndarray,
    labels: tuple[Sequence[str], Sequence[str]],
    lines: tuple[Sequence[Piece], Sequence[Piece]],
) -> str:
    """Return a sentence: which word a query looks at most, or how much attention a key gets."""
    side, index = token
    if side == "key":
        share = number_text(weights[:, index].mean())
        return f"{name_of(index, labels[1], lines[1])} gets {share} of the attention, on average."
    key = largest_word(weights[index], lines[1])
    share = number_text(weights[index, list(key.pieces)].sum())
    words = words_of(lines[1])
    names = told_apart([word.text for word in words], [word.pieces[0] for word in words])
    pieces = f", its {len(key.pieces)} pieces together" if len(key.pieces) > 1 else ""
    looks = f"gives {share} of its attention to {names[words.index(key)]}{pieces}"
    return f"{name_of(index, labels[0], lines[0])} {looks}."


def largest_word(weights: np.ndarray, line: Sequence[Piece]) -> Word:
    """Return the word (or special token) with the largest sum of weights (K,) over its pieces."""
    words = words_of(line)
    return words[on_words(weights, words).argmax()]


def name_of(index: int, labels: Sequence[str], line: Sequence[Piece]) -> str:
    """Return a token's label; for a piece of a word it names the word too: “ing” of “going”."""
    word = word_of(index, line)
    is_piece = len(word.pieces) > 1 and labels[index] == line[index].text
    return told_apart(labels)[index] + (f" of “{word.text}”" if is_piece else "")


def word_of(index: int, line: Sequence[Piece]) -> Word:
    return next(word for word in words_of(line) if index in word.pieces)


def linked_to(view: View, side: str) -> tuple[Sequence[Piece], bool]:
    """Return the keys for the side "query", else the queries; and if they are surely English."""
    if side == "query":
        return view.lines[1], view.keys_are_english
    return view.lines[0], view.is_english


def clearest_link(view: View, token: Token, heads: np.ndarray | None = None) -> Link | None:
    """Return the largest weight that a query gives to a word, or a key gets from one, in any head.

    `heads` (layers, heads) is true for the heads to search; by default all are. If the words are
    known to be English, only content words are searched. In self-attention, the token's own word
    and its neighbours are left out. Return None if no word is left.
    """
    side, index = token
    line, is_english = linked_to(view, side)
    words = [
        word
        for word in words_of(line)
        if (word.is_content if is_english else word.is_written)
        and (view.kind == "cross" or min(abs(at - index) for at in word.pieces) >= APART)
    ]
    if not words:
        return None
    if side == "query":
        rows = np.stack([as_floats(layer[:, index]) for layer in view.layers])  # (L, H, K)
        weights = on_words(rows, words)  # (L, H, W)
    else:
        columns = np.stack([as_floats(layer[..., index]) for layer in view.layers])  # (L, H, Q)
        of_each = [columns[..., list(word.pieces)].max(axis=-1) for word in words]
        weights = np.stack(of_each, axis=-1)  # (L, H, W)
    if heads is not None:
        weights = np.where(heads[..., None], weights, -1)
    layer, head, word = np.unravel_index(weights.argmax(), weights.shape)
    return Link(int(layer), int(head), token, words[word], float(weights[layer, head, word]))


@dataclass(frozen=True)
class Reasons:
    """The reasons why the token `lit` is in focus, and the head that links it best.

    `is_lead` is true if the app chose the token. `shown` is the layer and head that are shown, or
    None for a mean or maximum over several.
    """

    view: View
    lit: Token
    is_lead: bool
    shown: tuple[int, int] | None

    @cached_property
    def pronouns(self) -> list[int]:
        words = words_of(self.view.lines[0]) if self.view.is_english else []
        return [word.pieces[0] for word in words if word.is_pronoun]

    @property
    def token(self) -> Token | None:
        """The token whose best head is offered: the one in focus, else the first pronoun."""
        if self.lit[0] == "query" or not self.is_lead:
            return self.lit
        return ("query", self.pronouns[0]) if self.pronouns else None

    @cached_property
    def linked(self) -> Linked | None:
        """How often each head links pronouns; None for other tokens and for a changed model."""
        pronouns = [("query", each) for each in self.pronouns]
        is_known = self.token in pronouns and self.view.run.edits == Edits()
        model = self.view.run.model
        return first_known(wing.linked(model) for wing in WINGS) if is_known else None

    @property
    def figure(self) -> str:
        if not (self.linked and self.shown):
            return ""
        hits, count, chance = self.linked.hits[self.shown], *self.linked[::2]
        return FIGURE.format(hits=hits, sentences=count, chance=chance)

    @property
    def why(self) -> str:
        """Why this token is in focus, or why none is; empty if the visitor pinned the token."""
        kind = "pronoun" if self.pronouns else "content word"
        none_leads = NONE_LEADS.format(word=kind, least=LEAST)
        said = LEADS_AS[kind] if self.lit[0] == "query" else none_leads
        return said if self.is_lead else ""

    def draw(self, see: Callable[[Link], None]) -> None:
        """Draw why the token is in focus, and the head that links it best.

        The callback `see` chooses the head.
        """
        if self.why:
            st.caption(self.why)
        if self.token is None:
            return
        good = self.linked.hits >= GOOD * self.linked.chance if self.linked else None
        link = clearest_link(self.view, self.token, good)
        if link is None:
            return
        is_shown = self.shown == link[:2]
        side, arrow = (0, "→") if self.token[0] == "query" else (1, "←")
        name = name_of(self.token[1], self.view.tokens[side], self.view.lines[side])
        among = "all heads" if good is None else f"the {good.sum()} heads best at pronouns"
        head = "this head" if is_shown else f"layer {link.layer + 1}, head {link.head + 1}"
        where = f"{head} {arrow} “{link.word.text}” ({number_text(link.weight, 2)})"
        what = "content word" if linked_to(self.view, self.token[0])[1] else "word"
        aside = "" if self.view.kind == "cross" else ", neighbours left out"
        words = f"Clearest {what} for {name}{aside}, of {among}: {where}"
        offer_head(words, None if is_shown else partial(see, link))
