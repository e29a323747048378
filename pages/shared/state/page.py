"""The record of a page of the app, the list of all pages, and the page that is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from headlight.pages.shared.state.choice import Choice
from headlight.pages.shared.state.choices import AS_TRAINED, COMMON, EDITS, KIND

if TYPE_CHECKING:
    from headlight.pages.shared.runs.run import ModelRun

Changes = Literal["all", "in force", "by side", "none"]


@dataclass(frozen=True, eq=False)
class Page:
    """Everything that the app knows about a page.

    `key` names the page in talk files and is never shown. `group` is its heading in the sidebar.
    `body` draws the page below its title. `choices` are those of this page only; the page's links
    contain them and the common choices. `pictures` has the names of pictures that a slide can show,
    by the keys with which they are drawn. `first` are the keys of the pictures on a new slide.
    `riddles` are the keys of pictures that are hidden, with “Guess first”, until the visitor has
    guessed; `asks` says where on the page these are. `kind` is the choice of the kind of attention
    to which the chosen layer belongs. `changes` says with which of the visitor's changes the body
    runs the model: "all" of them, those "in force" (none while the model is shown as trained), "by
    side" (each side of a comparison has its own), or "none". `unread` are the common choices,
    besides the changes, that do not affect the page's pictures. `own` returns a run with what the
    page's own choices change in it, such as the padding; it gets their values by their keys.
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
    own: Callable[[ModelRun, Mapping[str, Any]], ModelRun] | None = None

    @property
    def file(self) -> str:
        """The script that opens the page; for the first page it is app.py."""
        return "app.py" if self.key == next(iter(PAGES)) else f"pages/{self.key}.py"

    @property
    def linked(self) -> tuple[Choice, ...]:
        return (*COMMON, *self.choices)

    @property
    def scene(self) -> tuple[Choice, ...]:
        """The choices that affect the page's pictures; slides and saved pictures store them."""
        needed = {"in force": (EDITS, AS_TRAINED), "all": (EDITS,)}.get(self.changes, ())
        unread = {EDITS, AS_TRAINED, *self.unread}.difference(needed)
        return tuple(choice for choice in self.linked if choice not in unread)


ALONE = "alone"  # the parameter of an address that shows only one picture of a page
PAGES: dict[str, Page] = {}  # every page by its key, in the order of the sidebar


def shown() -> Page:
    """Return the page that is shown; on a slide, the page from which its pictures are."""
    return st.session_state.page


def alone(page: Page) -> str:
    """Return the key of the only picture to show; empty if the address does not name one."""
    key = st.session_state.get(ALONE, "")
    return key if key in page.pictures else ""


def enter(page: Page) -> None:
    st.session_state.page = page


def list_pages(*pages: Page) -> None:
    """Add pages to `PAGES`; all must be added before any page is opened."""
    PAGES.update({page.key: page for page in pages})
