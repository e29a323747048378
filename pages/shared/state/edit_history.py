"""A visitor's edits of each model, kept for the session, with undo.

Without a name they are those of the chosen model; a BERT's are kept under another name.
"""

from __future__ import annotations

import streamlit as st

from model.edits import Edits
from pages.shared.state import models

BERT = "bert_history"  # the name of what a visitor changed in a BERT
LONGEST = 100  # changes that can be undone


def edits(name: str | None = None) -> Edits:
    """What the visitor has changed so far."""
    return _history(name)[-1]


def change(edits: Edits, name: str | None = None) -> None:
    """Put new edits in force; the old ones can be brought back."""
    if edits != _history(name)[-1]:
        _keep([*_history(name), edits][-LONGEST:], name)


def undo(name: str | None = None) -> None:
    """Bring back the edits before the last change."""
    if can_undo(name):
        _keep(_history(name)[:-1], name)


def can_undo(name: str | None = None) -> bool:
    """Whether there was a change before."""
    return len(_history(name)) > 1


def forget(name: str) -> None:
    """Drop every edit of a model."""
    _keep([Edits()], name)


def _history(name: str | None) -> list[Edits]:
    return st.session_state.get("histories", {}).get(name or models.chosen().key, [Edits()])


def _keep(history: list[Edits], name: str | None) -> None:
    histories = st.session_state.get("histories", {})
    st.session_state.histories = {**histories, name or models.chosen().key: history}
