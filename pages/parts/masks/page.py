"""Masks: change what attention may see, and watch the weights and the output change."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from model.edits import Edits
from model.trace import Site
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
from pages.shared.runs.translator import TranslatorRun, translated, translator
from pages.shared.show.captions import site_words
from pages.shared.show.cells import open_inside
from pages.shared.show.comparison import compare_probabilities, compare_scores, compare_translations
from pages.shared.show.saving import About, about
from pages.shared.show.words import HEAD_WORDS, MASK_WORDS
from pages.shared.state import edit_history, models
from pages.shared.state.choices import HEAD_NUMBER, KIND, TARGET, chosen, padding, put
from pages.shared.state.page import Page
from pages.shared.widgets.choose import choose, choose_kind, choose_layer, editor

WINDOWS = (None, *range(6))  # farthest distance from the diagonal that stays open
MASK_KIND = replace(KIND, key="mask_kind", default="decoder")
PAD_TO = padding("pad_to", "Pad both sides to")


def run_of(sentence: str) -> TranslatorRun:
    """Draw the choices of what the model runs on, its target and its padding; return the run."""
    text, length = st.columns([5, 1], gap="small", vertical_alignment="bottom")
    with text:
        label = "Known target: the translation as trained, or type your own"
        target = choose(TARGET, label=label, placeholder=translated(sentence).text)
    trace = TranslatorRun(sentence, target).trace
    tokens = max(len(trace.source_tokens), len(trace.target_tokens))
    most = min(tokens + 8, translator().model.config.max_positions)
    lengths = [None, *range(tokens + 1, most + 1)]
    if chosen(PAD_TO) not in lengths:
        put(PAD_TO, None)
    with length:
        pad_to = choose(PAD_TO, lengths, widget=st.selectbox, help=MASK_WORDS["pad to"])
    return TranslatorRun(sentence, target, pad_to=pad_to)


def switches(edits: Edits) -> None:
    """Draw the switches for whole masks, and the way back."""
    kind = chosen(MASK_KIND)

    def set_window(width: int | None) -> None:
        """Close the cells farther from the diagonal than this width; None closes none."""
        edits = edit_history.edits()
        others = {other: each for other, each in edits.windows.items() if other != kind}
        windows = others if width is None else {**others, kind: width}
        edit_history.change(replace(edits, windows=windows))

    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, label in (("look_ahead", "Look-ahead mask"), ("padding", "Padding mask")):
            editor(st.toggle, label, getattr(edits, name), partial(switch, name), name)
        width = edits.windows.get(kind)
        # A link may name a wider one.
        windows = {each: "off" if each is None else str(each) for each in (*WINDOWS, width)}
        box = {"options": windows, "format_func": windows.get, "help": MASK_WORDS["window"]}
        editor(st.selectbox, "Local window", width, set_window, "window", **box, width=140)
        st.button("Undo", on_click=edit_history.undo, disabled=not edit_history.can_undo())
        st.button("Reset masks", on_click=reset, disabled=not edits.changes_masks)
    address.note_too_many()


def switch(name: str, on: bool) -> None:
    """Switch a whole mask on or off."""
    edit_history.change(replace(edit_history.edits(), **{name: on}))


def reset() -> None:
    """Undo every change of the masks, and leave the heads as they are."""
    edit_history.change(Edits(gates=edit_history.edits().gates))


@section
def in_force(trained: TranslatorRun, site: Site, head: int) -> None:
    """Draw the mask of one head, to be changed, and all that follows from it."""
    edits = edit_history.edits()
    if edits.gates:
        st.info(HEAD_WORDS["heads in force"])
    run = replace(trained, edits=edits)
    before, after, of = trained.trace, run.trace, about_run(run)
    switches(edits)
    records = before.attention[site], after.attention[site]
    words = site_words(*site, head)
    focus = Focus(site, head, tokens_of(after, site.kind), words, of)
    mask, output = st.columns([6, 5], gap="medium")
    with mask:
        st.subheader("The mask in force")
        matrix(*records, focus)
    with output:
        st.subheader("What it does to the output")
        translations = st.container()
        compare_scores(before, after, changed=edits != Edits(), loss=True)
        compare_probabilities(before, after, of=of)
        st.caption(MASK_WORDS["known target"])
    st.subheader("From scores to weights")
    same = {"changed": True, "pad_to": run.pad_to, "target": run.target}
    stages(*records, focus, partial(open_inside, *site, head, **same))
    st.subheader("Why −∞ and nothing else")
    ways_of_blocking(records[1], focus)
    with translations:  # last, for decoding takes longer than all else
        as_trained = translated(run.sentence)
        compare_translations(as_trained, translated(run.sentence, edits, run.pad_to), of=of)


@section
def one_head(run: TranslatorRun) -> None:
    """Draw the choice of a head and its mask: apart, so that a click in the mask draws it alone."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = choose_kind(MASK_KIND)
        layer = choose_layer(kind)
        head = choose(HEAD_NUMBER, range(translator().model.config.heads))
        choose(SCOPE)
    in_force(run, Site(kind, layer), head)


def about_run(run: TranslatorRun) -> About:
    """Return what the pictures of a run are of."""
    padded = f"both sides padded to {run.pad_to} tokens" if run.pad_to else ""
    return about(run.sentence, edits=run.edits, target=run.target_text, changes=padded)


@section
def everything(sentence: str) -> None:
    """Draw everything under the sentence box."""
    run = run_of(sentence)
    one_head(run)
    st.subheader("The masks as trained")
    trained_masks(run, about_run(run))
    if not models.chosen().is_own:
        st.subheader("Why the decoder may not look ahead")
        why_not_look_ahead(sentence, run.target_text)


def masks() -> None:
    """Draw the page."""
    if sentence := sentence_box():
        everything(sentence)


MASKS = Page(
    key="masks",
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
