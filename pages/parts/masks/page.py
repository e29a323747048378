"""Masks: change what attention may see, and watch the weights and the output change."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from model.edits import Edits
from model.insight.scoring import trace_log_probabilities
from model.trace import Site, Trace
from pages.parts.masks.lessons import (
    BLOCKED_ROW,
    METHOD,
    trained_masks,
    ways_of_blocking,
    why_not_look_ahead,
)
from pages.parts.masks.stages import SCOPE, Focus, matrix, stages
from pages.shared.controls.sentence import sentence_box
from pages.shared.link import address
from pages.shared.link.address import section
from pages.shared.runs.arrays import tokens_of
from pages.shared.runs.translator import TranslatorRun, traced, translated, translator
from pages.shared.show.captions import site_words
from pages.shared.show.cells import open_inside
from pages.shared.show.comparison import compare_probabilities, compare_translations
from pages.shared.show.saving import About, about
from pages.shared.show.words import HEAD_WORDS, MASK_WORDS
from pages.shared.state import edit_history, models
from pages.shared.state.choices import HEAD_NUMBER, KIND, TARGET, chosen, padding, put
from pages.shared.state.page import Page
from pages.shared.widgets.choose import choose, choose_kind, choose_layer, editor

WINDOWS = (None, *range(6))  # farthest distance from the diagonal that stays open
MASK_KIND = replace(KIND, key="mask_kind", default="decoder")
PAD_TO = padding("pad_to", "Pad both sides to")


def run_of(sentence: str) -> tuple[str, int | None]:
    """Draw the choices of what the model runs on: its target, and its length with padding."""
    text, length = st.columns([5, 1], gap="small", vertical_alignment="bottom")
    with text:
        target = choose(
            TARGET,
            label="Known target: the translation as trained, or type your own",
            placeholder=translated(sentence).text,
        )
    trace = traced(sentence, target)
    tokens = max(len(trace.source_tokens), len(trace.target_tokens))
    most = min(tokens + 8, translator().model.config.max_positions)
    lengths = [None, *range(tokens + 1, most + 1)]
    if chosen(PAD_TO) not in lengths:
        put(PAD_TO, None)
    with length:
        return target, choose(PAD_TO, lengths, widget=st.selectbox, help=MASK_WORDS["pad to"])


def switches(edits: Edits) -> None:
    """Draw the switches for whole masks, and the way back."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, label in (("look_ahead", "Look-ahead mask"), ("padding", "Padding mask")):

            def switch(on: bool, name: str = name) -> None:
                edit_history.change(replace(edit_history.edits(), **{name: on}))

            editor(st.toggle, label, getattr(edits, name), switch, name)
        width = edits.windows.get(chosen(MASK_KIND))
        editor(
            st.selectbox,
            "Local window",
            width,
            set_window,
            "window",
            options=dict.fromkeys([*WINDOWS, width]),  # a link may name a wider one
            format_func=lambda width: "off" if width is None else str(width),
            width=140,
            help=MASK_WORDS["window"],
        )
        st.button("Undo", on_click=edit_history.undo, disabled=not edit_history.can_undo())
        st.button("Reset masks", on_click=reset, disabled=not edits.changes_masks)
    address.note_too_many()


def set_window(width: int | None) -> None:
    """Close the cells farther from the diagonal than the chosen width, or none."""
    windows = dict(edit_history.edits().windows)
    windows.pop(chosen(MASK_KIND), None)
    if width is not None:
        windows[chosen(MASK_KIND)] = width
    edit_history.change(replace(edit_history.edits(), windows=windows))


def reset() -> None:
    """Undo every change of the masks, and leave the heads as they are."""
    edit_history.change(Edits(gates=edit_history.edits().gates))


def consequence(before: Trace, after: Trace, of: About) -> None:
    """Draw what the changes do to the known target: its loss, and the probability of each token."""
    loss, edited_loss = (-trace_log_probabilities(trace).mean().item() for trace in (before, after))
    change = f"{edited_loss - loss:+.3f} against {loss:.3f} as trained"
    st.metric(
        "Loss on the known target",
        f"{edited_loss:.3f} nats a token",
        change if edit_history.edits() != Edits() else None,
        delta_color="inverse",
    )
    compare_probabilities(before, after, of=of)
    st.caption(MASK_WORDS["known target"])


@section
def in_force(sentence: str, target: str, pad_to: int | None, site: Site, head: int) -> None:
    """Draw the mask of one head, to be changed, and all that follows from it."""
    edits = edit_history.edits()
    if edits.gates:
        st.info(HEAD_WORDS["heads in force"])
    before, after = traced(sentence, target, pad_to=pad_to), traced(sentence, target, edits, pad_to)
    of = run_about(sentence, target, pad_to, edits)
    switches(edits)
    records = before.attention[site], after.attention[site]
    words = site_words(site.kind, site.layer, head)
    focus = Focus(site, head, tokens_of(after, site.kind), words, of)
    mask, output = st.columns([6, 5], gap="medium")
    with mask:
        st.subheader("The mask in force")
        matrix(*records, focus)
    with output:
        st.subheader("What it does to the output")
        translations = st.container()
        consequence(before, after, of)
    st.subheader("From scores to weights")
    run = {"changed": True, "pad_to": pad_to, "target": target}
    stages(*records, focus, lambda *cell: open_inside(*site, head, *cell, **run))
    st.subheader("Why −∞ and nothing else")
    ways_of_blocking(records[1], focus)
    with translations:  # last, for decoding takes longer than all else
        compare_translations(translated(sentence), translated(sentence, edits, pad_to), of=of)


@section
def one_head(sentence: str, target: str, pad_to: int | None) -> None:
    """Draw the choice of a head and its mask: apart, so that a click in the mask draws it alone."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = choose_kind(MASK_KIND)
        layer = choose_layer(kind)
        head = choose(HEAD_NUMBER, range(translator().model.config.heads))
        choose(SCOPE)
    in_force(sentence, target, pad_to, Site(kind, layer), head)


def run_about(sentence: str, target: str, pad_to: int | None, edits: Edits = Edits()) -> About:
    """Return what the pictures of a run are of."""
    padded = f"both sides padded to {pad_to} tokens" if pad_to else ""
    read = target or translated(sentence).text
    return about(sentence, edits=edits, target=read, changes=padded)


@section
def everything(sentence: str) -> None:
    """Draw everything under the sentence box."""
    target, pad_to = run_of(sentence)
    one_head(sentence, target, pad_to)
    st.subheader("The masks as trained")
    run = TranslatorRun(models.chosen().key, sentence, target, pad_to=pad_to)
    trained_masks(run, run_about(sentence, target, pad_to))
    if not models.chosen().is_own:
        st.subheader("Why the decoder may not look ahead")
        why_not_look_ahead(sentence, target or translated(sentence).text)


def masks() -> None:
    """Draw the page."""
    if sentence := sentence_box():
        everything(sentence)


MASKS = Page(
    key="masks",
    file="pages/masks.py",
    title="Masks",
    purpose="Change what attention may see, and what that does",
    body=masks,
    choices=(MASK_KIND, HEAD_NUMBER, PAD_TO, TARGET, SCOPE, METHOD, BLOCKED_ROW),
    pictures={
        "matrix": "the mask in force",
        "trained": "the translation as trained",
        "changed": "the translation with changes",
        "trained-padding mask": "the padding mask",
        "trained-look-ahead mask": "the look-ahead mask",
        "trained-both": "both masks",
    },
    first="matrix",
    kind=MASK_KIND,
)
