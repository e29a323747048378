"""The worksheet of a session."""

import streamlit as st

from headlight.pages.browser.parts import kept_text
from headlight.pages.shared import address
from headlight.pages.shared.show.pictures import picked, show
from headlight.pages.shared.state.page import PAGES, Page
from headlight.wings.exercises.progress import Progress
from headlight.wings.exercises.worksheet import Worksheet, in_link

PROGRESS = "exercises_progress"
KEPT = "headlight-exercises"  # the name under which the tab keeps the answers
BEGUN = "exercises_begun"  # true until the scene of the task is open


def progress() -> Progress | None:
    return st.session_state.get(PROGRESS)


def open_worksheet(worksheet: Worksheet, name: str | None = None, number: int = 0) -> None:
    """Take up a worksheet at a task; one that is open already keeps its answers.

    Without a `name` in addresses the worksheet is packed into them, if there is room.
    """
    if name is None:
        try:
            name = in_link(worksheet)
        except ValueError:
            name = ""
    current = progress()
    if current is None or current.worksheet != worksheet:
        st.session_state[PROGRESS] = current = Progress(worksheet, name)
    current.number = number


def begin_task(number: int) -> None:
    """Take a task in hand; a callback. `go` then opens its scene."""
    if current := progress():
        current.number = number
        st.session_state[BEGUN] = True


def go(page: Page) -> None:
    """Open the scene of a task that has just begun, on its page.

    A callback cannot switch pages, and the page on which it runs may have fewer layers to choose.
    """
    current = progress()
    if st.session_state.pop(BEGUN, False) and current:
        address.apply(current.task.parameters, PAGES[current.task.page])
        if page.key != current.task.page:
            st.switch_page(PAGES[current.task.page].file)


def keep() -> None:
    """Have the browser's tab keep the answers, and take up those that it has kept."""
    if current := progress():
        show(kept_text(KEPT, current.kept()), KEPT, take_up)


def take_up() -> None:
    """Take up the answers that the tab has kept; a callback."""
    kept, current = picked(KEPT), progress()
    if current and isinstance(kept, str):
        current.take_up(kept)


def leave() -> None:
    """Close the worksheet; a callback."""
    st.session_state.pop(PROGRESS, None)
