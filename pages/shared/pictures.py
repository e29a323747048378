"""Pictures on a page: mounting the browser parts, and tokens as chips."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import streamlit as st

from model.pieces import Piece
from model.tokenizer import Token
from viz import CanvasPicture, Chip
from viz.canvas import markup, script, stylesheet
from viz.tokens import aligned

PLOTLY = {"displaylogo": False}  # for every chart of Plotly's


@cache
def component(name: str) -> Callable:
    """The Streamlit side of a browser part."""
    return st.components.v2.component(
        f"headlight_{name}", html=markup(name), css=stylesheet(name), js=script(name)
    )


def show(picture: CanvasPicture, key: str, on_pick: Callable[[], None] | None = None) -> None:
    """Draw a picture; `on_pick` runs when something in it was clicked, found by `picked`."""
    options = {"on_picked_change": on_pick} if on_pick else {}
    component(picture.name)(data=picture.data, key=key, **options)


def picked(key: str) -> list | None:
    """What was clicked in the picture with this key."""
    return st.session_state[key].picked


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
