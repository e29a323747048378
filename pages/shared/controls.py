"""The controls that choose a site and a head, alike on every page."""

from __future__ import annotations

import streamlit as st

from model.trace import Kind
from pages.shared import scene
from pages.shared.loading import translator


def choose_kind(key: str = "kind", **options: object) -> Kind:
    """The kind of attention; `options` are those of Streamlit's segmented control."""
    return st.segmented_control(
        "Kind of attention",
        scene.KINDS,
        key=key,
        format_func=scene.KINDS.get,
        required=True,
        **options,
    )


def choose_layer(kind: Kind) -> int:
    """A layer of a kind, from 1."""
    layers = range(1, translator().model.config.layers(kind) + 1)
    return st.segmented_control("Layer", layers, key="layer", required=True)


def choose_head(summaries: bool = True) -> str:
    """A head by its number, from 1, or the heads' mean or maximum."""
    heads = scene.head_names(translator().model.config.heads)
    shown = heads if summaries else heads[: -len(scene.SUMMARIES)]
    return st.segmented_control("Head", shown, key="head", required=True, wrap=True)
