"""Exercises that check themselves: a task above the page, measured on what the page shows."""

from contextlib import suppress

import streamlit as st

from headlight.pages.shared.state.page import PAGES, Page
from headlight.pages.shared.state.wings import TOOLS, Wing, allows, is_open
from headlight.wings.exercises.dialog import ask, hand_in_button
from headlight.wings.exercises.progress import Progress
from headlight.wings.exercises.scene import scene_of
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

BOX = "exercise"  # the key of the container with the task
DONE = "Done."
JUST_SOLVED = "Exercise {number}: done."
DONE_BEFORE = "Done before."
ALL_DONE = "Done. All tasks are solved: “Hand in” saves a text for your teacher."
CLOSED = "The page of this task, {page}, is closed in this lesson."


def draw_task(page: Page) -> None:
    """Draw the task in hand with what is measured now."""
    current = progress()
    assert current is not None  # the wing draws the task of a worksheet
    lines, solved = measure(page, current)  # first: it may add to what is done
    if current.is_just_solved:  # said where a phone that is scrolled down shows it, too
        current.is_just_solved = False
        st.toast(JUST_SOLVED.format(number=current.number + 1))
    with st.container(key=BOX, border=True, gap="xsmall"):
        task, count = current.task, len(current.worksheet.tasks)
        done = f", {len(current.answers)} solved" if current.answers else ""
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f"Exercise {current.number + 1} of {count}{done}", width="content")
            if solved:
                st.markdown(f"**{solved}**", width="content")
        st.text(f"{task.title}: {task.instruction}")
        for line in lines:
            st.text(line)
        if page.key != task.page and not is_open(PAGES[task.page]):
            st.text(CLOSED.format(page=PAGES[task.page].title))
        with st.container(horizontal=True, gap="xsmall"):
            draw_buttons(page, current)


def draw_buttons(page: Page, current: Progress) -> None:
    """Draw the ways to the task's page, to other tasks, to a hint and out."""
    task, count = current.task, len(current.worksheet.tasks)
    if page.key != task.page and is_open(PAGES[task.page]):
        st.page_link(PAGES[task.page].file, label=f"To {PAGES[task.page].title}")
    others = {"Back": current.number - 1, "Again": current.number, "Next": current.number + 1}
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
    if len(current.answers) == count:
        hand_in_button(current, key="exercise-hand-in")
    st.button("Leave", on_click=leave, key="exercise-leave")


def measure(page: Page, current: Progress) -> tuple[list[str], str]:
    """Return lines that say how far the scene is from the goals, and whether it is done."""
    try:
        results = current.take(scene_of(page))
    except ValueError as error:  # the model is gone
        return [str(error)], ""
    lines = [f"{'✓' if result.reached else '○'} {result.words}" for result in results]
    if len(current.answers) == len(current.worksheet.tasks):
        return lines, ALL_DONE
    if not current.is_solved:
        return lines, ""
    return lines, DONE if all(result.reached for result in results) else DONE_BEFORE


def measure_again(page: Page, is_tried: bool = True) -> None:
    """Draw the whole page again if the results are no longer those above it."""
    if current := progress():
        before = current.results
        with suppress(ValueError):  # the model is gone
            if current.take(scene_of(page), is_tried) != before:
                st.rerun()


class Exercises(Wing):
    """Puts a task above the page."""

    parameter = "exercises"
    always_open = (BOX,)

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

    def after(self, page: Page) -> None:
        """Measure again: a page that needs a single head has chosen one by now."""
        measure_again(page, is_tried=False)

    def redrawn(self, page: Page) -> None:
        """Measure again after a change in a section."""
        measure_again(page)


WING = Exercises()
