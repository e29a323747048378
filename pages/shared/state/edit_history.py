"""A visitor's edits of each model, kept for the session, with undo.

Without a name they are those of the chosen model; a BERT's are kept under a name of their own.
"""

from __future__ import annotations

import streamlit as st

from model.edits import Edits
from pages.shared.state import models

BERT = "bert_history"  # the name of what a visitor changed in a BERT
LONGEST = 100  # changes that can be undone


def edits(name: str | None = None) -> Edits:
    """Return what the visitor has changed so far."""
    return _history(name)[-1]


def change(edits: Edits, name: str | None = None) -> None:
    """Put new edits in force; undo brings the previous ones back."""
    history = _history(name)
    if edits != history[-1]:
        history.append(edits)
        del history[:-LONGEST]


def undo(name: str | None = None) -> None:
    """Bring the previous edits back."""
    if can_undo(name):
        _history(name).pop()


def can_undo(name: str | None = None) -> bool:
    """Return whether there is a change to undo."""
    return len(_history(name)) > 1


def forget(name: str) -> None:
    """Drop every edit of a model."""
    _history(name)[:] = [Edits()]


def _history(name: str | None) -> list[Edits]:
    """Return all edits since the first change, which are none; the last ones are in force."""
    histories = st.session_state.setdefault("histories", {})
    return histories.setdefault(name or models.chosen().key, [Edits()])
