"""Pictures on a page: mounting the browser parts, and tokens as chips."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go
import streamlit as st

from model.library.pieces import Piece
from model.tokens import Token
from pages.shared.show.saving import Picture, file_asked_for, formats_of, said
from viz import CanvasPicture, Chip
from viz.canvas import caption_html, markup
from viz.library import library, loader
from viz.numbers import Numbers, from_chart, largest
from viz.save_menu import save_menu
from viz.tokens import aligned

if TYPE_CHECKING:
    import altair as alt


@cache
def component(name: str) -> Callable:
    """The Streamlit side of a browser part, on a page that has the library."""
    return st.components.v2.component(f"headlight_{name}", html=markup(name), js=loader(name))


@cache
def library_component() -> Callable:
    """What brings the code of all browser parts into a page."""
    return st.components.v2.component("headlight_library", js=library())


def load_library() -> None:
    """Have the code of the pictures in the page, before the first of them."""
    library_component()(key="library")


def show(
    picture: CanvasPicture,
    key: str,
    on_pick: Callable[[], None] | None = None,
    *,
    save: str | None = None,
) -> None:
    """Draw a picture; `on_pick` runs when something in it was clicked, found by `picked`.

    Where `save` says what it shows, it can be saved.
    """
    options = {"on_picked_change": on_pick} if on_pick else {}
    component(picture.name)(data=picture.data, key=key, **options)
    if save:
        offer(Picture(save, key, picture.numbers, picture.to_html))


def show_plotly(
    figure: go.Figure,
    key: str,
    *,
    save: str,
    numbers: Mapping[str, Numbers],
) -> None:
    """Draw a chart of Plotly's, which can be saved with its numbers; `save` says what it shows."""
    image = {"filename": said().file_name(save), "scale": 2}
    config = {"displaylogo": False, "toImageButtonOptions": image}
    st.plotly_chart(figure, key=key, config=config)

    def to_html(title: str, caption: str) -> str:
        page = figure.to_html(include_plotlyjs=True, config=config)
        head = f"<head><title>{html.escape(title)}</title>"
        page = page.replace("<head>", head, 1)
        start, end, rest = page.rpartition("</body>")
        return f"{start}{caption_html(caption)}{end}{rest}"

    offer(Picture(save, key, numbers, to_html))
    words = html.escape(f"{save}. {largest(numbers)}")
    st.html(f'<p class="text-alternative">{words}</p>')


def show_altair(chart: alt.TopLevelMixin, key: str, *, save: str) -> None:
    """Draw a chart of Altair's, which can be saved with its numbers; `save` says what it shows."""
    st.altair_chart(chart, key=key)
    offer(Picture(save, key, from_chart(chart)))


def offer(picture: Picture) -> None:
    """The menu that saves the picture just drawn."""
    key = f"save-{picture.key}"

    def ask() -> None:
        st.session_state.file_asked_for = picture_key, picked(key, "wanted")

    picture_key = picture.key  # alone, so that the session does not keep the numbers
    run = said()
    menu = save_menu(
        run.file_name(picture.what),
        run.caption(picture.what),
        picture.what,
        formats_of(picture),
        made_here=("png", "svg") if picture.to_html else ("png", "svg", "html"),
        file=file_asked_for(picture),
    )
    component(menu.name)(data=menu.data, key=key, on_wanted_change=ask)


def picked(key: str, name: str = "picked") -> Any:
    """What was clicked in the picture with this key."""
    return st.session_state[key][name]


def all_picked(key: str) -> list[Any]:
    """What was clicked in the picture with this key since this was asked last, in order.

    It is for clicks that add up, in a part that answers with all of the last seconds.
    """
    answer = picked(key)
    known = st.session_state.setdefault("answers", {})
    load, last = known.get(key, (None, 0))
    new = [one for one in answer["answers"] if answer["load"] != load or one[0] > last]
    known[key] = answer["load"], answer["answers"][-1][0]
    return [value for _, value in new]


def chips(tokens: Sequence[Token], before: Sequence[Token] | None = None) -> list[Chip]:
    """Tokens as chips; a piece that goes on a word is joined to the one before it.

    Where there are tokens of the text `before`, those not among them in their order are marked.
    """
    changed = set() if before is None else changed_places(before, tokens)
    made = []
    for index, token in enumerate(tokens):
        kind = "special" if token.is_special else "unknown" if token.is_unknown else "piece"
        joined = kind != "special" and index > 0 and tokens[index - 1].end == token.start
        made.append(Chip(token.text, joined, kind, index in changed))
    return made


def piece_chips(pieces: Sequence[Piece], segments: bool) -> list[Chip]:
    """Pieces as chips, those of one word joined; coloured by their `segments` where wanted."""
    kinds = {"written": "piece"}
    return [
        Chip(
            piece.text,
            index > 0 and pieces[index - 1].word == piece.word,
            kinds.get(piece.role, piece.role),
            segment=piece.segment if segments else None,
        )
        for index, piece in enumerate(pieces)
    ]


def changed_places(before: Sequence[Token], after: Sequence[Token]) -> set[int]:
    """The places in `after` of tokens that were put in or replaced."""
    pairs = aligned([token.text for token in before], [token.text for token in after])
    return {place for counterpart, place in pairs if counterpart is None}
