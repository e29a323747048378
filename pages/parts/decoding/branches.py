"""The branches of a decoding: what a visitor forced, and where."""

import re
from dataclasses import dataclass, field

import streamlit as st

from model import Decoding
from model.trace import Shape
from pages.shared.runs.run import ModelRun
from pages.shared.state.choice import Choice, counted
from pages.shared.state.choices import MOST_TOKENS, applied, chosen, put

MOST = 6  # branches kept besides the free run
ROOM = 400  # characters of a link
LONGEST_TEXT = 120  # characters of a forced text, in a link


@dataclass(frozen=True)
class Branch:
    """A decoding that begins with forced ids, which identify it; the free run has none."""

    forced: tuple[int, ...] = ()
    step: int = field(default=0, compare=False)  # the first forced one, from 0
    text: str = field(default="", compare=False)  # the text forced there

    @property
    def name(self) -> str:
        return f"{self.text} at step {self.step + 1}" if self.forced else "free run"


def text_at(decoding: Decoding, forced: tuple[int, ...], step: int) -> str:
    """Return the text that was forced from a step on, as shown."""
    steps = decoding.steps_to(decoding.path)[step : len(forced)]
    return " ".join(one.token.text for one in steps)[:LONGEST_TEXT]


def write_branch(branch: Branch) -> str:
    """Write a branch as a link holds it: its first forced step from 1, its ids, its text.

    The text shows if another vocabulary gives the ids another meaning.
    """
    ids = ".".join(map(str, branch.forced))
    return f"{branch.step + 1}:{ids}:{branch.text}" if branch.forced else ""


def read_branch(written: str, shape: Shape) -> Branch:
    """Read a branch; it is decoded later, which shows whether a model can begin with it."""
    found = re.fullmatch(r"(\d{1,4}):(\d{1,7}(?:\.\d{1,7})*):(.*)", written, re.ASCII | re.DOTALL)
    if not found or len(found[3]) > LONGEST_TEXT:
        raise ValueError(f"{written} is not a branch.")
    step, forced = int(found[1]) - 1, tuple(map(int, found[2].split(".")))
    if not 0 <= step < len(forced) <= shape.max_positions:
        raise ValueError(f"{written} is not a branch.")
    return Branch(forced, step, found[3])


BRANCH = Choice("branch", Branch(), read_branch, write_branch, room=ROOM)
STEP = counted("step", 0, MOST_TOKENS)  # the step shown first
CHOICES = (BRANCH, STEP)


def show_branch(branch: Branch) -> None:
    """Show a branch from the step on where it begins; a callback."""
    put(BRANCH, branch)
    put(STEP, branch.step)


@dataclass
class Branches:
    """The free run of a decoding and the branches made from it; the chosen one is shown."""

    kept: list[Branch] = field(default_factory=lambda: [Branch()])

    def keep(self, branch: Branch) -> None:
        """Keep a branch; if there are too many, the oldest makes room."""
        if branch not in self.kept:
            free_run, *others = self.kept
            self.kept = [free_run, *others[-(MOST - 1) :], branch]

    def remove(self, branch: Branch) -> None:
        """Remove a branch; if it was shown, the free run is shown."""
        self.kept.remove(branch)
        if branch == chosen(BRANCH):
            show_branch(self.kept[0])


def branches_of(run: ModelRun) -> Branches:
    """Return the branches of a text; another text or model starts anew.

    Then the chosen branch is reset too, unless an address or a slide has chosen it with the text.
    """
    state, of, came = st.session_state, run.as_trained, applied()
    before, when, branches = state.get("branches", (None, None, None))
    if (before, when) != (of, came):
        if before and when == came:
            show_branch(Branch())
        branches = Branches()
    state.branches = of, came, branches
    return branches
