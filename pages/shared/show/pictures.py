"""Pictures on a page: mounting the browser parts, and tokens as chips."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from math import exp
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go
import streamlit as st

from model.decoding.steps import Writing
from model.library.pieces import as_pieces
from model.tokens import Token
from pages.browser.library import (
    bringer,
    component_name,
    global_name,
    is_of_a_model,
    library,
    loader,
    mounted,
)
from pages.browser.parts import save_menu
from pages.server.scripts import published
from pages.shared.show.saving import About, Picture, copies_of, file_asked_for, formats_of
from pages.shared.show.stage import is_kept, is_staged, place, staged_keys
from pages.shared.state.lesson import CLICKS, lesson
from pages.shared.state.page import shown
from viz import CanvasPicture, Chip
from viz.canvas import FILE, Part, caption_html
from viz.component import component as component_line
from viz.numbers import Numbers, from_chart, largest
from viz.tokens import aligned
from viz.vectors.position_heatmap import in_theme, numbers_of

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

STAGED = 740, 480  # pixels of width of a chart on a slide, alone and beside others
LETTERS = ("font", "xaxis_tickfont", "yaxis_tickfont", "xaxis_title_font", "yaxis_title_font")
# Of Plotly's tables, which a slide does not zoom, in pixels.
STAGED_TABLE = {"height": 480} | {f"{letters}_size": 18 for letters in LETTERS}
TEMPLATES = {"light": "plotly", "dark": "plotly_dark"}  # of Plotly, by theme


@cache
def component(part: Part) -> Callable:
    """Return the Streamlit side of a browser part, on a page that has the library."""
    name = component_name(part.name)
    return st.components.v2.component(name, html=part.markup(), js=loader())


@cache
def library_component() -> Callable:
    """Return what brings the code of all browser parts into a page."""
    address = published(global_name(), library())
    return st.components.v2.component("headlight_library", js=bringer(address))


def load_library() -> None:
    """Bring the code of the pictures into the page, before the first of them."""
    library_component()(key="library")


def show(
    picture: CanvasPicture,
    key: str,
    on_pick: Callable[[], None] | None = None,
    *,
    of: About | None = None,
    what: str = "",
    to_keep: Callable[[], CanvasPicture] | None = None,
    answers: Callable[[], Mapping[str, CanvasPicture]] = dict,
) -> None:
    """Draw a picture; `on_pick` runs when something in it was clicked, found by `picked`.

    If `of` says which run it is of, it can be saved, and `what` says what of it is shown; for a
    page of its own it is as `to_keep` returns it, if that is given. In a talk saved as one file,
    `answers` are the pictures that take its place, by what a click in it answers, as JSON.
    """
    if is_kept(key, to_keep or (lambda: picture), answers):
        place(key, of and (of, what))
        return
    clicks = not is_of_a_model(picture.part.script) or lesson().allows(CLICKS)
    options, menu = {"on_picked_change": on_pick} if on_pick and clicks else {}, None
    if of is not None:
        kept = to_keep or (lambda: picture)
        makers = (
            lambda title, caption: kept().to_html(title, caption),
            lambda caption: component_line(kept(), caption),
        )
        menu = menu_of(Picture(what, key, of, picture.numbers, *makers))
        options["on_wanted_change"] = asking(key, key)
    with place(key, of and (of, what)):
        component(picture.part)(data=mounted(picture, menu), key=key, **options)


def show_plotly(figure: go.Figure, key: str, *, of: About, what: str) -> None:
    """Draw a table of positions, which can be saved with its numbers; for `of` see `show`."""
    numbers = numbers_of(figure)
    image = {"filename": of.file_name(what), "scale": 2}
    config = {"displaylogo": False, "toImageButtonOptions": image}

    def to_html(title: str, caption: str) -> str:
        head = f"<head><title>{html.escape(title)}</title><style>{FILE}</style>"
        kept = go.Figure(figure).update_layout(template=TEMPLATES[theme])
        page = kept.to_html(include_plotlyjs=True, config=config).replace("<head>", head, 1)
        return page.replace("<body>", f"<body>{caption_html(title, caption)}", 1)

    theme = st.context.theme.type or "light"
    in_theme(figure, theme)
    if is_staged(key):
        figure.update_layout(STAGED_TABLE)
    with place(key, (of, what)), st.container(key=f"chart-{key}"):
        st.plotly_chart(figure, key=key, config=config)
        offer(Picture(what, key, of, numbers, to_html))
    words = html.escape(f"{what}. {largest(numbers)}")
    st.html(f'<p class="text-alternative">{words}</p>')


def show_altair(chart: alt.TopLevelMixin, key: str, *, of: About, what: str) -> None:
    """Draw a chart of Altair's, which can be saved with its numbers; for `of` see `show`."""
    options = {}
    if is_staged(key):  # where the browser zooms, a width that is measured would be too large
        options["width"] = "content"
        chart = chart.properties(width=STAGED[len(staged_keys()) > 1])
    with place(key, (of, what)), st.container(key=f"chart-{key}", horizontal_alignment="center"):
        st.altair_chart(chart, key=key, **options)
        offer(Picture(what, key, of, from_chart(chart)))


def show_table(
    table: pd.DataFrame,
    key: str,
    numbers: Mapping[str, Numbers],
    *,
    of: About,
    what: str,
    **options: Any,
) -> None:
    """Draw a table, whose `numbers` can be saved; for `of` see `show`.

    The `options` are those of Streamlit's tables.
    """
    with st.container(key=f"chart-{key}"):
        st.dataframe(table, key=key, **options)
        picture = Picture(what, key, of, numbers)
        formats = [name for name in formats_of(picture) if name in ("csv", "npz")]
        names = of.file_name(what), of.caption(what), what
        menu = save_menu(*names, formats, made_here=(), key=key, file=file_asked_for(picture))
        name = f"save-{key}"
        component(menu.part)(data=mounted(menu), key=name, on_wanted_change=asking(key, name))


def offer(picture: Picture) -> None:
    """Draw the menu that saves a chart; a picture's own comes with the picture."""
    key = f"save-{picture.key}"
    menu = menu_of(picture, css_class(f"chart-{picture.key}"))
    component(menu.part)(data=mounted(menu), key=key, on_wanted_change=asking(picture.key, key))


def menu_of(picture: Picture, of: str | None = None) -> CanvasPicture:
    """Return the menu that saves a picture, or the chart `of` a class on the page."""
    return save_menu(
        picture.of.file_name(picture.what),
        picture.of.caption(picture.what),
        picture.what,
        formats_of(picture),
        made_here=("png", "svg") if picture.to_html else ("png", "svg", "html"),
        copies=copies_of(picture),
        key=picture.key,
        file=file_asked_for(picture),
        of=of,
    )


def asking(picture_key: str, menu_key: str) -> Callable[[], None]:
    """Return a callback that has the file made which was chosen in a menu.

    It holds no picture, so that the session does not keep the numbers.
    """

    def ask() -> None:
        st.session_state.file_asked_for = shown(), picture_key, picked(menu_key, "wanted")

    return ask


def css_class(key: str) -> str:
    """Return the selector of the class that Streamlit gives to what has a key."""
    return ".st-key-" + re.sub(r"[^a-zA-Z0-9_-]", "-", key)


def picked(key: str, name: str = "picked") -> Any:
    """Return what was clicked last in the picture with this key; None if nothing was."""
    answer = st.session_state.get(key, {}).get(name)
    return answer["answers"][-1][1] if answer else None


def all_picked(key: str) -> list[Any]:
    """Return what was clicked in the picture with this key since the previous call, in order.

    It is for clicks that add up: a part answers with all of the last seconds.
    """
    answer = st.session_state[key]["picked"]
    known = st.session_state.setdefault("answers", {})
    load, last = known.get(key, (None, 0))
    new = [one for one in answer["answers"] if answer["load"] != load or one[0] > last]
    known[key] = answer["load"], answer["answers"][-1][0]
    return [value for _, value in new]


def chips(
    tokens: Sequence[Token],
    changed: Collection[int] = (),
    log_probabilities: Sequence[float] | None = None,
) -> list[Chip]:
    """Return tokens as chips; those of one word are joined, those of two sentences coloured.

    Those at the places `changed` are marked. Tokens that a model wrote are shaded by their
    `log_probabilities`, in nats.
    """
    pieces = as_pieces(tokens)
    paired = any(piece.segment for piece in pieces)
    kinds = {"written": "piece", "padding": "special"}
    likely = [None] * len(pieces) if log_probabilities is None else map(exp, log_probabilities)
    return [
        Chip(
            piece.text,
            index > 0 and pieces[index - 1].word == piece.word,
            kinds.get(piece.role, piece.role),
            index in changed,
            piece.segment if paired else None,
            probability,
        )
        for index, (piece, probability) in enumerate(zip(pieces, likely, strict=True))
    ]


def chips_written(writing: Writing, before: Writing | None = None) -> list[Chip]:
    """Return what a model wrote as chips shaded by probability.

    If it wrote something else `before`, tokens that are not in that in their order are marked.
    """
    made = writing.target_tokens
    changed = changed_places(before.target_tokens, made) if before else ()
    return chips(made, changed, writing.log_probabilities)


def changed_places(before: Sequence[Token], after: Sequence[Token]) -> set[int]:
    """Return the places in `after` of tokens that were inserted or replaced."""
    pairs = aligned([token.text for token in before], [token.text for token in after])
    return {place for counterpart, place in pairs if counterpart is None}
