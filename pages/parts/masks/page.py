"""Masks: change what attention may see, and watch the weights and the output change."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from model.edits import Edits
from model.trace import Site
from pages.parts.masks.below import PICTURES, TAB, below
from pages.parts.masks.lessons import BLOCKED_ROW, METHOD
from pages.parts.masks.stages import SCOPE, Focus, asks_to_open, matrix
from pages.shared.controls.sentence import ask, tokens_read
from pages.shared.frame import changes
from pages.shared.link import address
from pages.shared.link.address import section
from pages.shared.runs.run import ModelRun
from pages.shared.show.captions import site_words
from pages.shared.show.cells import if_taken_apart, open_inside
from pages.shared.show.closing import way_back
from pages.shared.show.comparison import (
    compare_answers,
    compare_scores,
    compare_writing,
    room_for_answers,
)
from pages.shared.show.glossary import caption
from pages.shared.show.labels import labels_of
from pages.shared.show.saving import about_run
from pages.shared.show.where import where_in_the_model
from pages.shared.show.words import MASK_WORDS
from pages.shared.state import edit_history
from pages.shared.state.choices import (
    HEAD_NUMBER,
    MASK_KIND,
    TARGET,
    chosen,
    padding,
    put,
)
from pages.shared.state.page import Page
from pages.shared.widgets.choose import choose, choose_kind, choose_layer, choose_place, editor

WINDOWS = (None, *range(6))  # farthest distance from the diagonal that stays open
MASKS_OF = {"look_ahead": "Look-ahead mask", "padding": "Padding mask"}
PAD_TO = padding("pad_to")


def padded(run: ModelRun) -> ModelRun:
    """Draw the choice of a length to pad to, if the model can take padding; return the run."""
    if "pad" in run.reader.missing:
        return run
    tokens = max(len(run.trace.source_tokens), len(run.trace.target_tokens))
    most = min(tokens + 8, run.reader.shape.max_positions)
    lengths = [None, *range(tokens + 1, most + 1)]
    if chosen(PAD_TO) not in lengths:
        put(PAD_TO, None)
    label = "Pad both sides to" if "cross" in run.reader.shape.kinds else "Pad to"
    box = {"widget": st.selectbox, "label": label, "help": MASK_WORDS["pad to"], "width": 150}
    return replace(run, pad_to=choose(PAD_TO, lengths, **box))


def switches(edits: Edits, masks: list[str]) -> None:
    """Draw the switches for whole masks that there are, and the way back."""
    kind = chosen(MASK_KIND)

    def set_window(width: int | None) -> None:
        """Close the cells farther from the diagonal than this width; None closes none."""
        edits = edit_history.edits()
        others = {other: each for other, each in edits.windows.items() if other != kind}
        windows = others if width is None else {**others, kind: width}
        edit_history.change(replace(edits, windows=windows))

    with st.container(horizontal=True, vertical_alignment="center"):
        for name in masks:
            editor(st.toggle, MASKS_OF[name], getattr(edits, name), partial(switch, name), name)
        width = edits.windows.get(kind)
        # A link may name a wider one.
        windows = {each: f"Local window: {each}" for each in (*WINDOWS, width)}
        windows[None] = "No local window"
        box = {"options": windows, "format_func": windows.get, "placeholder": windows[None]}
        box |= {"help": MASK_WORDS["window"], "width": 180}
        box |= {"label_visibility": "collapsed", "required": True}  # no window can be chosen too
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
    changes.say(MASKS)
    way_back()
    edits = edit_history.edits()
    run, missing = replace(trained, edits=edits), trained.reader.missing
    of = about_run(run)
    look_ahead = ["look_ahead"] if "decoder" in trained.reader.shape.kinds else []
    opens = (
        [] if "open cells" in missing else [*look_ahead, *([] if "pad" in missing else ["padding"])]
    )
    switches(edits, opens)
    records = trained.record(site), run.record(site)
    words = site_words(*site, head)
    focus = Focus(site, head, labels_of(run, site.kind), words, of)
    mask, output = st.columns([6, 5], gap="medium")
    with mask:
        matrix(run, *records, focus)
    with output:
        notes(run, asks_to_open(edits, site, records[0]))
        st.subheader("What it does to the output")
        texts = st.container()
        compare_scores(trained, run, loss=True)
    with room_for_answers(run, output):
        compare_answers(trained, run, of=of)
        if "cross" in trained.reader.shape.kinds:
            caption(MASK_WORDS["known target"])
    same = {"pad_to": run.pad_to, "target": run.target}
    open_cell = if_taken_apart(run, partial(open_inside, *site, head, **same))
    below(trained, *records, focus, open_cell)
    with texts:  # last, for decoding takes longer than all else
        compare_writing(replace(trained, pad_to=None), run, of=of)


def notes(run: ModelRun, opens: bool) -> None:
    """Say what cannot be done, and why a switch does what it does."""
    edits, missing = run.edits, run.reader.missing
    if "open cells" in missing and opens:
        st.info(missing["open cells"])
    if not edits.padding and not run.pad_to:
        st.info(MASK_WORDS["nothing to hide"])
    if not edits.look_ahead and "cross" in run.reader.shape.kinds:
        st.info(MASK_WORDS["look-ahead off"])


@section
def everything(asked: ModelRun) -> None:
    """Draw everything under the text box."""
    kinds = asked.reader.shape
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        kind = choose_kind(MASK_KIND)
        layer = choose_layer(kind)
        head = choose_place(HEAD_NUMBER, kinds.heads(kind), summaries=False)
        choose(SCOPE, SCOPE.options, widget=st.selectbox, width=130)
        run = padded(asked)
        where_in_the_model(MASK_KIND)
    in_force(run, Site(kind, layer), head)


def masks() -> None:
    """Draw the page."""
    if run := ask(target=TARGET):
        if "mask words" not in run.reader.missing:
            tokens_read(run, about_run(run))
        everything(run)


MASKS = Page(
    key="masks",
    title="Masks",
    group="Change",
    purpose="Change what attention may see, and what that does",
    body=masks,
    changes="all",
    choices=(MASK_KIND, HEAD_NUMBER, PAD_TO, TARGET, SCOPE, TAB, METHOD, BLOCKED_ROW),
    pictures={
        "matrix": "the mask in force",
        "trained": "the output as trained",
        "changed": "the output with changes",
        "probabilities": "how likely each token is",
        **PICTURES,
    },
    first="matrix",
    kind=MASK_KIND,
)
