"""The branches of a decoding: what a visitor forced, and where."""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st

from pages.shared.link import address
from pages.shared.state import models

MOST = 6  # branches kept beside the original


@dataclass(frozen=True)
class Branch:
    """A decoding that begins with forced ids; the original has none."""

    forced: tuple[int, ...] = ()
    step: int = 0  # the first that was forced, from 0
    name: str = "original"


@dataclass
class Branches:
    """The original of a decoding with the branches made from it, one of which is shown."""

    kept: list[Branch] = field(default_factory=lambda: [Branch()])
    place: int = 0  # of the one that is shown

    @property
    def shown(self) -> Branch:
        """The branch that is shown."""
        return self.kept[self.place]

    def show(self, place: int) -> None:
        """Show the branch at a place."""
        self.place = place

    def add(self, branch: Branch) -> None:
        """Show a new branch, or the one that begins with the same ids.

        If there are too many, the oldest makes room.
        """
        forced = [one.forced for one in self.kept]
        if branch.forced not in forced:
            self.kept = [self.kept[0], *self.kept[1:][-(MOST - 1) :], branch]
            self.place = len(self.kept) - 1
        else:
            self.place = forced.index(branch.forced)

    def remove(self, place: int) -> None:
        """Take a branch away; if it was shown, the original is."""
        del self.kept[place]
        self.place = 0 if self.place == place else self.place - (self.place > place)


def branches_of(sentence: str) -> Branches:
    """Return the branches of a sentence; another sentence, model or slide starts anew."""
    of = models.chosen().key, sentence, address.slide()
    if st.session_state.get("branches", (None,))[0] != of:
        st.session_state.branches = of, Branches()
    return st.session_state.branches[1]
