"""Inside a head: one weight taken apart, in the numbers of the run that produced it."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from model.edits import Edits
from model.insight.weight import Weight
from model.trace import Site
from pages.parts.inside.lens import decoder_lens
from pages.parts.inside.similarity import WORDS, similar_words
from pages.shared.controls.sentence import ask, can, tokens_read
from pages.shared.inside import switches
from pages.shared.inside.stream import stream_lengths
from pages.shared.inside.tabs import TITLES, tab_choice, weight_tabs
from pages.shared.link.address import section
from pages.shared.runs.arrays import tokens_of
from pages.shared.runs.run import ModelRun
from pages.shared.show.captions import site_words
from pages.shared.show.saving import About, about_run
from pages.shared.state import edit_history
from pages.shared.state.choices import (
    CHANGED,
    HEAD,
    INSIDE_OF,
    INSIDE_PAD_TO,
    INSIDE_TARGET,
    KEY,
    QUERY,
    SUMMARIES,
    chosen,
    put,
)
from pages.shared.state.page import Page
from pages.shared.widgets.choose import (
    choose,
    choose_head,
    choose_kind,
    choose_layer,
    choose_token,
)

TAB = tab_choice("inside_tab", {**TITLES, "words": "Words"})


def choose_site(asked: ModelRun) -> tuple[ModelRun, Site]:
    """Draw the choice of a run of a text, and of a site in it."""
    edits = edit_history.edits()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = choose_kind()
        layer = choose_layer(kind)
        help = "What you changed on the Masks and Heads pages."
        changed = choose(CHANGED, disabled=edits == Edits(), help=help)
    run = replace(asked, edits=edits if changed else Edits())
    if chosen(INSIDE_OF) == asked.sentence:  # the run in which a weight was clicked
        run = replace(run, target=chosen(INSIDE_TARGET), pad_to=chosen(INSIDE_PAD_TO))
    return run, Site(kind, layer)


def choose_weight(run: ModelRun, site: Site) -> Weight:
    """Draw the choice of a head, a query and a key; the strongest head stands for a summary."""
    queries, keys = tokens_of(run.trace, site.kind)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        heads = st.container(width="content")  # drawn last: a summary depends on the cell
        query = choose_token(QUERY, queries)
        key = choose_token(KEY, keys)
    if chosen(HEAD) in SUMMARIES:
        weights = run.record(site).weights[0]  # (H, Q, K)
        put(HEAD, int(weights[:, query, key].argmax()))
    with heads:
        return Weight(run, site, choose_head(site.kind, summaries=False), query, key)


def about_weight(weight: Weight) -> About:
    """Return what the pictures of a weight are of."""
    head = site_words(*weight.site, weight.head)
    place = f"{head}, query {weight.query + 1}, key {weight.key + 1}"
    return about_run(weight.run, place=place)


@section
def inside(asked: ModelRun) -> None:
    """Draw everything under the text box."""
    weight = choose_weight(*choose_site(asked))
    run, of = weight.run, about_weight(weight)

    def stream() -> None:
        if can(run, "show the stream"):
            if run.trace.target_tokens:
                decoder_lens(run)
            stream_lengths(run.trace, of)

    def words() -> None:
        if can(run, "compare words"):
            similar_words(run, of)

    weight_tabs(TAB, weight, {"stream": stream, "words": words}, of=of)


def page() -> None:
    """Draw the page."""
    if run := ask("take apart"):
        if "mask words" not in run.reader.missing:
            tokens_read(run, about_run(run))
        inside(run)


INSIDE = Page(
    key="inside",
    title="Inside a head",
    purpose="Why a weight is what it is, number by number",
    body=page,
    choices=(
        QUERY, KEY, TAB, CHANGED, INSIDE_OF, INSIDE_TARGET, INSIDE_PAD_TO, *switches.CHOICES, WORDS,
    ),
    pictures={
        "source": "the tokens it reads",
        "story-input": "what is read",
        "story-projections": "query, key and value",
        "story-dot": "the dot product",
        "story-mask": "the mask",
        "story-softmax": "the softmax",
        "story-values": "the weighted sum of values",
        "story-contributions": "what each head adds",
        "story-residual": "the residual stream",
        "five-views": "five views of one query",
    },
    first="story-input",
)  # fmt: skip
