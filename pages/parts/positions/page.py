"""Positions: where tokens stand, by sinusoids or learned, and what happens without."""

from __future__ import annotations

from functools import partial

from pages.parts.positions import beyond, learned, one_token, sentence, sinusoids
from pages.shared.controls.sentence import sentence_box
from pages.shared.state.choice import one_of
from pages.shared.state.page import Page
from pages.shared.widgets.choose import tabs

TABS = {
    "sinusoids": "Sinusoids",
    "learned": "Learned",
    "sentence": "Your sentence",
    "token": "One token",
    "beyond": "Beyond training",
}
TAB = one_of("positions_tab", TABS, old={title: key for key, title in TABS.items()})
OF_SENTENCE = {
    "sentence": sentence.sentence_section,
    "token": one_token.token_section,
    "beyond": beyond.beyond_section,
}


def positions() -> None:
    """Draw the page; without a sentence, the sections about one are empty."""
    text = sentence_box()
    of_sentence = {
        key: partial(body, text) if text else lambda: None for key, body in OF_SENTENCE.items()
    }
    without = {"sinusoids": sinusoids.sinusoid_section, "learned": learned.learned_section}
    tabs(TAB, without | of_sentence)


POSITIONS = Page(
    key="positions",
    file="pages/positions.py",
    title="Positions",
    purpose="How a token knows its place, and what happens without",
    body=positions,
    choices=(
        TAB,
        *sinusoids.CHOICES,
        *learned.CHOICES,
        *sentence.CHOICES,
        *one_token.CHOICES,
        *beyond.CHOICES,
    ),
    pictures={
        "trained": "the translation as trained",
        "changed": "the translation with other positions",
        "shuffled": "the words shuffled",
        "clocks": "positions as clocks",
    },
    first="trained",
)
