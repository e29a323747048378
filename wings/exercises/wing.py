"""Exercises that check themselves: a task above the page, measured on what the page shows."""

from contextlib import suppress

import streamlit as st

from headlight.pages.shared.state.page import PAGES, Page
from headlight.pages.shared.state.wings import TOOLS, Wing, allows
from headlight.wings.exercises.dialog import ask
from headlight.wings.exercises.goals import scene_of
from headlight.wings.exercises.progress import Progress
from headlight.wings.exercises.session import (
    begin_task,
    go,
    keep,
    leave,
    open_worksheet,
    progress,
)
from headlight.wings.exercises.worksheet import from_link

__all__ = ["WING"]

DONE = "Done."


def draw_task(page: Page) -> None:
    """Draw the task in hand with what is measured now."""
    current = progress()
    assert current is not None  # the wing draws the task of a worksheet
    with st.container(key="exercise", border=True, gap="xsmall"):
        task, count = current.task, len(current.worksheet.tasks)
        done = f", {len(current.answers)} done" if current.answers else ""
        st.caption(f"Exercise {current.number + 1} of {count}{done}")
        st.text(f"{task.title}: {task.instruction}")
        measure(page, current)
        with st.container(horizontal=True, gap="xsmall"):
            if page.key != task.page:
                st.page_link(PAGES[task.page].file, label=f"To {PAGES[task.page].title}")
            others = {"Back": current.number - 1, "Again": current.number}
            others["Next"] = current.number + 1
            for label, number in others.items():
                st.button(
                    label,
                    on_click=begin_task,
                    args=[number],
                    key=f"exercise-{label.lower()}",
                    disabled=not 0 <= number < count,
                    type="primary" if label == "Next" and current.is_solved else "secondary",
                )
            if task.hint:
                with st.popover("Hint"):
                    st.text(task.hint)
            st.button("Leave", on_click=leave, key="exercise-leave")


def measure(page: Page, current: Progress) -> None:
    """Say how far the scene is from the goals of the task."""
    try:
        results = current.take(scene_of(page))
    except ValueError as error:  # the model is gone
        st.text(str(error))
        return
    if current.is_solved:
        st.markdown(f"**{DONE}**")
    for result in results:
        st.text(f"{'✓' if result.reached else '○'} {result.words}")


class Exercises(Wing):
    """Puts a task above the page."""

    parameter = "exercises"

    def restore(self, text: str) -> None:
        """Open the worksheet of an address; raises ValueError if there is none."""
        if not text:
            return
        name, _, number = text.rpartition(".")
        worksheet = from_link(name)
        if not (number.isascii() and number.isdecimal()) or not (
            1 <= int(number) <= len(worksheet.tasks)
        ):
            raise ValueError(f"The worksheet has no task {number[:10]}.")
        open_worksheet(worksheet, name, int(number) - 1)
        if set(st.query_params) <= {self.parameter}:  # the address names no scene
            begin_task(int(number) - 1)

    def kept(self) -> str:
        """Return the worksheet and the task of an address, if the worksheet fits into one."""
        current = progress()
        return f"{current.name}.{current.number + 1}" if current and current.name else ""

    def enter(self, page: Page) -> None:
        """Go to the page of a task that has just begun."""
        go(page)

    def buttons(self, page: Page) -> None:
        if (allows(TOOLS) or progress()) and st.button("Exercises", key="exercises"):
            ask(page)

    def above(self, page: Page) -> None:
        if progress():
            draw_task(page)
            keep()

    def redrawn(self, page: Page) -> None:
        """Measure again after a change in a section, and draw the page if the results differ."""
        current = progress()
        if current:
            before = current.results
            with suppress(ValueError):  # the model is gone
                if current.take(scene_of(page)) != before:
                    st.rerun()


WING = Exercises()
