"""A class: the pages and controls that a teacher leaves open, and how a link writes them."""

import re
from dataclasses import dataclass

import streamlit as st

from pages.shared.state.page import PAGES, Page
from pages.shared.state.wings import BUTTONS, CLICKS

PARAMETER = "workshop"  # in an address
LONGEST = 4_000  # characters; all controls of a page take 1,700
NAMES = re.compile("([a-z_]{1,40})(,[a-z_]{1,40})*", re.ASCII)


@dataclass(frozen=True)
class Lesson:
    """What is open to a class: pages by key, and controls on them; all if none are named.

    Controls are the keys of choices, CLICKS in pictures and BUTTONS.
    """

    pages: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()

    def has(self, page: Page) -> bool:
        return not self.pages or page.key in self.pages

    def allows(self, control: str) -> bool:
        return not self.controls or control in self.controls


def read(text: str) -> Lesson:
    """Read what is open: pages, and after a colon controls, both separated by commas.

    Raises ValueError for a text that makes no sense, or an unknown page or control.
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
    """Write what is open in the form that `read` takes; an empty text leaves everything open."""
    controls = f":{','.join(lesson.controls)}" if lesson.controls else ""
    return ",".join(lesson.pages) + controls


def lesson() -> Lesson:
    """Return what the first address of this session has left open."""
    return st.session_state.get("lesson", Lesson())


def is_given() -> bool:
    """Return whether the session's first address has restricted what is open."""
    return lesson() != Lesson()


def begin(text: str) -> None:
    """Open from now on what an address says; raises ValueError as `read` does."""
    st.session_state.lesson = read(text)
