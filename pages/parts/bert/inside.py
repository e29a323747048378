"""Inside a head of a BERT: the same story and tabs as for the shipped model."""

from __future__ import annotations

import streamlit as st
from pages.shared.controls.tabs import tabs

from model.insight.explain import Objective
from model.library.bert_reader import NO_HEAD, BertReader
from model.trace import Site
from pages.parts.bert.view import Run
from pages.parts.bert.words import INSIDE_WORDS, NO_OBJECTIVE, TOO_MANY
from pages.shared.inside.story import tell
from pages.shared.inside.views import beyond, stream_lengths, switches
from pages.shared.runs.inside import Weight, taken_apart
from pages.shared.runs.library import BertRun
from pages.shared.state import scene
from pages.shared.widgets.choose import choose, choose_token

MOST_CLOSED = 64  # tokens whose cells are closed one after the other


def choose_weight(reading: BertRun, run: Run) -> Weight:
    """The widgets for layer, head, query and key."""
    tokens = [piece.text for piece in reading.trace.source_tokens]
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
    return Weight(reading, site, int(head) - 1, query, key)


def numbers(count: int) -> list[str]:
    """So many layers or heads, by their numbers on screen."""
    return [str(number + 1) for number in range(count)]


def inside(reading: BertRun, run: Run) -> None:
    """One weight of a run taken apart."""
    weight = choose_weight(reading, run)
    place, part = (weight.query, weight.key), taken_apart(weight)
    st.metric("Weight", f"{part.weights[weight.key]:.4f}")
    embedding, tokens = reading.trace.embedding["encoder"], weight.key_tokens
    norm = reading.network.config.norm
    absent = missing(reading.reader, reading.objective(weight.site, weight.query), len(tokens))
    sections = (
        lambda: tell(part, embedding, weight.site.layer, weight.head, place, tokens, norm),
        lambda: beyond(weight, absent),
        lambda: switches(weight, part),
        lambda: stream_lengths(reading.trace, ("encoder",)),
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
