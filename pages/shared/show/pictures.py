"""Draw pictures and charts on a page, with menus that save them, and read clicks in them."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go
import streamlit as st
import streamlit.components.v2 as components
from torch import Tensor

from headlight.model.transformer.trace import EmbeddingRecord
from headlight.pages.browser import library
from headlight.pages.browser.parts import Format, save_menu
from headlight.pages.shared.runs import limits
from headlight.pages.shared.runs.arrays import as_array
from headlight.pages.shared.show.saving import About, Picture, copies_of, file_asked_for, formats_of
from headlight.pages.shared.state import edit_history
from headlight.pages.shared.state.page import shown
from headlight.pages.shared.state.showing import is_wanted, place, showing
from headlight.pages.shared.state.wings import CLICKS, WINGS, allows
from headlight.pages.streamlit_fixes.served_scripts import published
from headlight.viz import CanvasPicture, Row
from headlight.viz.canvas import FILE, Part, caption_html
from headlight.viz.numbers import Numbers, from_chart, largest
from headlight.viz.vectors.position_heatmap import in_theme, numbers_of

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.elements.vega_charts import AltairChart

    from headlight.pages.shared.show.riddle import Riddle

STAGED = 740, 480  # pixels: the width of a chart on a slide, alone, and next to other pictures
LETTERS = ("font", "xaxis_tickfont", "yaxis_tickfont", "xaxis_title_font", "yaxis_title_font")
# The height and the font sizes of a Plotly table on a slide, in pixels.
STAGED_TABLE = {"height": 480} | {f"{letters}_size": 18 for letters in LETTERS}
TEMPLATES = {"light": "plotly", "dark": "plotly_dark"}  # Plotly's template for each theme


@cache
def component(part: Part) -> Callable:
    """Return the Streamlit component that draws a part in the browser; see `load_library`."""
    name = library.component_name(part.name)
    return components.component(name, html=part.markup(), js=library.loader())


@cache
def library_component() -> Callable:
    """Return the component that loads the code of all browser parts into a page."""
    address = published(library.global_name(), library.library())
    if limits.GUEST:  # relative to the page, because a notebook's proxy may add a path in front
        address = f".{address}"
    return components.component("headlight_library", js=library.bringer(address))


def load_library() -> None:
    """Load the code of all pictures into the page; call this before the first picture."""
    library_component()(key="library")


def show(
    picture: CanvasPicture,
    key: str,
    on_pick: Callable[[], None] | None = None,
    *,
    of: About | None = None,
    what: str = "",
    to_keep: Callable[[], CanvasPicture] | None = None,
    riddle: Callable[[], Riddle] | None = None,
    riddle_of: Sequence[str] = (),
    tells: bool = False,
    changes: bool = False,
) -> bool:
    """Draw a picture and return True; `on_pick` is called after a click in it.

    A teacher can close clicks in pictures to a class; then `on_pick` is not called. If a click
    `changes` the model, it is still called unless changes are closed too.

    If `of` is given, a visitor can save the picture: `of` describes the model and its texts, `what`
    the picture. The file has the picture that `to_keep` returns, if given.

    Return False if the picture is not drawn yet. Either a `riddle` about it (or about the pictures
    with the keys `riddle_of`) must be guessed first, or the picture `tells` the answer to the
    riddle about another picture.
    """
    if riddle:
        ask = cache(riddle)  # called once: a second call would draw its choice again
        asked = [wing.asks((key, *riddle_of), ask, of, what) for wing in WINGS]
        if any(asked):
            return False
    again = partial(show, picture, key, on_pick, of=of, what=what, to_keep=to_keep, changes=changes)
    if tells and any(wing.hides(key, of, again) for wing in WINGS):
        place(key, of and (of, what))
        return False
    picture = showing().as_shown(picture)
    if showing().keeps(key, to_keep or (lambda: picture)):
        place(key, of and (of, what))
        return True
    options: dict[str, Any] = {}
    menu = None
    if on_pick and (
        not library.is_of_a_model(picture.part.script)
        or (edit_history.may_change() if changes else allows(CLICKS))
    ):
        options["on_picked_change"] = once(key, "picked", on_pick)
    if of is not None:
        kept = to_keep or (lambda: picture)
        makers = (
            lambda title, caption: kept().to_html(title, caption),
            lambda caption: kept().to_component(caption),
        )
        menu = menu_of(Picture(what, key, of, picture.numbers, *makers))
        options["on_wanted_change"] = asking(key, key)
    with place(key, of and (of, what)):
        component(picture.part)(data=library.mounted(picture, menu), key=key, **options)
    return True


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
    if is_wanted(key):
        figure.update_layout(STAGED_TABLE)
    with place(key, (of, what)), st.container(key=f"chart-{key}"):
        st.plotly_chart(figure, key=key, config=config)
        offer(Picture(what, key, of, numbers, to_html))
    words = html.escape(f"{what}. {largest(numbers)}")
    st.html(f'<p class="text-alternative">{words}</p>')


def show_altair(chart: AltairChart, key: str, *, of: About, what: str) -> None:
    """Draw an Altair chart, which can be saved with its numbers; for `of` see `show`."""
    options: dict[str, Any] = {}
    if is_wanted(key):  # a fixed width, because the browser enlarges slides
        options["width"] = "content"
        chart = chart.properties(width=STAGED[len(showing().keys()) > 1])
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
    """Draw a table whose `numbers` can be saved; for `of` see `show`.

    The `options` are passed on to `st.dataframe`.
    """
    with st.container(key=f"chart-{key}"):
        st.dataframe(table, key=key, **options)
        picture = Picture(what, key, of, numbers)
        formats: list[Format] = [name for name in formats_of(picture) if name in ("csv", "npz")]
        names = of.file_name(what), of.caption(what), what
        menu = save_menu(*names, formats, made_here=(), key=key, file=file_asked_for(picture))
        name = f"save-{key}"
        draw_menu(menu, name, key)


def offer(picture: Picture) -> None:
    """Draw the menu that saves a chart. Pictures of this project have a menu inside them."""
    key = f"save-{picture.key}"
    draw_menu(menu_of(picture, css_class(f"chart-{picture.key}")), key, picture.key)


def draw_menu(menu: CanvasPicture, key: str, picture_key: str) -> None:
    asked = asking(picture_key, key)
    component(menu.part)(data=library.mounted(menu), key=key, on_wanted_change=asked)


def menu_of(picture: Picture, of: str | None = None) -> CanvasPicture:
    """Return the menu that saves a picture; for a chart, `of` is its container's CSS selector."""
    return save_menu(
        picture.of.file_name(picture.what),
        picture.of.caption(picture.what),
        picture.what,
        formats_of(picture),
        made_here=("png", "svg", "pdf", *(() if picture.to_html else ("html",))),
        copies=copies_of(picture),
        key=picture.key,
        file=file_asked_for(picture),
        of=of,
    )


def asking(picture_key: str, menu_key: str) -> Callable[[], None]:
    """Return a callback that requests the file chosen in a menu.

    The callback does not refer to the picture: else the session would keep all its numbers.
    """

    def ask() -> None:
        st.session_state.file_asked_for = shown(), picture_key, picked(menu_key, "wanted")

    return once(menu_key, "wanted", ask)


def once(key: str, name: str, act: Callable[[], None]) -> Callable[[], None]:
    """Return a callback that calls `act` only for new answers of a picture, not for repeated ones.

    The browser sends an answer, such as a click, again with the answers that follow it.
    """

    def acts() -> None:
        if new_answers(key, name, once):
            act()

    return acts


def css_class(key: str) -> str:
    """Return the CSS selector of the class that Streamlit gives to an element with a key."""
    return ".st-key-" + re.sub(r"[^a-zA-Z0-9_-]", "-", key)


def picked(key: str, name: str = "picked") -> Any:
    """Return what the last click in the picture with this key answered; None without a click."""
    answer = st.session_state.get(key, {}).get(name)
    return answer["answers"][-1][1] if answer else None


def all_picked(key: str) -> list[Any]:
    """Return what all clicks in a picture since the previous call answered, in order.

    Use this if every click counts, not only the last: the browser may send several at once.
    """
    return new_answers(key, "picked", all_picked)


def new_answers(key: str, name: str, by: Callable) -> list[Any]:
    """Return a picture's answers since the previous call `by` the same function, in order.

    The list is empty if the picture is no longer on the page.
    """
    if (answer := st.session_state.get(key, {}).get(name)) is None:
        return []
    known = st.session_state.setdefault("answers", {})
    load, last = known.get((key, name, by), (None, 0))
    new = [click for click in answer["answers"] if answer["load"] != load or click[0] > last]
    known[key, name, by] = answer["load"], answer["answers"][-1][0]
    return [value for _, value in new]


def row_of(label: str, vector: Tensor) -> Row:
    return Row(label, as_array(vector), note=f"length {vector.norm():.3f}")


def embedding_rows(record: EmbeddingRecord, token: int) -> list[Row]:
    """Return rows with the vectors whose sum is a token's input to the first layer.

    If they are not known, return one row with the input itself.
    """
    states = record.states[0, token]
    if record.tokens is None:
        return [row_of("embedding", states)]
    vectors = {"embedding": record.tokens[0, token]}
    if record.scaled is not record.tokens:
        vectors["embedding, scaled"] = record.scaled[0, token]
    vectors["position"] = record.positions[token]
    if record.segments is None:
        vectors["their sum"] = states
    else:
        vectors["segment"] = record.segments[0, token]
        vectors |= {"their sum": sum(vectors.values()), "its norm": states}
    return [row_of(label, vector) for label, vector in vectors.items()]
