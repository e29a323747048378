"""What a visitor changed, said beside the title of every page, and whether the page applies it."""

from __future__ import annotations

import streamlit as st

from model.edits import Edits
from pages.shared.show.captions import counted, edit_words
from pages.shared.state import edit_history
from pages.shared.state.choices import AS_TRAINED, chosen, put
from pages.shared.state.edit_history import BEFORE_AND_AFTER
from pages.shared.state.page import PAGES, Changes, Page
from pages.shared.state.slide import slide

APPLIED: dict[Changes, str] = {
    "all": "Applied here.",
    "in force": "Applied here.",
    "by side": "Applied to a side that says so.",
    "none": "Not applied on this page.",
}
IGNORED = "Not applied: shown as trained."


def say(page: Page) -> None:
    """Draw what is changed, if anything is, and the ways to undo, compare and ignore it.

    On a page where one changes it, it belongs to the part that a click draws alone.
    """
    if slide():
        return
    if st.session_state.get(BEFORE_AND_AFTER) and page.key != "compare":
        st.switch_page(PAGES["compare"].file)  # which callbacks cannot do
    if page.changes == "all":
        put(AS_TRAINED, False)  # here one goes on changing
    # Also where nothing is changed: what stands below would be drawn anew when it first is.
    line = st.container(
        horizontal=True, vertical_alignment="center", gap="xsmall", width="content", key="changes"
    )
    edits = edit_history.edits()
    if edits != Edits():
        with line:
            what_and_buttons(page, edits)


def what_and_buttons(page: Page, edits: Edits) -> None:
    """Draw how much is changed, whether the page applies it, and what can be done about it."""
    ignored = page.changes == "in force" and chosen(AS_TRAINED)
    color = "gray" if ignored or page.changes == "none" else "orange"
    st.badge(counted(edits), color=color, help=edit_words(edits))
    st.caption(IGNORED if ignored else APPLIED[page.changes], width="content")
    if page.changes == "in force":
        label = "Apply again" if ignored else "Show as trained"
        st.button(label, key="ignore-changes", on_click=put, args=[AS_TRAINED, not ignored])
    st.button("Compare", key="compare-changes", on_click=compare)
    st.button("Undo all", key="undo-changes", on_click=undo)


def compare() -> None:
    """Have the page Compare show the model before and after the changes; a callback."""
    st.session_state[BEFORE_AND_AFTER] = True


def undo() -> None:
    """Undo all changes, which on the pages that make them can be undone in turn; a callback."""
    edit_history.change(Edits())
    put(AS_TRAINED, False)
