"""Which model a visitor looks at: a shipped one, or one of their own, trained or uploaded."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

import streamlit as st

from model.translator import Translator
from pages.shared.state.workshop import workshop

MOST = 4  # models of their own that a visitor may keep; the oldest makes room
OWN = "own-"  # what the keys of these begin with
# What belongs to a run of the model before, and means nothing to another.
OF_A_RUN = (
    "asked", "branches_of", "explained", "measured", "node_of", "readable",
)  # fmt: skip


@dataclass(frozen=True)
class Choice:
    """A model with the words for it on screen: its title, its two sides, and what to type."""

    key: str  # a shipped name, or one that no other model of any visitor has
    title: str
    examples: tuple[str, ...]
    source: str = "English"
    target: str = "French"

    @property
    def asks_for(self) -> str:
        """What it is given to read; "an" goes before it."""
        return "input" if self.is_own else f"{self.source} sentence"

    @property
    def is_own(self) -> bool:
        """Whether it is a visitor's own, which no other visitor has."""
        return self.key.startswith(OWN)


EXAMPLES = (
    "The animal didn't cross the street because it was too tired.",
    "I love my cat.",
    "How do you feel today?",
    "The red car is faster than the blue car.",
    "Who is that?",
)
SHIPPED = {
    choice.key: choice
    for choice in (
        Choice("en-fr", "English to French", EXAMPLES),
        Choice("en-fr-learned", "English to French, small, learned positions", EXAMPLES),
    )
}
DEFAULT = next(iter(SHIPPED))


def choices() -> dict[str, Choice]:
    """Every model this visitor can look at, by its key."""
    return SHIPPED | {key: choice for key, (choice, _) in workshop().models.items()}


def chosen() -> Choice:
    """The model this visitor looks at."""
    return choices().get(st.session_state.get("model", DEFAULT), SHIPPED[DEFAULT])


def own_translator(key: str) -> Translator:
    """A visitor's own model; raises KeyError where there is none of this key."""
    return workshop().models[key][1]


def use_model(
    translator: Translator, title: str, examples: tuple[str, ...], source: str, target: str
) -> None:
    """Look at a visitor's own model from now on; call it in a callback, or before the widgets.

    `source` and `target` name the two sides, as English and French do.
    """
    before = chosen()
    choice = Choice(f"{OWN}{uuid4().hex[:12]}", title, examples, source, target)
    kept = dict(list(workshop().models.items())[-(MOST - 1) :])
    workshop().models = {**kept, choice.key: (choice, translator)}
    st.session_state.model = choice.key
    leave(before)


def forget_runs() -> None:
    """Drop what belongs to runs of another model."""
    for key in OF_A_RUN:
        st.session_state.pop(key, None)


def leave(before: Choice) -> None:
    """Drop what belongs to the model before, its sentence too if that is in another language."""
    forget_runs()
    st.session_state.target = ""
    if before.source != chosen().source or chosen().is_own:
        st.session_state.sentence = chosen().examples[0]
