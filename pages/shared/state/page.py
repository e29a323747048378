"""A page of the app as a record, and the one that is shown."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import streamlit as st

from headlight.pages.shared.state.choice import Choice
from headlight.pages.shared.state.choices import AS_TRAINED, COMMON, EDITS, KIND

Changes = Literal["all", "in force", "by side", "none"]


@dataclass(frozen=True, eq=False)
class Page:
    """Everything that the app knows about a page.

    `key` names it in talk files and is never shown. `group` is a heading of the sidebar. `body`
    draws the page below its title. `choices` are of this page only; its links hold them in addition
    to the common ones. `pictures` names the pictures that a slide can show, by the keys with which
    they are drawn. A new slide shows those of `first`. Guess first asks about those of `riddles`;
    `asks` says where on the page they are. The chosen layer is one of the `kind`. `changes` says
    whether the body runs the model with the visitor's changes: all of them, those in force, those
    of a side only, or none. `unread` are common choices that its pictures do not depend on either.
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


def shown() -> Page:
    """Return the page that is shown, or whose pictures a slide shows."""
    return st.session_state.page


def alone(page: Page) -> str:
    """Return the key of the only picture that the page's address asked for; empty for all."""
    key = st.session_state.get(ALONE, "")
    return key if key in page.pictures else ""


def enter(page: Page) -> None:
    st.session_state.page = page


def list_pages(*pages: Page) -> None:
    """List the pages of the app, once, before any of them is opened."""
    PAGES.update({page.key: page for page in pages})
