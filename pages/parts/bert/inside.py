"""Inside a head of a BERT: the same story and tabs as for the shipped model."""

from __future__ import annotations

import streamlit as st

from model.insight.explain import Objective
from model.insight.weight import Weight
from model.library.bert_reader import NO_HEAD, BertReader
from model.trace import Site
from pages.parts.bert.choices import INSIDE_TAB, KEY, QUERY
from pages.parts.bert.view import Run
from pages.parts.bert.words import INSIDE_WORDS, NO_OBJECTIVE, TOO_MANY
from pages.shared.inside.stream import stream_lengths
from pages.shared.inside.tabs import weight_tabs
from pages.shared.runs.library import BertRun
from pages.shared.show.saving import About
from pages.shared.state.choices import put
from pages.shared.state.library_choices import BERT_HEAD, BERT_LAYER
from pages.shared.widgets.choose import choose, choose_token

MOST_CLOSED = 64  # tokens whose cells are closed one after the other


def choose_weight(reading: BertRun, run: Run) -> Weight:
    """The widgets for layer, head, query and key."""
    tokens = [piece.text for piece in reading.trace.source_tokens]
    heads = st.container(horizontal=True, vertical_alignment="bottom")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query, key = choose_token(QUERY, tokens), choose_token(KEY, tokens)
    layer, head, _, _ = run.strongest([query], [key])
    put(BERT_LAYER, layer)
    put(BERT_HEAD, head)
    with heads:
        layer = choose(BERT_LAYER, range(len(run.layers)))
        head = choose(BERT_HEAD, range(run.heads))
    return Weight(reading, Site("encoder", layer), head, query, key)


def inside(reading: BertRun, run: Run, of: About) -> None:
    """Draw one weight of a run taken apart."""
    weight = choose_weight(reading, run)
    objective = reading.objective(weight.site, weight.query)
    absent = missing(reading.reader, objective, len(weight.key_tokens))
    more = {"stream": lambda: stream_lengths(reading.trace, ("encoder",), of)}
    weight_tabs(INSIDE_TAB, weight, more, of=of, missing=absent)
    st.caption(INSIDE_WORDS)


def missing(reader: BertReader, objective: Objective | None, tokens: int) -> dict[str, str]:
    """Which of the five views cannot be had, and why not."""
    if not reader.predicts:
        return dict.fromkeys(("gradient_times_attention", "removals"), f"Not shown. {NO_HEAD}")
    if objective is None:
        return dict.fromkeys(("gradient_times_attention", "removals"), NO_OBJECTIVE)
    return {"removals": TOO_MANY.format(most=MOST_CLOSED)} if tokens > MOST_CLOSED else {}
