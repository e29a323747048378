"""A visitor's edits of each model, kept for the session, with undo.

If the `key` of a model is not given, a function uses the edits of the chosen model.
"""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from headlight.model.edits import Edits, HeadAddress
from headlight.pages.shared.state import models
from headlight.pages.shared.state.choices import AS_TRAINED, EDITS, chosen
from headlight.pages.shared.state.wings import CLICKS, allows

LONGEST = 100  # how many states of a model's edits are kept for undo
BEFORE_AND_AFTER = "before_and_after"  # true if Compare is to show the effect of the changes


def edits(key: str | None = None) -> Edits:
    return _history(key)[-1]


def in_force() -> Edits:
    """Return the edits of the chosen model, or no edits while it is shown as trained."""
    return Edits() if chosen(AS_TRAINED) else edits()


def may_change() -> bool:
    """Return whether this visitor may use pictures in which a click changes the model."""
    return allows(CLICKS) or allows(EDITS.key)


def change(edits: Edits, key: str | None = None) -> None:
    """Replace the edits of a model; `undo` brings the previous ones back."""
    history = _history(key)
    if edits != history[-1]:
        history.append(edits)
        del history[:-LONGEST]


def set_gates(heads: Sequence[HeadAddress], gate: float) -> None:
    """Set the gate of each of these heads: 0 switches a head off, 1 leaves it as trained."""
    gates = {head: value for head, value in edits().gates.items() if head not in heads}
    if gate != 1:
        gates |= dict.fromkeys(heads, gate)
    change(replace(edits(), gates=gates))


def undo(key: str | None = None) -> None:
    if can_undo(key):
        _history(key).pop()


def can_undo(key: str | None = None) -> bool:
    return len(_history(key)) > 1


def copied() -> dict[str, list[Edits]]:
    return {key: list(history) for key, history in st.session_state.get("histories", {}).items()}


def put_back(histories: dict[str, list[Edits]]) -> None:
    st.session_state.histories = histories


def _history(key: str | None) -> list[Edits]:
    """Return a model's edits after each change, oldest first; the last entry is in force."""
    histories = st.session_state.setdefault("histories", {})
    return histories.setdefault(key or models.chosen().key, [Edits()])
