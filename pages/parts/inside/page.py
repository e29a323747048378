"""The page Inside a head: one weight taken apart, in the numbers of the run that produced it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from headlight.model.insight.explain import NOTES
from headlight.model.transformer.trace import Site
from headlight.pages.parts.inside.calls import MOST_CLOSED, Weight, explained, taken_apart
from headlight.pages.parts.inside.steps import step_by_step
from headlight.pages.parts.inside.stream import LENS, WORDS, similar_words, stream
from headlight.pages.parts.inside.switches import SWITCHES, switches
from headlight.pages.parts.inside.why import AGAINST, why
from headlight.pages.parts.inside.why import PICTURES as WHY
from headlight.pages.parts.inside.words import TAB_WORDS, VIEWS
from headlight.pages.shared.address import section
from headlight.pages.shared.controls.sentence import ask, tokens_read
from headlight.pages.shared.runs.arrays import as_array
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption, labels_of, site_words
from headlight.pages.shared.show.cells import WEIGHT_BAR, choose_clearest, stands_for, stood_for
from headlight.pages.shared.show.opening import open_on_a_telling_head
from headlight.pages.shared.show.overview import where_in_the_model
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.riddle import CHOICES as RIDDLE
from headlight.pages.shared.show.saving import About, about_run
from headlight.pages.shared.show.sight import reveal_if_sought
from headlight.pages.shared.state import edit_history
from headlight.pages.shared.state.choice import one_of
from headlight.pages.shared.state.choices import (
    HEAD,
    INSIDE_OF,
    INSIDE_PAD_TO,
    INSIDE_TARGET,
    KEY,
    KIND,
    QUERY,
    SUMMARIES,
    chosen,
    put,
)
from headlight.pages.shared.state.page import Page
from headlight.pages.shared.state.showing import entitle
from headlight.pages.shared.widgets.choose import (
    choose,
    choose_head,
    choose_kind,
    choose_layer,
    choose_token,
)
from headlight.viz import Row, vector_rows
from headlight.viz.numbers import number_text

TITLES = {
    "steps": "Step by step",
    "why": "Why it looks there",
    "beyond": "Beyond the weight",
    "switches": "Switches",
    "stream": "Residual stream",
    "words": "Words",
}
OF_THE_TEXT = {"stream": stream, "words": similar_words}  # tabs that need no weight, only the text
WEIGHT_WIDTH, TOKEN_WIDTH = 260, 190  # pixels
TAB = one_of("inside_tab", TITLES, label="What is shown")


def changed(plain: ModelRun) -> ModelRun:
    """Return the run with the visitor's changes.

    If a weight was clicked on another page, the decoder's text and the padding are those of the
    run on that page.
    """
    come = (INSIDE_OF, INSIDE_TARGET, INSIDE_PAD_TO)
    run = replace(plain, edits=edit_history.in_force())
    return with_text(run, {choice.key: chosen(choice) for choice in come})


def with_text(run: ModelRun, values: Mapping[str, Any]) -> ModelRun:
    """Return the run with the target and padding that were read when a weight was clicked."""
    if values[INSIDE_OF.key] != run.sentence:
        return run
    if "cross" in run.reader.shape.kinds:
        run = replace(run, target=values[INSIDE_TARGET.key])
    pad_to = values[INSIDE_PAD_TO.key]
    if not pad_to or "pad" in run.reader.missing:
        return run
    fits = run.tokens().longest <= pad_to <= run.reader.shape.max_positions
    return replace(run, pad_to=pad_to) if fits else run


def choose_site() -> tuple[Site, DeltaGenerator]:
    """Draw the choice of a kind of attention and a layer.

    Return them, and the empty container for the choice of the head.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = choose_kind()
        layer = choose_layer(kind)
        heads = st.container(width="content")  # filled by `choose_weight`
        where_in_the_model(KIND)
    return Site(kind, layer), heads


def choose_weight(
    run: ModelRun, site: Site, heads: DeltaGenerator
) -> tuple[Weight, DeltaGenerator]:
    """Draw the choice of a head, a query and a key; return their weight.

    If a mean or maximum over heads is chosen, take the head with the largest weight here. Also
    return the bar with the weight's value, a container that stays at the top of the window.
    """
    choose_clearest(run, site, chosen(HEAD))
    queries, keys = labels_of(run, site.kind)
    bar = st.container(key=WEIGHT_BAR, horizontal=True, vertical_alignment="bottom")
    with bar:
        value = st.container(width=WEIGHT_WIDTH)
        query = choose_token(QUERY, queries, width=TOKEN_WIDTH)
        key = choose_token(KEY, keys, width=TOKEN_WIDTH)
    if chosen(HEAD) in SUMMARIES:
        weights = run.record(site).weights[0]  # (H, Q, K)
        summed_up, head = site_words(*site, chosen(HEAD)), int(weights[:, query, key].argmax())
        stands_for(Weight(run, site, head, query, key).cell, summed_up)
        put(HEAD, head)
    with heads:
        head = choose_head(site.kind)
    weight = Weight(run, site, head, query, key)
    with value:
        share = taken_apart(weight).weights[key].item()
        is_off = run.edits.are_off([(site.kind, site.layer, head)])
        st.metric(f"Weight: {site_words(*site, head)}{', off' * is_off}", number_text(share))
    with bar:
        reveal_if_sought(WEIGHT_BAR)
    if summed_up := stood_for(weight.cell):
        st.caption(
            f"Only one head is taken apart: for “{summed_up}”, that with the largest weight here."
        )
    return weight, bar


def about_weight(weight: Weight, query: str, key: str) -> About:
    """Return the `About` of a weight's saved pictures.

    `query` and `key` are the labels of the weight's tokens.
    """
    head = site_words(*weight.site, weight.head)
    where = f"{head}, query {weight.query + 1} “{query}”, key {weight.key + 1} “{key}”"
    return about_run(weight.run, place=where)


@section
def inside(plain: ModelRun) -> None:
    run = changed(plain)
    tab = choose(TAB, label_visibility="collapsed")
    if tab in OF_THE_TEXT:
        OF_THE_TEXT[tab](run, about_run(run))
        return
    site, heads = choose_site()
    weight, bar = choose_weight(run, site, heads)
    queries, keys = labels_of(run, site.kind)
    query, key = queries[weight.query], keys[weight.key]
    of = about_weight(weight, query, key)
    if ask := {"steps": "How", "why": "Why"}.get(tab):
        share = number_text(taken_apart(weight).weights[weight.key].item())
        entitle(f"{ask} “{query}” gives {share} of its attention to “{key}”")

    tabs = {
        "steps": lambda: step_by_step(weight, of, bar),
        "why": lambda: why(weight, of, bar),
        "beyond": lambda: beyond(weight, of),
        "switches": lambda: switches(weight, of, bar),
    }
    tabs[tab]()


def beyond(weight: Weight, of: About) -> None:
    """Draw up to five measures of how much the query depends on each key."""
    caption(TAB_WORDS["beyond"])
    views = explained(weight)
    objective = views.objective
    if objective:
        texts = "" if objective.is_score else f": {' '.join(objective.texts)}"
        unit = objective.unit
        st.text(f"Effects are measured on {objective.description}, in {unit}{texts}")
    rows = [
        Row(label, as_array(getattr(views, field)), probabilities=field == "weights")
        for field, label in VIEWS.items()
        if getattr(views, field) is not None
    ]
    picture = vector_rows(rows, columns=weight.key_tokens, marked=[weight.key], own_scales=True)
    show(picture, "five-views", of=of, what="Five views of the query's keys")
    for field, label in VIEWS.items():
        shown = getattr(views, field) is not None
        st.markdown(f"**{label}**: {NOTES[field] if shown else why_not(weight, field)}")


def why_not(weight: Weight, field: str) -> str:
    """Return why one of the five measures, the field of `Explanation`, cannot be drawn."""
    if field == "value_norms":
        return weight.run.reader.missing["add up heads"]
    if field == "removals" and len(weight.row) > MOST_CLOSED:
        return TAB_WORDS["many keys"].format(most=MOST_CLOSED)
    return TAB_WORDS["no objective"]


def page() -> None:
    open_on_a_telling_head()
    if run := ask("take apart"):
        if "mask words" not in run.reader.missing:
            tokens_read(run, about_run(run))
        inside(run)


PAGE = Page(
    key="inside",
    title="Inside a head",
    group="Look",
    purpose="Why a weight is what it is, number by number",
    body=page,
    changes="in force",
    own=with_text,
    choices=(
        QUERY, KEY, TAB, INSIDE_OF, INSIDE_TARGET, INSIDE_PAD_TO, AGAINST, *SWITCHES, WORDS,
        *RIDDLE,
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
        LENS: "what each layer would write",
        **WHY,
    },
    first=("story-softmax",),
    riddles=(LENS, *WHY),
    asks="the sections “Why it looks there” and “Residual stream”",
)  # fmt: skip
