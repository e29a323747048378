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
    masks_by_layers,
    trained_masks,
    ways_of_blocking,
    why_not_look_ahead,
)
from pages.parts.masks.stages import SCOPE, Focus, asks_to_open, matrix, stages
from pages.shared.controls.sentence import ask, tokens_read
from pages.shared.link import address
from pages.shared.link.address import section
from pages.shared.runs.arrays import tokens_of
from pages.shared.runs.run import ModelRun
from pages.shared.show.captions import site_words
from pages.shared.show.cells import if_taken_apart, open_inside
from pages.shared.show.comparison import compare_answers, compare_scores, compare_writing
from pages.shared.show.saving import about_run
from pages.shared.show.words import HEAD_WORDS, MASK_WORDS
from pages.shared.state import edit_history, models
from pages.shared.state.catalog import SHIPPED
from pages.shared.state.choices import (
    HEAD_NUMBER,
    KIND,
    LAYER,
    SUMMARIES,
    TARGET,
    chosen,
    padding,
    put,
)
from pages.shared.state.page import Page
from pages.shared.widgets.choose import choose, choose_kind, choose_layer, choose_place, editor

WINDOWS = (None, *range(6))  # farthest distance from the diagonal that stays open
MASKS_OF = {"look_ahead": "Look-ahead mask", "padding": "Padding mask"}
MASK_KIND = replace(KIND, key="mask_kind", default="decoder")
PAD_TO = padding("pad_to")


def run_of(run: ModelRun) -> ModelRun:
    """Draw the choices of what the model runs on, its target and its padding; return the run."""
    beside = "cross" in run.reader.shape.kinds
    label, length = "Pad to", st.container()
    if beside:
        text, length = st.columns([5, 1], gap="small", vertical_alignment="bottom")
        with text:
            asked = "Known target: what the model writes as trained, or type your own"
            run = replace(run, target=choose(TARGET, label=asked, placeholder=run.target_text))
        label = "Pad both sides to"
    if "pad" in run.reader.missing:
        return run
    tokens = max(len(run.trace.source_tokens), len(run.trace.target_tokens))
    most = min(tokens + 8, run.reader.shape.max_positions)
    lengths = [None, *range(tokens + 1, most + 1)]
    if chosen(PAD_TO) not in lengths:
        put(PAD_TO, None)
    with length:
        box = {"widget": st.selectbox, "label": label, "help": MASK_WORDS["pad to"]}
        pad_to = choose(PAD_TO, lengths, width="stretch" if beside else 140, **box)
    return replace(run, pad_to=pad_to)


def switches(edits: Edits, masks: list[str]) -> None:
    """Draw the switches for whole masks that there are, and the way back."""
    kind = chosen(MASK_KIND)

    def set_window(width: int | None) -> None:
        """Close the cells farther from the diagonal than this width; None closes none."""
        edits = edit_history.edits()
        others = {other: each for other, each in edits.windows.items() if other != kind}
        windows = others if width is None else {**others, kind: width}
        edit_history.change(replace(edits, windows=windows))

    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name in masks:
            editor(st.toggle, MASKS_OF[name], getattr(edits, name), partial(switch, name), name)
        width = edits.windows.get(kind)
        # A link may name a wider one.
        windows = {each: "off" if each is None else str(each) for each in (*WINDOWS, width)}
        box = {"options": windows, "format_func": windows.get, "placeholder": windows[None]}
        box |= {"help": MASK_WORDS["window"], "width": 140}
        editor(st.selectbox, "Local window", width, set_window, "window", **box)
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
def in_force(trained: ModelRun, site: Site, head: int) -> None:
    """Draw the mask of one head, to be changed, and all that follows from it."""
    edits = edit_history.edits()
    if edits.gates:
        st.info(HEAD_WORDS["heads in force"])
    run, missing = replace(trained, edits=edits), trained.reader.missing
    of = about_run(run)
    look_ahead = ["look_ahead"] if "decoder" in trained.reader.shape.kinds else []
    opens = (
        [] if "open cells" in missing else [*look_ahead, *([] if "pad" in missing else ["padding"])]
    )
    switches(edits, opens)
    records = trained.record(site), run.record(site)
    if "open cells" in missing and asks_to_open(edits, site, records[0]):
        st.info(missing["open cells"])
    words = site_words(*site, head)
    focus = Focus(site, head, tokens_of(run.trace, site.kind), words, of)
    mask, output = st.columns([6, 5], gap="medium")
    with mask:
        st.subheader("The mask in force")
        matrix(*records, focus)
    with output:
        st.subheader("What it does to the output")
        texts = st.container()
        compare_scores(trained, run, loss=True)
        compare_answers(trained, run, of=of)
        if "cross" in trained.reader.shape.kinds:
            st.caption(MASK_WORDS["known target"])
    st.subheader("From scores to weights")
    same = {"changed": True, "pad_to": run.pad_to, "target": run.target}
    stages(*records, focus, if_taken_apart(run, partial(open_inside, *site, head, **same)))
    if records[1].scores is not None:
        st.subheader("Why −∞ and nothing else")
        ways_of_blocking(records[1], focus)
    with texts:  # last, for decoding takes longer than all else
        compare_writing(replace(trained, pad_to=None), run, of=of)


@section
def one_head(run: ModelRun) -> None:
    """Draw the choice of a head and its mask: apart, so that a click in the mask draws it alone."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = choose_kind(MASK_KIND)
        layer = choose_layer(kind)
        head = choose_place(HEAD_NUMBER, run.reader.shape.heads(kind), summaries=False)
        choose(SCOPE)
    in_force(run, Site(kind, layer), head)


@section
def everything(asked: ModelRun) -> None:
    """Draw everything under the text box."""
    run = run_of(asked)
    one_head(run)
    st.subheader("The masks as trained")
    if "own layers" not in run.reader.missing and "cross" in run.reader.shape.kinds:
        trained_masks(run, about_run(run))
    else:
        kind, layer = chosen(MASK_KIND), chosen(LAYER)
        masks_by_layers(run, Site(kind, 0 if layer in SUMMARIES else layer), about_run(run))
    if models.chosen().key in SHIPPED:
        st.subheader("Why the decoder may not look ahead")
        why_not_look_ahead(run.sentence, run.target_text)


def masks() -> None:
    """Draw the page."""
    if run := ask():
        if "mask words" not in run.reader.missing:
            tokens_read(run, about_run(run))
        everything(run)


MASKS = Page(
    key="masks",
    title="Masks",
    purpose="Change what attention may see, and what that does",
    body=masks,
    choices=(MASK_KIND, HEAD_NUMBER, PAD_TO, TARGET, SCOPE, METHOD, BLOCKED_ROW),
    pictures={
        "matrix": "the mask in force",
        "trained": "the output as trained",
        "changed": "the output with changes",
        "trained-padding mask": "the padding mask",
        "trained-look-ahead mask": "the look-ahead mask",
        "trained-both": "both masks",
    },
    first="matrix",
    kind=MASK_KIND,
)
