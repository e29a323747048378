"""A class: the pages and controls that a teacher leaves open, as a link says them."""

from __future__ import annotations

import re
from dataclasses import dataclass

import streamlit as st

from pages.shared.state.page import PAGES, Page

PARAMETER = "workshop"  # in an address
CLICKS, BUTTONS = "clicks", "buttons"  # controls that are no choice of a page
LONGEST = 4_000  # characters; all controls of a page take 1,700
NAMES = re.compile("([a-z_]{1,40})(,[a-z_]{1,40})*", re.ASCII)


@dataclass(frozen=True)
class Lesson:
    """What is open to a class: pages by key, and controls on them, both all if there are none.

    Controls are the keys of choices, CLICKS in pictures and BUTTONS.
    """

    pages: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()

    def has(self, page: Page) -> bool:
        """Return whether a page is open."""
        return not self.pages or page.key in self.pages

    def allows(self, control: str) -> bool:
        """Return whether a control is open."""
        return not self.controls or control in self.controls


def read(text: str) -> Lesson:
    """Read what is open: pages, and behind a colon controls, both with commas between them.

    Raises ValueError for a text that makes no sense, or a page or control that there is not.
    """
    if len(text) > LONGEST:
        raise ValueError(f"What is open is said in at most {LONGEST:,} characters.")
    pages, _, controls = text.partition(":")
    for names in filter(None, (pages, controls)):
        if not NAMES.fullmatch(names):
            raise ValueError(f"{names[:40]} is no list of names with commas between them.")
    lesson = Lesson(*(tuple(filter(None, names.split(","))) for names in (pages, controls)))
    if unknown := [page for page in lesson.pages if page not in PAGES]:
        raise ValueError(f"There is no page {unknown[0]}.")
    known = {choice.key for page in PAGES.values() for choice in page.linked} | {CLICKS, BUTTONS}
    if unknown := set(lesson.controls) - known:
        raise ValueError(f"There is no control {min(unknown)}.")
    return lesson


def write(lesson: Lesson) -> str:
    """Write what is open, as `read` reads it; an empty text leaves everything open."""
    controls = f":{','.join(lesson.controls)}" if lesson.controls else ""
    return ",".join(lesson.pages) + controls


def lesson() -> Lesson:
    """Return what this session's first address has left open."""
    return st.session_state.get("lesson", Lesson())


def begin(text: str) -> None:
    """Leave open what an address says from now on; raises ValueError as `read` does."""
    st.session_state.lesson = read(text)
