"""An edge that was closed by a click: its effect on the page Masks, and the way back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from model.edits import CellEdit, Edits
from model.trace import Kind
from pages.shared.show.cells import follow, lead_to
from pages.shared.state import edit_history, models
from pages.shared.state.choices import LAYER, MASK_KIND, SENTENCE, TARGET, chosen, put
from pages.shared.state.page import PAGES, shown
from pages.shared.state.showing import showing


@dataclass(frozen=True)
class Closed:
    """An edge that was closed, what was read then, the edits after it, and where the click was."""

    words: str
    read: tuple[str, str, str]
    edits: Edits
    page: str


def read_now() -> tuple[str, str, str]:
    """Return what is read: the model's key, its text, and the one that a decoder is given."""
    return models.chosen().key, chosen(SENTENCE), chosen(TARGET)


def close_edge(
    kind: Kind, layers: Sequence[int] | None, query: int, keys: Sequence[int], words: str
) -> None:
    """Close cells in all heads of some layers, or of all, and open the page Masks; a callback.

    `words` say there what was closed.
    """
    if not showing().is_live():
        return
    cells = tuple(
        CellEdit(kind, query, key, opened=False, layer=layer)
        for layer in layers or [None]
        for key in keys
    )
    before, page = edit_history.edits(), shown().key
    again = Closed(words, read_now(), before, page)
    if st.session_state.get("closed") != again:  # otherwise it is a double click
        edits = replace(before, cells=before.cells + cells)
        edit_history.change(edits)
        st.session_state.closed = replace(again, edits=edits)
    put(MASK_KIND, kind)
    if layers:
        put(LAYER, layers[0])
    lead_to("masks")


def way_back() -> None:
    """Draw what a click on another page closed, and the way back, while nothing else is changed."""
    closed: Closed | None = st.session_state.get("closed")
    now = read_now(), edit_history.edits()
    if closed and (closed.read, closed.edits) == now:
        with st.container(horizontal=True, vertical_alignment="center", key="closed-edge"):
            st.text(closed.words)
            title = PAGES[closed.page].title
            st.button(f"Open it again, back to {title}", on_click=reopen, args=[closed.page])
    follow()


def reopen(page: str) -> None:
    """Undo the closing of an edge, and go back to where it was clicked; a callback."""
    edit_history.undo()
    lead_to(page)
