"""A visitor's edits of each model, kept for the session, with undo."""

from __future__ import annotations

import streamlit as st

from model.edits import Edits
from pages.shared import models

LONGEST = 100  # changes that can be undone


def edits() -> Edits:
    """What the visitor has changed so far in the chosen model."""
    return _history()[-1]


def change(edits: Edits) -> None:
    """Put new edits in force; the old ones can be brought back."""
    if edits != _history()[-1]:
        _keep([*_history(), edits][-LONGEST:])


def undo() -> None:
    """Bring back the edits before the last change."""
    if can_undo():
        _keep(_history()[:-1])


def can_undo() -> bool:
    """Whether there was a change before."""
    return len(_history()) > 1


def _history() -> list[Edits]:
    return st.session_state.get("histories", {}).get(models.chosen().key, [Edits()])


def _keep(history: list[Edits]) -> None:
    histories = st.session_state.get("histories", {})
    st.session_state.histories = {**histories, models.chosen().key: history}
