"""Which model a visitor looks at: a shipped one, or one of their own, trained or uploaded."""

from __future__ import annotations

from uuid import uuid4

import streamlit as st

from model.translator import Translator
from pages.shared.state.catalog import DEFAULT, OWN, SHIPPED, CatalogEntry
from pages.shared.state.workshop import workshop

MOST = 4  # models of their own that a visitor may keep; the oldest makes room


def choices() -> dict[str, CatalogEntry]:
    """Return every model this visitor can look at, by its key."""
    return SHIPPED | {key: entry for key, (entry, _) in workshop().models.items()}


def chosen() -> CatalogEntry:
    """Return the model this visitor looks at."""
    return choices().get(st.session_state.get("model", DEFAULT), SHIPPED[DEFAULT])


def own_translator(key: str) -> Translator:
    """Return a visitor's own model; raise KeyError if there is none of this key."""
    return workshop().models[key][1]


def use_model(
    translator: Translator, title: str, examples: tuple[str, ...], source: str, target: str
) -> None:
    """Look at a visitor's own model from now on; call it in a callback, or before the widgets.

    `source` and `target` name the two sides, as English and French do.
    """
    before = chosen()
    entry = CatalogEntry(f"{OWN}{uuid4().hex[:12]}", title, examples, source, target)
    kept = dict(list(workshop().models.items())[-(MOST - 1) :])
    workshop().models = {**kept, entry.key: (entry, translator)}
    st.session_state.model = entry.key
    leave(before)


def leave(before: CatalogEntry) -> None:
    """Drop the target for the model before, and the sentence if that is in another language."""
    st.session_state.target = ""
    if before.source != chosen().source or chosen().is_own:
        st.session_state.sentence = chosen().examples[0]


def note_readable(sentence: str) -> None:
    """Note that the chosen model can read a sentence."""
    st.session_state.readable = chosen().key, sentence


def last_readable() -> str | None:
    """Return the last sentence that the chosen model could read, or None."""
    key, sentence = st.session_state.get("readable", ("", None))
    return sentence if key == chosen().key else None
