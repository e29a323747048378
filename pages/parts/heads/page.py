"""Heads: switch heads off or fade them, and see which of them matter."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from model.insight.head_patterns import DEFINITIONS
from model.trace import Site
from pages.parts.heads.badges import badges_of
from pages.parts.heads.roles import CHOICES, roles
from pages.shared.controls.head_switches import Place, head_switches
from pages.shared.controls.measured import MEASURED, choose_measured
from pages.shared.controls.sentence import ask, tokens_read
from pages.shared.frame import changes
from pages.shared.link.address import section
from pages.shared.runs.arrays import as_array
from pages.shared.runs.head_effects import Effects, removal_effects
from pages.shared.runs.run import ModelRun
from pages.shared.show.captions import site_words
from pages.shared.show.cells import attention_map, if_taken_apart, open_inside
from pages.shared.show.comparison import (
    compare_answers,
    compare_scores,
    compare_writing,
    room_for_answers,
)
from pages.shared.show.glossary import caption
from pages.shared.show.guess import Riddle, choose_guess, least_without, may_show, most_looked_at
from pages.shared.show.labels import labels_of
from pages.shared.show.pictures import picked, show
from pages.shared.show.saving import About, about_run
from pages.shared.show.sight import reveal_if_sought, seek
from pages.shared.show.stage import is_staged
from pages.shared.show.words import HEAD_WORDS
from pages.shared.state import edit_history
from pages.shared.state.choices import (
    GUESS,
    GUESS_ROW,
    HEAD,
    KIND,
    KINDS,
    LAYER,
    SUMMARIES,
    chosen,
    select_head,
)
from pages.shared.state.page import Page
from viz import attention_heatmap, head_effects

DETAIL = "head-in-detail"  # the key of what shows the selected head


def selected() -> Place:
    """Return the head that is shown: the one chosen last, on this page or on another."""
    layer, head = (0 if place in SUMMARIES else place for place in (chosen(LAYER), chosen(HEAD)))
    return chosen(KIND), layer, head


def head_in_detail(run: ModelRun, of: About) -> None:
    """Draw the weights of the selected head, and what they look like on this text."""
    kind, layer, head = place = selected()
    record, words = run.record(Site(kind, layer)), site_words(*place)
    weights = as_array(record.weights[0, head])  # (query, key)
    reveal_if_sought(DETAIL)
    st.subheader(words)
    visible = record.masked_scores[0, head].isfinite().cpu().numpy()

    def ask() -> Riddle:
        return most_looked_at(words, weights, *labels_of(run, kind), blocked=~visible)

    if not may_show("map", ask, of=of, what=words):
        return
    said = badges_of(run, place, weights, visible)
    open_cell = if_taken_apart(run, partial(open_inside, *place))
    clickable = open_cell is not None
    options = {"blocked": ~visible, "clickable": clickable}
    picture = attention_heatmap(weights, *labels_of(run, kind), **options)
    attention_map(picture, "map", open_cell, of=replace(of, told=said), what=words)


def open_head(key: str) -> None:
    """Select the head that was clicked in a picture, and bring it into sight; a callback."""
    select_head(*picked(key))
    seek(DETAIL)


def which_matter(run: ModelRun, of: About) -> None:
    """Draw the effect of removing each head alone, measured when asked for."""
    if run.objective is None:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        on = choose_measured(run)
        asked = st.button("Measure every head")
    objective = run.objective if on is None else run.objective.alone(on)
    words = HEAD_WORDS["effects"].format(measure=objective.description)
    caption(f"**Which heads matter?** {words}")
    place = st.empty()
    if asked:
        bar = st.progress(0.0, "Removing one head after the other")

        def report(effects: Effects, share: float) -> None:
            bar.progress(share)
            if not chosen(GUESS):
                with place:
                    show(head_effects(effects, labels=KINDS), f"effects-{share}")

        removal_effects(run, on, report)
        bar.empty()
    elif is_staged("effects"):
        removal_effects(run, on, lambda effects, share: None)
    effects = removal_effects.kept(run, on)
    if effects is not None:
        with place.container():
            what = "Effect of removing each head"
            ask = partial(least_without, effects, objective.description)
            if may_show("effects", ask, of=of, what=what):
                picture = head_effects(effects, labels=KINDS, selected=selected())
                show(picture, "effects", partial(open_head, "effects"), of=of, what=what)


@section
def switched(before: ModelRun) -> None:
    """Draw the switches of all heads, and all that follows from them."""
    changes.say(HEADS)
    edits = edit_history.edits()
    after = replace(before, edits=edits)
    of = about_run(after)
    head_switches(before.reader.shape.kinds, selected(), of=of)
    choose_guess()
    which_matter(after, of)
    output, detail = st.columns(2, gap="medium")
    with output:
        st.subheader("What it does to the output")
        texts = st.container()
        compare_scores(before, after)
    with room_for_answers(after, output):
        compare_answers(before, after, of=of)
    with detail, st.container(key=DETAIL):
        head_in_detail(after, of)
    roles(after, selected(), partial(open_head, "role-scores"))
    with texts:  # last, for decoding takes longer than all else
        compare_writing(before, after, of=of)


def reading_help() -> None:
    """Draw what stays as it is whatever is switched."""
    with st.expander("What the badges mean"):
        caption(HEAD_WORDS["badges"])
        st.markdown("\n\n".join(f"**{name}**: {words}" for name, words in DEFINITIONS.items()))
    st.page_link("app.py", label="See the heads side by side on the Attention page")


def heads() -> None:
    """Draw the page."""
    if run := ask():
        if "mask words" not in run.reader.missing:
            tokens_read(run, about_run(run))
        caption(HEAD_WORDS["board"])
        switched(run)
        reading_help()


HEADS = Page(
    key="heads",
    title="Heads",
    group="Change",
    purpose="Switch heads off, and see which of them matter",
    body=heads,
    choices=(MEASURED, GUESS, GUESS_ROW, *CHOICES),
    changes="all",
    pictures={
        "source": "the tokens it reads",
        "switchboard": "the switches of all heads",
        "trained": "the output as trained",
        "changed": "the output with changes",
        "probabilities": "how likely each token is",
        "answer-0": "what the model chooses",
        "effects": "which heads matter",
        "map": "one head as a heatmap",
        "role-scores": "the roles of heads, by test",
    },
    first="switchboard",
)
