"""A visitor's edits, kept for the session, with undo."""

from __future__ import annotations

import streamlit as st

from model.edits import Edits

LONGEST = 100  # changes that can be undone
SHIPPED = "history"  # of the model that translates; a BERT's is kept under another name


def edits(name: str = SHIPPED) -> Edits:
    """What the visitor has changed so far."""
    return _history(name)[-1]


def change(edits: Edits, name: str = SHIPPED) -> None:
    """Put new edits in force; the old ones can be brought back."""
    if edits != _history(name)[-1]:
        st.session_state[name] = [*_history(name), edits][-LONGEST:]


def undo(name: str = SHIPPED) -> None:
    """Bring back the edits before the last change."""
    if can_undo(name):
        st.session_state[name] = _history(name)[:-1]


def can_undo(name: str = SHIPPED) -> bool:
    """Whether there was a change before."""
    return len(_history(name)) > 1


def _history(name: str) -> list[Edits]:
    return st.session_state.setdefault(name, [Edits()])
