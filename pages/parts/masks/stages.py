"""The mask of one head in force, and the way from its scores to its weights."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from model.edits import CellEdit
from model.trace import AttentionRecord, Site
from pages.shared.show.cells import OpenCell, attention_map
from pages.shared.show.pictures import all_picked, show
from pages.shared.show.saving import About
from pages.shared.show.words import MASK_WORDS
from pages.shared.state import edit_history
from pages.shared.state.choice import one_of
from pages.shared.state.choices import chosen
from viz import attention_heatmap, mask_matrix

Tokens = tuple[list[str], list[str]]  # of the queries, of the keys

SCOPES = {"everywhere": "everywhere", "layer": "this layer", "head": "this head"}
SCOPE = one_of("scope", SCOPES, label="A click changes")


@dataclass(frozen=True)
class Focus:
    """The head that is looked at, from 0, its tokens, and what its pictures are of."""

    site: Site
    head: int
    tokens: Tokens
    words: str
    of: About


def edit_cells(site: Site, head: int) -> None:
    """Close or open the cells that were clicked or dragged over in the mask of a head, from 0."""
    layer = None if chosen(SCOPE) == "everywhere" else site.layer
    only = head if chosen(SCOPE) == "head" else None
    for stroke in all_picked("matrix"):
        cells = tuple(
            CellEdit(site.kind, query, key, stroke["opened"], layer, only)
            for query, key in stroke["cells"]
        )
        edits = edit_history.edits()
        edit_history.change(replace(edits, cells=edits.cells + cells))


def matrix(before: AttentionRecord, after: AttentionRecord, focus: Focus) -> None:
    """Draw the mask in force, to be changed by hand."""
    site, head = focus.site, focus.head
    label, masks = "Mask in force", [record.masked_scores[0, head] for record in (before, after)]
    trained, visible = (mask.isfinite().cpu().numpy() for mask in masks)
    picture = mask_matrix(visible, *focus.tokens, trained=trained, editable=True, label=label)
    what = f"{label}, {focus.words}"
    show(picture, "matrix", lambda: edit_cells(site, head), of=focus.of, what=what)
    st.caption(MASK_WORDS["edit"])


def stages(
    before: AttentionRecord, after: AttentionRecord, focus: Focus, open_cell: OpenCell
) -> None:
    """Draw the way from scores to weights of one head, and what the changes did to it."""
    head = focus.head
    blocked = after.masked_scores[0, head].isneginf().cpu().numpy()
    scores, weights = (part[0, head].cpu().numpy() for part in (after.scores, after.weights))
    difference = weights - before.weights[0, head].cpu().numpy()
    masked = after.masked_scores[0, head].cpu().numpy()
    raw = {"maximum": float(np.abs(scores).max()), "diverging": True}
    left = {"name": "masked score", "blocked": blocked, **raw}
    change = {"name": "change", "diverging": True, "maximum": None}
    maps = {
        "1. Scores: q·k / √d": (scores, {"name": "score", **raw}),
        "2. Masked scores: −∞ where blocked": (masked, left),
        "3. Weights: the softmax of each row": (weights, {"blocked": blocked}),
        "4. Weights minus those as trained": (difference, change),
    }
    columns = [*st.columns(2), *st.columns(2)]
    for column, (title, (values, options)) in zip(columns, maps.items(), strict=True):
        with column:
            st.markdown(f"**{title}**")
            stage = title.partition(" ")[2].partition(":")[0]
            picture = attention_heatmap(values, *focus.tokens, clickable=True, **options)
            attention_map(picture, title, open_cell, of=focus.of, what=f"{stage}, {focus.words}")
