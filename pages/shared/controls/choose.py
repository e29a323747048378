"""The controls that choose a site, a head and a token, alike on every page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import streamlit as st

from model.trace import Kind
from pages.shared.runs.translator import translator
from pages.shared.state import scene

Option = TypeVar("Option")


def choose_kind(
    key: str = "kind", kinds: Sequence[Kind] = (*scene.KINDS,), **options: object
) -> Kind:
    """The kind of attention; `options` are those of Streamlit's segmented control."""
    return st.segmented_control(
        "Kind of attention",
        kinds,
        key=key,
        format_func=scene.KINDS.get,
        required=True,
        **options,
    )


def choose_layer(kind: Kind) -> int:
    """A layer of a kind, from 1."""
    return choose("Layer", range(1, translator().model.config.layers(kind) + 1), "layer")


def choose_head(summaries: bool = True) -> str:
    """A head by its number, from 1, or the heads' mean or maximum."""
    heads = scene.head_names(translator().model.config.heads)
    return choose("Head", heads if summaries else heads[: -len(scene.SUMMARIES)], "head")


def choose_picture(key: str = "picture") -> str:
    """How one head is drawn in large."""
    return st.segmented_control(
        "Picture", scene.PICTURES, key=key, format_func=str.title, required=True
    )


def choose(label: str, options: Sequence[Option], key: str) -> Option:
    """One of some options; the first where what was chosen is no longer among them."""
    if st.session_state.get(key) not in options:
        st.session_state[key] = options[0]
    return st.segmented_control(label, options, key=key, required=True, wrap=True)


def choose_token(label: str, tokens: Sequence[str], key: str) -> int:
    """A token by its place, from 0; a place beyond the last token is brought back to it."""
    st.session_state[key] = min(st.session_state[key], len(tokens))
    place = st.selectbox(
        label,
        range(1, len(tokens) + 1),
        key=key,
        format_func=lambda number: f"{number}: {tokens[number - 1]}",
        width=240,
    )
    return place - 1
