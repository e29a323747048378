"""Attention: what every head looks at, on the visitor's text."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from model.edits import Edits
from pages.parts.attention.choices import AS_TRAINED, CHOICES, READS
from pages.parts.attention.view import View, choose_view, view_notes
from pages.parts.attention.words import EMPTY, LAYER_SUMMARIES, NUMBERS_ALONE
from pages.shared.controls.sentence import ask, show_translation, tokens_read
from pages.shared.link.address import section
from pages.shared.runs.run import ModelRun, written
from pages.shared.show.captions import edit_words, site_words
from pages.shared.show.cells import if_taken_apart, open_inside
from pages.shared.show.comparison import CHANGED, TRAINED, compare_choices
from pages.shared.show.overview import (
    all_heads,
    one_in_large,
    selection,
    with_summaries,
)
from pages.shared.show.saving import About, about_run
from pages.shared.show.words import formula, reading_of
from pages.shared.state import edit_history, models
from pages.shared.state.choices import (
    HEAD,
    KINDS,
    LAYER,
    OWN_SCALE,
    PICTURE,
    SUMMARIES,
    put,
)
from pages.shared.state.page import Page
from pages.shared.widgets.choose import (
    choose,
    choose_head,
    choose_kind,
    choose_layer,
    place_options,
)


@section
def detail(run: ModelRun, view: View, of: About) -> None:
    """Draw the choice of a head and the head in large: apart, so that a choice draws it alone."""
    kind, options = view.kind, place_options(run.reader.shape.heads(view.kind))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = choose_layer(kind, summaries=True)
        picture = choose(PICTURE)
    head = choose_head(kind)
    column = options.index(head)

    def open_map(layer: int, column: int) -> None:
        put(LAYER, layer)
        put(HEAD, options[column])

    def open_cell(row: int, place: int) -> None:
        same = {"changed": run.edits != Edits(), "target": run.target}
        open_inside(kind, *view.strongest(layer, head, row, place), **same)

    selection(None if layer in SUMMARIES else (layer, column), open_map)
    cells = {"blocked": view.blocked(layer), "open_cell": if_taken_apart(run, open_cell)}
    what = site_words(kind, layer, head)
    one_in_large(view.large(layer, head), *view.tokens, picture, of=of, what=what, **cells)
    entry = models.chosen()
    st.caption(
        reading_of(kind, head, entry.source, entry.target, "cross" in run.reader.shape.kinds)
    )
    if layer in SUMMARIES:
        st.caption(f"{LAYER_SUMMARIES[layer]} {NUMBERS_ALONE}")
    if "own layers" not in run.reader.missing:
        width = run.reader.model.config.head_width
        st.latex(formula(kind, width, entry.source, entry.target))


@section
def heads(run: ModelRun, of: About) -> None:
    """Draw the choice of attention, all its heads, and one of them in large."""
    left, right = st.columns(2, gap="medium")
    with left:
        with st.container(horizontal=True, vertical_alignment="center"):
            kind = choose_kind(label_visibility="collapsed")
            view = choose_view(run, kind)
        if notes := view_notes(view.selection):
            st.caption(notes)
        if view.selection.is_empty:
            st.info(EMPTY)
            return
        maps = with_summaries(view.layers)
        all_heads(maps, *view.tokens, of=of, what=f"{KINDS[kind]}, all heads")
    with right:
        detail(run, view, of)


def tokens_and_choices(run: ModelRun, of: About) -> None:
    """Draw what is read, and beside it what the model chooses, if it chooses anything."""
    place = st.container()
    if run.reader.questions(run.trace):
        place, answers = st.columns([3, 2], gap="medium")
        with answers:
            label = TRAINED if run.edits == Edits() else CHANGED
            compare_choices(run, run, (label, label), of=of)
    with place:
        tokens_read(run, of)


def with_target(run: ModelRun) -> ModelRun:
    """Draw the box for what a decoder of another library's model reads beside the text."""
    if models.chosen().is_library and "cross" in run.reader.shape.kinds:
        return replace(run, target=choose(READS))
    return run


def with_changes(run: ModelRun) -> ModelRun:
    """Draw the choice of a run with the visitor's changes or as trained, if there are changes.

    With changes a decoder reads what the model writes with them.
    """
    edits = edit_history.edits()
    if edits == Edits():
        return run
    with st.container(horizontal=True, vertical_alignment="center"):
        if choose(AS_TRAINED):
            return run
        st.info(f"With your changes: {edit_words(edits)}.")
    changed = replace(run, edits=edits)
    writes_beside = "cross" in run.reader.shape.kinds and not run.target
    return replace(changed, target=written(changed).text) if writes_beside else changed


def attention() -> None:
    """Draw the page."""
    run = ask()
    if run is None:
        return
    given = with_target(run)
    run = with_changes(given)
    of = about_run(run)
    writes_beside = "cross" in run.reader.shape.kinds and "write" not in run.reader.missing
    if writes_beside and not given.target:
        show_translation(run, of)
    else:
        tokens_and_choices(run, of)
    heads(run, of)


ATTENTION = Page(
    key="attention",
    title="Attention",
    purpose="What every head looks at, on your text",
    body=attention,
    choices=(PICTURE, OWN_SCALE, *CHOICES),
    pictures={
        "source": "the source's tokens",
        "target-tokens": "the target's tokens",
        "grid": "all heads",
        "heatmap": "one head as a heatmap",
        "lines": "one head as lines",
        "answer-0": "what the model chooses",
    },
    first=PICTURE,
)
