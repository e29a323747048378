"""A page of the app as a record, and the optional parts (wings) that add to every page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

import streamlit as st

from headlight.pages.shared.state.choice import Choice
from headlight.pages.shared.state.choices import AS_TRAINED, COMMON, EDITS, KIND

if TYPE_CHECKING:
    from headlight.model.edits import HeadAddress
    from headlight.model.insight.linking import Linked
    from headlight.model.snapshots import Snapshots
    from headlight.pages.shared.show.riddle import Riddle
    from headlight.pages.shared.show.saving import About
    from headlight.viz import CanvasPicture

Known = TypeVar("Known")
Changes = Literal["all", "in force", "by side", "none"]
CLICKS, BUTTONS, TOOLS = "clicks", "buttons", "tools"  # controls that are no choice of a page


@dataclass(frozen=True, eq=False)
class Page:
    """Everything that the app knows about a page.

    `key` names it in talk files and is never shown. `group` is a heading of the sidebar; pages of a
    group follow each other. `body` draws the page below its title. `choices` are those of this page
    only, which its links hold in addition to the common ones. `pictures` are those that a slide can
    show: their names by the keys they are drawn with; a new slide shows those of `first`, and Guess
    first asks about those of `riddles`: where they are, `asks` says if it is set. The chosen layer
    is one of the `kind`. `changes` says whether the body runs the model with the visitor's changes:
    all of them, those in force, those of a side only, or none. `unread` are common choices that its
    pictures do not depend on either.
    """

    key: str
    title: str
    group: str
    purpose: str
    body: Callable[[], None]
    choices: tuple[Choice, ...] = ()
    pictures: Mapping[str, str] = field(default_factory=dict)
    first: tuple[str, ...] | Callable[[], tuple[str, ...]] = ()
    riddles: tuple[str, ...] = ()
    asks: str = ""
    kind: Choice = KIND
    changes: Changes = "none"
    unread: tuple[Choice, ...] = ()

    @property
    def file(self) -> str:
        """The script that opens the page: the first page opens with the app."""
        return "app.py" if self.key == next(iter(PAGES)) else f"pages/{self.key}.py"

    @property
    def linked(self) -> tuple[Choice, ...]:
        return (*COMMON, *self.choices)

    @property
    def scene(self) -> tuple[Choice, ...]:
        """The choices that affect its pictures, which a slide or a saved scene stores."""
        needed = {"in force": (EDITS, AS_TRAINED), "all": (EDITS,)}.get(self.changes, ())
        unread = {EDITS, AS_TRAINED, *self.unread}.difference(needed)
        return tuple(choice for choice in self.linked if choice not in unread)


ALONE = "alone"  # in an address: the key of the only picture to show of a page
PAGES: dict[str, Page] = {}  # every page by its key, in the order of the sidebar


def shown() -> Page | None:
    """Return the page that is shown, or whose pictures a slide shows."""
    return st.session_state.get("page")


def alone(page: Page) -> str:
    """Return the key of the only picture that the page's address asked for; empty for all."""
    key = st.session_state.get(ALONE, "")
    return key if key in page.pictures else ""


def enter(page: Page) -> None:
    st.session_state.page = page


def list_pages(*pages: Page) -> None:
    """List the pages of the app, once, before any of them is opened."""
    PAGES.update({page.key: page for page in pages})


class Usual(NamedTuple):
    """The mean and standard deviation of a score over the sentences of a text, named in words."""

    mean: float
    deviation: float
    text: str


@dataclass(frozen=True)
class TalkModel:
    """A model for the file of a talk: its weights, and what shows and styles its pictures.

    The file begins with the `script`, and has the `header` as JSON.
    """

    weights: bytes
    script: Path
    style: Path
    header: Mapping[str, object]
    pictures: Sequence[CanvasPicture]


class Wing:
    """A part of the app that can be left out; it overrides the methods that it needs."""

    parameter = ""  # the name of what it keeps in every address, if anything

    examples: Sequence[str] = ()  # texts for models that only this wing makes
    # Makes a model that the file of a talk can hold, so that its slides answer any sentence.
    talk_model: Callable[[], TalkModel] | None = None

    def usual(self, model: str, pattern: str, head: HeadAddress) -> Usual | None:
        """Return what a head of a model usually scores in a pattern, if the wing has counted it."""
        return None

    def linked(self, model: str) -> Linked | None:
        """Return how often the heads of a model link a pronoun to its noun, if that was counted."""
        return None

    def recording(self) -> tuple[str, Snapshots] | None:
        """Return the title and the snapshots of the visitor's own training, if there is one."""
        return None

    def asks(
        self, keys: Sequence[str], ask: Callable[[], Riddle], of: About | None, what: str
    ) -> bool:
        """Return whether a riddle about the pictures with these keys is still open.

        An open riddle is drawn in the place of the first of them that is to be shown; for `of` and
        `what` see `show`.
        """
        return False

    def hides(self, key: str, of: About | None, draw: Callable[[], object]) -> bool:
        """Return whether a picture that would give the answer of a riddle is hidden; say so.

        It may be drawn later by `draw`.
        """
        return False

    def begin(self, page: Page) -> None:
        """Run before anything is drawn or chosen."""

    def draws(self, page: Page) -> bool:
        """Draw something in place of the page, and return whether that was done."""
        return False

    def restore(self, text: str) -> None:
        """Restore what an address says; raise ValueError if it makes no sense."""

    def kept(self) -> str:
        """Return the text that an address keeps for the wing."""
        return ""

    def enter(self, page: Page) -> None:
        """Run once the page's choices are known."""

    def has(self, page: Page) -> bool:
        """Return whether a page is open to the visitor."""
        return True

    def allows(self, control: str) -> bool:
        """Return whether a control is open: a choice's key, CLICKS in pictures, or others."""
        return True

    def tools(self, page: Page) -> None:
        """Draw the tools that share the scene, in the sidebar."""

    def buttons(self, page: Page) -> None:
        """Draw buttons in the row below the tools."""

    def beside_title(self, page: Page) -> None:
        """Draw something next to the title."""

    def above(self, page: Page) -> None:
        """Draw something between the title and the page."""

    def after(self, page: Page) -> None:
        """Run after the page is drawn."""

    def renew(self) -> None:
        """Redraw what the wing shows, because models it may depend on have been restored."""


WINGS: list[Wing] = []


def first_known(answers: Iterable[Known | None]) -> Known | None:
    """Return the first answer that is not None, such as those of the wings."""
    return next((answer for answer in answers if answer is not None), None)


def is_open(page: Page) -> bool:
    return all(wing.has(page) for wing in WINGS)


def allows(control: str) -> bool:
    return all(wing.allows(control) for wing in WINGS)


def if_clicks(words: str) -> str:
    """Return words about clicks in pictures, or none if clicks are closed to the visitor."""
    return words if allows(CLICKS) else ""
