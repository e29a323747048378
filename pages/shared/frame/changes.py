"""The line next to a page's title that lists the visitor's changes to the model, with buttons."""

from contextlib import nullcontext

import streamlit as st

from headlight.model.edits import Edits
from headlight.pages.shared.show.captions import edit_words
from headlight.pages.shared.state import edit_history
from headlight.pages.shared.state.choices import AS_TRAINED, INSIDE_PAD_TO, chosen, put
from headlight.pages.shared.state.edit_history import BEFORE_AND_AFTER
from headlight.pages.shared.state.page import PAGES, Changes, Page
from headlight.pages.shared.state.showing import showing

APPLIED: dict[Changes, str] = {
    "all": "Applied here.",
    "in force": "Applied here.",
    "by side": "Applied to a side if “With my changes” is on, under “More of A” or “More of B”.",
    "none": "Not applied on this page.",
}
IGNORED = "Not applied: the model is shown as trained."
UNPADDED = "Without padding, as here, the padding mask has nothing to hide."


def say(page: Page) -> None:
    """Draw the visitor's changes to the model, if any, and buttons to undo or ignore them.

    A page on which the model is changed calls this inside the part that a click redraws.
    """
    if showing().scene() is not None:
        return
    if st.session_state.get(BEFORE_AND_AFTER) and page.key != "compare":
        st.switch_page(PAGES["compare"].file)  # a callback cannot switch pages
    if page.changes == "all":
        put(AS_TRAINED, False)  # a change made on this page must take effect
    # The container is drawn even without changes: else the first change would redraw all below it.
    row = {"horizontal": True, "vertical_alignment": "center", "gap": "xsmall", "width": "content"}
    line = st.container(key="changes", **row)
    edits = edit_history.edits()
    is_brought = were_brought(page, edits)
    if edits != Edits():
        with line, nullcontext() if is_brought else st.container(key="made-here", **row):
            what_and_buttons(page, edits)


def were_brought(page: Page, edits: Edits) -> bool:
    """Return whether the model was already changed when the visitor came to this page.

    If so, a phone lists the changes above the page. If not, it lists them below, so that the first
    change does not move the page under the visitor's finger.
    """
    if st.session_state.get("changes_of") != page.key:
        st.session_state.update(changes_of=page.key, changes_brought=edits != Edits())
    return st.session_state.changes_brought


def what_and_buttons(page: Page, edits: Edits) -> None:
    """Draw a summary of the changes, a note on whether this page applies them, and buttons."""
    ignored = page.changes == "in force" and chosen(AS_TRAINED)
    color = "gray" if ignored or page.changes == "none" else "orange"
    st.badge(edit_words(edits, briefly=True), color=color, help=edit_words(edits))
    said = IGNORED if ignored else APPLIED[page.changes]
    if page.changes == "in force" and "padding" in edits.off and not chosen(INSIDE_PAD_TO):
        said = f"{said} {UNPADDED}"
    st.caption(said, width="content")
    if page.changes == "in force":
        label = "Apply again" if ignored else "Show as trained"
        st.button(label, key="ignore-changes", on_click=put, args=[AS_TRAINED, not ignored])
    st.button("Compare", key="compare-changes", on_click=compare)
    st.button("Undo all", key="undo-changes", on_click=undo)


def compare() -> None:
    """Let the page Compare show the model with and without the changes; a callback."""
    st.session_state[BEFORE_AND_AFTER] = True


def undo() -> None:
    """Remove all changes at once; Undo can bring them back. A callback."""
    edit_history.change(Edits())
    put(AS_TRAINED, False)
