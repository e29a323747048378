"""Inside a head of a BERT: the same story and tabs as for the shipped model."""

from __future__ import annotations

import streamlit as st

from model.insight.explain import Objective
from model.insight.weight import Weight
from model.library.bert_reader import NO_HEAD, BertReader
from model.trace import Site
from pages.parts.bert.choices import INSIDE_TAB, KEY, QUERY
from pages.parts.bert.view import select_head, strongest
from pages.parts.bert.words import INSIDE_WORDS, NO_OBJECTIVE, TOO_MANY
from pages.shared.inside.stream import stream_lengths
from pages.shared.inside.tabs import weight_tabs
from pages.shared.runs.library import BertRun, heads_in
from pages.shared.show.saving import About
from pages.shared.state.library_choices import BERT_HEAD, BERT_LAYER
from pages.shared.widgets.choose import choose, choose_token

MOST_CLOSED = 64  # tokens whose cells are closed one after the other


def choose_weight(run: BertRun) -> Weight:
    """Draw the widgets for layer, head, query and key, and return the weight they choose."""
    found = heads_in(run.trace)
    tokens, layers = [piece.text for piece in found.source_tokens], found.weights["encoder"]
    heads = st.container(horizontal=True, vertical_alignment="bottom")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query, key = choose_token(QUERY, tokens), choose_token(KEY, tokens)
    layer, head, _, _ = strongest(found, "encoder", [query], [key])
    select_head(layer, head)
    with heads:
        layer = choose(BERT_LAYER, range(len(layers)))
        head = choose(BERT_HEAD, range(len(layers[0])))
    return Weight(run, Site("encoder", layer), head, query, key)


def inside(run: BertRun, of: About) -> None:
    """Draw one weight of a run taken apart."""
    weight = choose_weight(run)
    objective = run.objective(weight.site, weight.query)
    absent = missing(run.reader, objective, len(weight.key_tokens))
    more = {"stream": lambda: stream_lengths(run.trace, ("encoder",), of)}
    weight_tabs(INSIDE_TAB, weight, more, of=of, missing=absent)
    st.caption(INSIDE_WORDS)


def missing(reader: BertReader, objective: Objective | None, tokens: int) -> dict[str, str]:
    """Which of the five views cannot be had, and why not."""
    if not reader.predicts:
        return dict.fromkeys(("gradient_times_attention", "removals"), f"Not shown. {NO_HEAD}")
    if objective is None:
        return dict.fromkeys(("gradient_times_attention", "removals"), NO_OBJECTIVE)
    return {"removals": TOO_MANY.format(most=MOST_CLOSED)} if tokens > MOST_CLOSED else {}
