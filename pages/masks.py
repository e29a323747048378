"""Change what attention may see, and watch the weights and the output change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st
import torch

from model.edits import CellEdit, Edits
from model.insight.scoring import trace_log_probabilities
from model.masks import masked_softmax
from model.trace import AttentionRecord, Site, Trace
from pages.shared.controls.choose import choose_kind, choose_layer
from pages.shared.controls.mirror import mirror, moved
from pages.shared.controls.sentence import sentence_box
from pages.shared.frame.frame import open_page
from pages.shared.link import address
from pages.shared.runs.arrays import tokens_of
from pages.shared.runs.translator import TranslatorRun, masks_of, traced, translated, translator
from pages.shared.runs.unmasked import cheat
from pages.shared.show.captions import site_words
from pages.shared.show.cells import OpenCell, attention_map, open_inside
from pages.shared.show.comparison import compare_probabilities, compare_translations
from pages.shared.show.pictures import all_picked, show
from pages.shared.show.saving import about
from pages.shared.show.words import BLOCKING, HEAD_WORDS, MASK_WORDS
from pages.shared.state import edit_history, models, scene
from viz import attention_heatmap, mask_matrix

Tokens = tuple[list[str], list[str]]  # of the queries, of the keys
SCOPES = ("everywhere", "this layer", "this head")


def switch(name: str) -> None:
    """Carry a toggle over into the edits."""
    if moved(name):
        edit_history.change(replace(edit_history.edits(), **{name: st.session_state[name]}))


def set_window() -> None:
    """Close the cells farther from the diagonal than the chosen width, or none."""
    if not moved("window"):
        return
    windows = dict(edit_history.edits().windows)
    windows.pop(st.session_state.mask_kind, None)
    if st.session_state.window != "off":
        windows[st.session_state.mask_kind] = st.session_state.window
    edit_history.change(replace(edit_history.edits(), windows=windows))


def edit_cells(site: Site, head: int) -> None:
    """Close or open the cells that were clicked or dragged over in the mask of a head, from 0."""
    scope = st.session_state.scope
    layer = None if scope == "everywhere" else site.layer
    only = head if scope == "this head" else None
    for stroke in all_picked("matrix"):
        cells = tuple(
            CellEdit(site.kind, query, key, stroke["opened"], layer, only)
            for query, key in stroke["cells"]
        )
        edits = edit_history.edits()
        edit_history.change(replace(edits, cells=edits.cells + cells))


def reset() -> None:
    """Take back every change of the masks, and leave the heads as they are."""
    edit_history.change(Edits(gates=edit_history.edits().gates))


def run_of(sentence: str) -> tuple[str, int | None]:
    """The boxes that choose what the model runs on: its target, and its length with padding."""
    text, length = st.columns([5, 1], gap="small", vertical_alignment="bottom")
    with text:
        target = st.text_input(
            "Known target: the translation as trained, or type your own",
            key="target",
            max_chars=scene.LONGEST_SENTENCE,
            placeholder=translated(sentence).text,
        )
    trace = traced(sentence, target)
    tokens = max(len(trace.source_tokens), len(trace.target_tokens))
    most = min(tokens + 8, translator().model.config.max_positions)
    choices = ["off", *range(tokens + 1, most + 1)]
    if st.session_state.get("pad_to") not in choices:
        st.session_state.pad_to = "off"
    with length:
        pad_to = st.selectbox("Pad both sides to", choices, key="pad_to", help=MASK_WORDS["pad to"])
    return target, None if pad_to == "off" else pad_to


def switches(edits: Edits) -> None:
    """The switches for whole masks, and the way back."""
    mirror("look_ahead", edits.look_ahead)
    mirror("padding", edits.padding)
    mirror("window", edits.windows.get(st.session_state.mask_kind, "off"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.toggle("Look-ahead mask", key="look_ahead", on_change=switch, args=["look_ahead"])
        st.toggle("Padding mask", key="padding", on_change=switch, args=["padding"])
        st.selectbox(
            "Local window",
            ["off", *range(6)],
            key="window",
            on_change=set_window,
            width=140,
            help=MASK_WORDS["window"],
        )
        st.button("Undo", on_click=edit_history.undo, disabled=not edit_history.can_undo())
        st.button("Reset masks", on_click=reset, disabled=not edits.changes_masks)
    address.note_too_many()


def trained_masks(run: TranslatorRun) -> None:
    """The masks of the model as trained, on the visitor's tokens, in the shapes it uses."""
    target, source = tokens_of(run.trace, "cross")
    padding, look_ahead, combined = (mask.cpu().numpy() for mask in masks_of(run))
    pictures = {
        "padding mask": mask_matrix(padding, ["every query"], source, label="Padding mask"),
        "look-ahead mask": mask_matrix(look_ahead, target, target, label="Look-ahead mask"),
        "both": mask_matrix(combined, target, target, label="Both, as the decoder uses them"),
    }
    for column, (name, picture) in zip(st.columns(3), pictures.items(), strict=True):
        with column:
            st.markdown(MASK_WORDS[name])
            show(picture, f"trained-{name}", save=f"Mask as trained, {name}")


def matrix(
    before: AttentionRecord,
    after: AttentionRecord,
    site: Site,
    head: int,
    tokens: Tokens,
    save: str,
) -> None:
    """The mask in force, to be changed by hand."""
    trained, visible = (
        record.masked_scores[0, head].isfinite().cpu().numpy() for record in (before, after)
    )
    picture = mask_matrix(visible, *tokens, trained=trained, editable=True, label="Mask in force")
    show(picture, "matrix", lambda: edit_cells(site, head), save=f"Mask in force, {save}")
    st.caption(MASK_WORDS["edit"])


def stages(
    before: AttentionRecord,
    after: AttentionRecord,
    head: int,
    tokens: Tokens,
    save: str,
    open_cell: OpenCell,
) -> None:
    """The way from scores to weights of one head, and what the changes did to it."""
    blocked = after.masked_scores[0, head].isneginf().cpu().numpy()
    scores, weights = (part[0, head].cpu().numpy() for part in (after.scores, after.weights))
    difference = weights - before.weights[0, head].cpu().numpy()
    masked = after.masked_scores[0, head].cpu().numpy()
    raw = {"maximum": float(np.abs(scores).max()), "diverging": True}
    maps = {
        "1. Scores: q·k / √d": (scores, {"name": "score", **raw}),
        "2. Masked scores: −∞ where blocked": (
            masked,
            {"name": "masked score", "blocked": blocked, **raw},
        ),
        "3. Weights: the softmax of each row": (weights, {"blocked": blocked}),
        "4. Weights minus those as trained": (
            difference,
            {"name": "change", "diverging": True, "maximum": None},
        ),
    }
    columns = [*st.columns(2), *st.columns(2)]
    for column, (title, (values, options)) in zip(columns, maps.items(), strict=True):
        with column:
            st.markdown(f"**{title}**")
            stage = title.partition(" ")[2].partition(":")[0]
            picture = attention_heatmap(values, *tokens, clickable=True, **options)
            attention_map(picture, title, open_cell, save=f"{stage}, {save}")


def consequence(before: Trace, after: Trace) -> None:
    """What the changes do to the known target: its loss, and the probability of each token."""
    loss, edited_loss = (-trace_log_probabilities(trace).mean().item() for trace in (before, after))
    change = f"{edited_loss - loss:+.3f} against {loss:.3f} as trained"
    st.metric(
        "Loss on the known target",
        f"{edited_loss:.3f} nats a token",
        change if edit_history.edits() != Edits() else None,
        delta_color="inverse",
    )
    compare_probabilities(before, after)
    st.caption(MASK_WORDS["known target"])


def why_not_look_ahead(sentence: str, target: str) -> None:
    """A model that could always see the next token, on the same target."""
    loss, text = cheat(sentence, target)
    numbers, words = st.columns([1, 2], gap="medium")
    with numbers:
        st.metric("Loss of the model trained without mask", f"{loss:.3f} nats a token")
    with words:
        st.caption("Its own translation, when there is no answer to look at:")
        st.text(text or "(nothing)")
    st.caption(MASK_WORDS["cheating"])


def ways_of_blocking(record: AttentionRecord, head: int, tokens: Tokens, save: str) -> None:
    """The same mask by three ways, with one row blocked completely."""
    queries, _ = tokens
    choice, picture = st.columns(2, gap="medium")
    with choice:
        method = st.segmented_control(
            "Block with", list(BLOCKING), key="method", default="-inf", required=True
        )
        row = st.selectbox(
            "Block this query completely",
            range(len(queries)),
            index=min(1, len(queries) - 1),
            format_func=lambda position: f"{position + 1}: {queries[position]}",
        )
        visible = record.masked_scores[0, head].isfinite()
        visible[row] = False
        weights = masked_softmax(record.scores[0, head], visible, method)
        sums = weights.sum(dim=-1)
        others = torch.cat([sums[:row], sums[row + 1 :]])
        st.metric("Sum of the blocked row", f"{sums[row]:.3f}")
        if len(others):
            st.metric("Sums of the other rows", f"{others.min():.3f} to {others.max():.3f}")
        st.metric("Weight on forbidden keys", f"{weights[~visible].sum():.3f}")
        st.caption(BLOCKING[method])
    with picture:
        heatmap = attention_heatmap(weights.cpu().numpy(), *tokens)
        show(heatmap, "blocking", save=f"Row {row + 1} blocked with {method}, {save}")


@address.fragment
def in_force(sentence: str, target: str, pad_to: int | None, site: Site, head: int) -> None:
    """The mask of one head, from 0, to be changed, and all that follows from it."""
    edits = edit_history.edits()
    if edits.gates:
        st.info(HEAD_WORDS["heads in force"])
    before, after = traced(sentence, target, pad_to=pad_to), traced(sentence, target, edits, pad_to)
    about(sentence, edits=edits, **told(sentence, target, pad_to))
    switches(edits)
    records = before.attention[site], after.attention[site]
    tokens = tokens_of(after, site.kind)
    words = site_words(site.kind, site.layer + 1, str(head + 1))
    mask, output = st.columns([6, 5], gap="medium")
    with mask:
        st.subheader("The mask in force")
        matrix(*records, site, head, tokens, words)
    with output:
        st.subheader("What it does to the output")
        translations = st.container()
        consequence(before, after)
    st.subheader("From scores to weights")
    run = {"changed": True, "pad_to": pad_to, "target": target}
    stages(*records, head, tokens, words, lambda *cell: open_inside(*site, head, *cell, **run))
    st.subheader("Why −∞ and nothing else")
    ways_of_blocking(records[1], head, tokens, words)
    with translations:  # last, for decoding takes longer than all else
        compare_translations(translated(sentence), translated(sentence, edits, pad_to))
    address.publish()


@address.fragment
def one_head(sentence: str, target: str, pad_to: int | None) -> None:
    """The choice of a head, and its mask: apart, so that a click in the mask draws it alone."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = choose_kind("mask_kind")
        layer = choose_layer(kind)
        heads = range(1, translator().model.config.heads + 1)
        head = st.segmented_control("Head", heads, key="head_number", required=True)
        st.segmented_control(
            "A click changes", SCOPES, key="scope", default=SCOPES[0], required=True
        )
    in_force(sentence, target, pad_to, Site(kind, layer - 1), head - 1)


def told(sentence: str, target: str, pad_to: int | None) -> dict[str, str]:
    """What files say of a run, besides its sentence and edits."""
    padding = f"both sides padded to {pad_to} tokens" if pad_to else ""
    return {"target": target or translated(sentence).text, "changes": padding}


@address.fragment
def masks(sentence: str) -> None:
    """Everything under the sentence box."""
    target, pad_to = run_of(sentence)
    one_head(sentence, target, pad_to)
    st.subheader("The masks as trained")
    about(sentence, **told(sentence, target, pad_to))
    trained_masks(TranslatorRun(models.chosen().key, sentence, target, pad_to=pad_to))
    if not models.chosen().is_own:
        st.subheader("Why the decoder may not look ahead")
        why_not_look_ahead(sentence, target or translated(sentence).text)


open_page("Masks")
if sentence := sentence_box():
    masks(sentence)
