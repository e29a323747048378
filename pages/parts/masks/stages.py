"""The mask of a head, which clicks change, and the stages from its scores to its weights."""

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from headlight.model.edits import CellEdit, Edits
from headlight.model.edits.attention import AttentionEdit
from headlight.model.transformer.trace import AttentionRecord, Site
from headlight.pages.parts.masks.words import MASK_WORDS
from headlight.pages.shared.runs.arrays import blocked_cells, tokens_of
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.cells import OpenCell, attention_map
from headlight.pages.shared.show.pictures import all_picked, show
from headlight.pages.shared.show.saving import About
from headlight.pages.shared.state import edit_history
from headlight.pages.shared.state.choice import one_of
from headlight.pages.shared.state.choices import chosen
from headlight.viz import attention_heatmap, mask_matrix

Tokens = tuple[list[str], list[str]]  # the labels of the queries, and of the keys

SCOPES = {"everywhere": "all heads and layers", "layer": "this layer", "head": "this head"}
SCOPE = one_of("scope", SCOPES, label="A click changes")


@dataclass(frozen=True)
class Focus:
    """The head that the page shows: its number from 0, its tokens' labels, its name in words.

    `of` describes the run in the files of saved pictures.
    """

    site: Site
    head: int
    tokens: Tokens
    words: str
    of: About


def edit_cells(run: ModelRun, focus: Focus, trained: np.ndarray) -> None:
    """Close or open the cells of a mask that were clicked or dragged over; a callback.

    `trained` (Q, K) is true where the query sees the key in the model as trained.
    """
    site, head = focus.site, focus.head
    visible = visible_without_cells(run, focus, trained)
    layer = None if chosen(SCOPE) == "everywhere" else site.layer
    only = head if chosen(SCOPE) == "head" else None
    for stroke in all_picked("matrix"):
        cells = tuple(
            CellEdit(site.kind, query, key, stroke["opened"], layer, only)
            for query, key in stroke["cells"]
        )
        edit_history.change(edit_history.edits().after_stroke(cells, site, head, visible))


def visible_without_cells(run: ModelRun, focus: Focus, trained: np.ndarray) -> Tensor:
    """Return which keys each query would see (Q, K) if no single cell had been closed or opened."""
    changes = replace(run, edits=replace(run.edits, cells=())).changes()
    edit = changes.get(focus.site, AttentionEdit())
    visible = torch.from_numpy(trained)
    return edit.visible(visible, visible)


def asks_to_open(edits: Edits, site: Site, record: AttentionRecord) -> bool:
    """Return whether the visitor wants to open cells that are closed in the model as trained.

    `record` is that of the site, in a run of the model as trained.
    """
    blocked = blocked_cells(record)
    wanted = np.zeros_like(blocked)
    for cell in edits.cells:
        if cell.opened and cell.kind == site.kind:
            wanted[cell.query : cell.query + 1, cell.key : cell.key + 1] = True
    return bool(edits.off or (wanted & blocked).any())


def matrix(run: ModelRun, before: AttentionRecord, after: AttentionRecord, focus: Focus) -> None:
    """Draw a head's present mask; clicks on cells close or open them, if that is allowed."""
    label = "Mask in force"
    masks = [record.masked_scores[0, focus.head] for record in (before, after)]
    trained, visible = (mask.isfinite().cpu().numpy() for mask in masks)
    is_open = edit_history.may_change()
    picture = mask_matrix(visible, *focus.tokens, trained=trained, editable=is_open, label=label)
    what = f"{label}, {focus.words}"
    edit = partial(edit_cells, run, focus, trained)
    if is_open:
        caption(MASK_WORDS["click"].format(heads=SCOPES[chosen(SCOPE)]))
    show(picture, "matrix", edit, of=focus.of, what=what, changes=True)
    is_written = focus.tokens[0] != tokens_of(run.trace(), focus.site.kind)[0]
    below = ["edit"] * is_open + ["written"] * is_written
    if below:
        caption(" ".join(MASK_WORDS[name] for name in below))


def stages(
    before: AttentionRecord, after: AttentionRecord, focus: Focus, open_cell: OpenCell | None
) -> None:
    """Draw a head's scores, its masked scores, its weights, and how changes affect the weights."""
    parts = parts_of(before, after, focus.head)
    columns = [*st.columns(2), *st.columns(2)]
    for number, (column, title) in enumerate(zip(columns, parts, strict=False), start=1):
        values, options = parts[title]
        with column:
            st.markdown(f"**{number}. {title}**")
            options |= {"clickable": open_cell is not None}
            picture = attention_heatmap(values, *focus.tokens, **options)
            what = f"{title.partition(':')[0]}, {focus.words}"
            attention_map(picture, f"{number}. {title}", open_cell, of=focus.of, what=what)


def parts_of(
    before: AttentionRecord, after: AttentionRecord, head: int
) -> dict[str, tuple[np.ndarray, dict]]:
    """Return the stages from scores to weights: by title, an array (Q, K) and drawing options.

    If the scores before the mask are not known, this first stage is left out.
    """
    masked, weights = (part[0, head].cpu().numpy() for part in (after.masked_scores, after.weights))
    difference = weights - before.weights[0, head].cpu().numpy()
    blocked, parts = np.isneginf(masked), {}
    scores = masked if after.scores is None else after.scores[0, head].cpu().numpy()
    largest = np.abs(scores).max(where=np.isfinite(scores), initial=0)
    raw = {"maximum": float(largest), "diverging": True}
    if after.scores is not None:
        parts[f"Scores: {score_words(after)}"] = scores, {"name": "score", **raw}
    left = {"name": "masked score", "blocked": blocked, **raw}
    change = {"name": "change", "diverging": True, "maximum": None}
    return parts | {
        "Masked scores: −∞ where blocked": (masked, left),
        "Weights: the softmax of each row": (weights, {"blocked": blocked}),
        "Weights minus those as trained": (difference, change),
    }


def score_words(record: AttentionRecord) -> str:
    """Return the formula of a record's scores, such as “q·k / √d + bias”."""
    usual = record.query.size(-1) ** -0.5
    scale = usual if record.scale is None else record.scale
    factor = " / √d" if math.isclose(scale, usual) else "" if scale == 1 else f" × {scale:.4g}"
    bias = "" if record.bias is None else " + bias"
    cap = "" if record.softcap is None else f", softly capped at {record.softcap:g}"
    return f"q·k{factor}{bias}{cap}"
