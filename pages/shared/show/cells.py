"""Maps whose cells can be clicked: a click shows the weight on another page, or closes the cell."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from headlight.model.edits import CellEdit, Edits
from headlight.model.library.pieces import as_pieces
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Kind, Site
from headlight.pages.shared.runs.arrays import as_array, clearest_cell, one_head, tokens_of
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.pictures import picked, show
from headlight.pages.shared.show.riddle import Riddle
from headlight.pages.shared.show.saving import About
from headlight.pages.shared.show.sight import seek
from headlight.pages.shared.state import edit_history, models
from headlight.pages.shared.state.choices import (
    INSIDE_OF,
    INSIDE_PAD_TO,
    INSIDE_TARGET,
    KEY,
    LAYER,
    MASK_KIND,
    QUERY,
    SENTENCE,
    SUMMARIES,
    TARGET,
    HeadChoice,
    chosen,
    put,
    select_head,
)
from headlight.pages.shared.state.page import PAGES, shown
from headlight.pages.shared.state.showing import showing
from headlight.viz import CanvasPicture

WEIGHT_BAR = "weight-bar"  # the key of the bar with the weight on the page Inside a head

CellAddress = tuple[Kind, int, int, int, int]  # kind, layer, head, query and key; numbers from 0
OpenCell = Callable[[int, int], None]  # a callback that takes a query and a key, from 0


def if_taken_apart(run: ModelRun, open_cell: OpenCell) -> OpenCell | None:
    """Return `open_cell` if the page Inside a head can show the model's weights, else None.

    Also return None on a slide, where clicks must not lead to another page.
    """
    can = "take apart" not in run.reader.missing and showing().is_live()
    return open_cell if can else None


def attention_map(
    picture: CanvasPicture,
    key: str,
    open_cell: OpenCell | None,
    *,
    of: About,
    what: str,
    riddle: Callable[[], Riddle] | None = None,
) -> bool:
    """Draw a heatmap; for `of`, `what`, `riddle` and the return value see `show`.

    A click on a cell calls `open_cell`, if given, which may lead to another page. Otherwise a click
    shows the cell's numbers.
    """
    if not showing().is_live():
        picture, open_cell = picture.having(clickable=False), None
    page = shown()

    def pick() -> None:
        cell = picked(key)
        # If another page is shown now, an earlier click has already led there.
        if open_cell and cell and shown() == page:
            open_cell(*cell)

    is_drawn = show(picture, key, open_cell and pick, of=of, what=what, riddle=riddle)
    follow()
    return is_drawn


def follow() -> None:
    """Go to the page that `lead_to` stored. Two steps, because a callback cannot switch pages."""
    clicked_on, leads_to = st.session_state.pop("follow", (None, ""))
    if clicked_on and clicked_on == shown():  # else the visitor has left the page of the click
        st.switch_page(PAGES[leads_to].file)


def lead_to(page: str) -> None:
    """Store the key of the page to which `follow` then goes; a callback."""
    st.session_state.follow = shown(), page


def open_inside(
    kind: Kind,
    layer: int,
    head: int,
    query: int,
    key: int,
    *,
    pad_to: int | None = None,
    target: str = "",
    summed_up: str = "",
) -> None:
    """Open the page Inside a head at a weight of a run; all numbers count from 0. A callback.

    If a mean or maximum was clicked, `summed_up` is its name, and the weight is the largest in it.
    """
    if not showing().is_live():
        return
    select_head(kind, layer, head)
    run = {INSIDE_OF: chosen(SENTENCE), INSIDE_TARGET: target, INSIDE_PAD_TO: pad_to}
    for choice, value in ({QUERY: query, KEY: key} | run).items():
        put(choice, value)
    stands_for((kind, layer, head, query, key), summed_up)
    seek(WEIGHT_BAR)
    lead_to("inside")


def choose_clearest(run: ModelRun, site: Site, head: HeadChoice) -> None:
    """Choose the clearest weight of a head, mean or maximum, unless the visitor has chosen one.

    A weight that the app itself chose for another head or text is replaced.
    """
    trace = run.trace()
    picked, nothing = (chosen(QUERY), chosen(KEY)), (None, None)
    given, *of = st.session_state.get("clearest", (nothing,))
    alike = [[site, each, tokens_of(trace, site.kind)] for each in (head, *SUMMARIES)]
    if picked != nothing and (picked != given or of in alike):
        for choice in (QUERY, KEY):
            if chosen(choice) is None:  # a link may name only one of them
                put(choice, 0)
        return
    sides = as_pieces(trace.query_tokens(site)), as_pieces(trace.key_tokens(site))
    heads = as_array(run.record(site).weights[0])
    weights = one_head(heads, head if head in SUMMARIES else min(head, len(heads) - 1))
    cell = clearest_cell(weights, *sides, site.kind) or (len(sides[0]) - 1, 0)
    choose_for_visitor(trace, site, head, *cell)


def choose_for_visitor(trace: Trace, site: Site, head: HeadChoice, query: int, key: int) -> None:
    """Choose a weight for the visitor, and remember that it was the app that chose it."""
    put(QUERY, query)
    put(KEY, key)
    st.session_state.clearest = (query, key), site, head, tokens_of(trace, site.kind)


def stands_for(cell: CellAddress, summed_up: str) -> None:
    """Store the name of the mean or maximum from which a weight was opened; empty for none."""
    st.session_state.stands_for = cell, summed_up


def stood_for(cell: CellAddress) -> str:
    """Return the name of the mean or maximum from which a weight was opened; empty for none."""
    of, summed_up = st.session_state.get("stands_for", (None, ""))
    return summed_up if of == cell else ""


@dataclass(frozen=True)
class Closed:
    """What is known of a cell that a click closed.

    `words` describe the cell, `read` is the result of `read_now`, `edits` are the edits after the
    click, and `page` is the key of the page that was clicked on.
    """

    words: str
    read: tuple[str, str, str]
    edits: Edits
    page: str


def read_now() -> tuple[str, str, str]:
    """Return the model's key, the text it reads, and the text given to its decoder."""
    return models.chosen().key, chosen(SENTENCE), chosen(TARGET)


def close_edge(
    kind: Kind, layers: Sequence[int] | None, query: int, keys: Sequence[int], words: str
) -> None:
    """Close the cells of a query and some keys in all heads, and open the page Masks; a callback.

    The cells are closed in `layers`, or in all layers for None. The page Masks shows `words`, which
    describe what was closed.
    """
    if not showing().is_live():
        return
    cells = tuple(
        CellEdit(kind, query, key, opened=False, layer=layer)
        for layer in layers or [None]
        for key in keys
    )
    before = edit_history.edits()
    # The second click of a double click may arrive after the first was handled; it adds nothing.
    if added := tuple(cell for cell in cells if cell not in before.cells):
        edits = replace(before, cells=(*before.cells, *added))
        edit_history.change(edits)
        st.session_state.closed = Closed(words, read_now(), edits, shown().key)
    put(MASK_KIND, kind)
    if layers:
        put(LAYER, layers[0])
    lead_to("masks")


def way_back() -> None:
    """Draw which cell a click on another page closed, and a button that opens it again.

    The button also leads back to that page. Nothing is drawn once the text or the edits change.
    """
    closed: Closed | None = st.session_state.get("closed")
    now = read_now(), edit_history.edits()
    if closed and (closed.read, closed.edits) == now:
        with st.container(horizontal=True, vertical_alignment="center", key="closed-edge"):
            st.text(closed.words)
            title = PAGES[closed.page].title
            st.button(f"Open it again, back to {title}", on_click=reopen, args=[closed.page])
    follow()


def reopen(page: str) -> None:
    edit_history.undo()
    lead_to(page)
