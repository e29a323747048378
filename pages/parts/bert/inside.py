"""Inside a head of a BERT: the same story and tabs as for the shipped model."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from pages.shared.controls.tabs import tabs

from model.edits import Edits
from model.insight.anatomy import take_apart
from model.insight.explain import Objective, masked_words
from model.library.bert_reader import NO_HEAD, BertReader, Reading
from model.trace import Site
from pages.parts.bert.view import Run
from pages.parts.bert.words import INSIDE_WORDS, NO_OBJECTIVE, TOO_MANY
from pages.shared.inside.story import tell
from pages.shared.inside.views import Cell, beyond, stream_lengths, switches
from pages.shared.runs.library import at_sites
from pages.shared.state import scene
from pages.shared.widgets.choose import choose, choose_token

MOST_CLOSED = 64  # tokens whose cells are closed one after the other


def choose_cell(reader: BertReader, reading: Reading, run: Run, edits: Edits) -> Cell:
    """The widgets for layer, head, query and key."""
    tokens = [piece.text for piece in reading.source_tokens]
    heads = st.container(horizontal=True, vertical_alignment="bottom")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query = choose_token("Query: the token that looks", tokens, "bert_query")
        key = choose_token("Key: the token looked at", tokens, "bert_key")
    layer, head, _, _ = run.strongest([query], [key])
    st.session_state.update(bert_layer=str(layer + 1), bert_head=str(head + 1))
    with heads:
        layer = choose("Layer", numbers(len(run.layers)), "bert_layer")
        head = choose("Head", numbers(run.heads), "bert_head")
    site = Site("encoder", int(layer) - 1)
    return Cell(reader.model, reading, at_sites(reader, edits), site, int(head) - 1, query, key)


def numbers(count: int) -> list[str]:
    """So many layers or heads, by their numbers on screen."""
    return [str(number + 1) for number in range(count)]


def inside(
    reader: BertReader, reading: Reading, text: Callable[[], list], run: Run, edits: Edits
) -> None:
    """One weight of a run taken apart; `text` gives the tokens as they were before any mask."""
    cell = choose_cell(reader, reading, run, edits)
    place = cell.query, cell.key
    part = take_apart(cell.model, reading, cell.site, cell.head, *place, cell.changes)
    st.metric("Weight", f"{part.weights[cell.key]:.4f}")
    embedding = reading.embedding["encoder"]
    norm = cell.model.config.norm
    objective = masked_words(reading, text()) if reader.predicts else None
    sections = (
        lambda: tell(part, embedding, cell.site.layer, cell.head, place, cell.key_tokens, norm),
        lambda: beyond(cell, objective, missing(reader, objective, len(cell.key_tokens))),
        lambda: switches(cell, part),
        lambda: stream_lengths(reading, ("encoder",)),
    )
    tabs(dict(zip(scene.BERT_INSIDE_TABS, sections, strict=True)), "bert_inside_tab")
    st.caption(INSIDE_WORDS)


def missing(reader: BertReader, objective: Objective | None, tokens: int) -> dict[str, str]:
    """Which of the five views cannot be had, and why not."""
    if not reader.predicts:
        return dict.fromkeys(("gradient_times_attention", "removals"), f"Not shown. {NO_HEAD}")
    if objective is None:
        return dict.fromkeys(("gradient_times_attention", "removals"), NO_OBJECTIVE)
    return {"removals": TOO_MANY.format(most=MOST_CLOSED)} if tokens > MOST_CLOSED else {}
