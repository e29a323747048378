"""The branches of a decoding: what a visitor forced, and where."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from pages.shared.state import models

MOST = 6  # branches kept beside the original


@dataclass(frozen=True)
class Branch:
    """A decoding that begins with forced ids; the original has none."""

    forced: tuple[int, ...] = ()
    step: int = 0  # the first that was forced, from 0
    name: str = "original"


def branches(sentence: str) -> list[Branch]:
    """The original and the branches made from it; another sentence, model or slide starts anew."""
    of = models.chosen().key, sentence, st.session_state.get("slides_shown")
    if st.session_state.get("branches_of") != of:
        st.session_state.branches_of = of
        st.session_state.branches = [Branch()]
        st.session_state.branch = 0
    return st.session_state.branches


def chosen(sentence: str) -> Branch:
    """The branch that is shown."""
    return branches(sentence)[st.session_state.branch]


def choose(place: int) -> None:
    """Show a branch."""
    st.session_state.branch = place


def add(branch: Branch) -> None:
    """Show a new branch, or the one that begins with the same ids.

    The oldest makes room where there are too many.
    """
    kept = st.session_state.branches
    same = [place for place, one in enumerate(kept) if one.forced == branch.forced]
    if not same:
        kept = [kept[0], *kept[1:][-(MOST - 1) :], branch]
        same = [len(kept) - 1]
    st.session_state.branches = kept
    choose(same[0])


def remove(place: int) -> None:
    """Take a branch away; where it was shown, the original is."""
    st.session_state.branches = [
        branch for at, branch in enumerate(st.session_state.branches) if at != place
    ]
    shown = st.session_state.branch
    choose(0 if shown == place else shown - (shown > place))
