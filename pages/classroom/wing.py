"""What a class's link opens and closes on every page."""

import streamlit as st

from pages.classroom import classroom, lesson
from pages.shared.state.page import Page
from pages.shared.state.wings import TOOLS, Wing


class Classroom(Wing):
    """Keeps visitors who came by a teacher's link to the pages and controls that it names."""

    parameter = lesson.PARAMETER

    def restore(self, text: str) -> None:
        """Leave open what an address says, from now on."""
        lesson.begin(text)

    def kept(self) -> str:
        """Return what is open in the form that an address holds."""
        return lesson.write(lesson.lesson())

    def enter(self, page: Page) -> None:
        """Go to a page that is open if this one is not."""
        classroom.keep_in(page)

    def has(self, page: Page) -> bool:
        return lesson.lesson().has(page)

    def allows(self, control: str) -> bool:
        """Return whether a control is open; the tools are a teacher's."""
        return not lesson.is_given() if control == TOOLS else lesson.lesson().allows(control)

    def tools(self, page: Page) -> None:
        """Say that some things are locked."""
        if lesson.is_given():
            st.caption("A class: what is not needed now is closed.")

    def buttons(self, page: Page) -> None:
        """Draw the button that makes a link for a class."""
        if lesson.is_given():
            return
        if st.button("QR", key="for-a-class", help="This scene for a class: its QR code"):
            classroom.ask(page)

    def above(self, page: Page) -> None:
        classroom.lock()


WING = Classroom()
