"""The branches of a decoding: what a visitor forced, and where."""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st

from pages.shared.runs.run import ModelRun
from pages.shared.state.slide import slide

MOST = 6  # branches kept beside the original


@dataclass(frozen=True)
class Branch:
    """A decoding that begins with forced ids, by which it is known; the original has none."""

    forced: tuple[int, ...] = ()
    step: int = field(default=0, compare=False)  # the first that was forced, from 0
    name: str = field(default="original", compare=False)


@dataclass
class Branches:
    """The original of a decoding with the branches made from it, one of which is shown."""

    kept: list[Branch] = field(default_factory=lambda: [Branch()])
    shown: Branch = Branch()

    def show(self, branch: Branch) -> None:
        """Show a branch and keep it; if there are too many, the oldest makes room."""
        if branch not in self.kept:
            original, *others = self.kept
            self.kept = [original, *others[-(MOST - 1) :], branch]
        self.shown = self.kept[self.kept.index(branch)]

    def remove(self, branch: Branch) -> None:
        """Take a branch away; if it was shown, the original is."""
        self.kept.remove(branch)
        if branch == self.shown:
            self.shown = self.kept[0]


def branches_of(run: ModelRun) -> Branches:
    """Return the branches of a text; another text, model or slide starts anew."""
    of = run.as_trained, slide()
    if st.session_state.get("branches", (None,))[0] != of:
        st.session_state.branches = of, Branches()
    return st.session_state.branches[1]
