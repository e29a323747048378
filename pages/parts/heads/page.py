"""Heads: switch heads off or fade them, and see which of them matter."""

from __future__ import annotations

from functools import partial

import streamlit as st

from model.edits import Edits
from model.insight.head_patterns import DEFINITIONS, badges
from model.trace import Site, Trace
from pages.shared.controls.head_switches import Place, head_switches
from pages.shared.controls.sentence import sentence_box
from pages.shared.link.address import section
from pages.shared.runs.arrays import tokens_of, weights_of
from pages.shared.runs.head_effects import Effects, removal_effects
from pages.shared.runs.translator import TranslatorRun, translated, translator
from pages.shared.show.captions import site_words
from pages.shared.show.cells import attention_map, open_inside
from pages.shared.show.comparison import compare_probabilities, compare_scores, compare_translations
from pages.shared.show.pictures import picked, show
from pages.shared.show.saving import About, about
from pages.shared.show.words import HEAD_WORDS
from pages.shared.state import edit_history, models
from pages.shared.state.choices import HEAD, KIND, KINDS, LAYER, SUMMARIES, chosen, select_head
from pages.shared.state.page import Page
from viz import attention_heatmap, head_effects


def selected() -> Place:
    """Return the head that is shown: the one chosen last, on this page or on another."""
    head = chosen(HEAD)
    return chosen(KIND), chosen(LAYER), 0 if head in SUMMARIES else head


def head_in_detail(trace: Trace, of: About) -> None:
    """Draw the weights of the selected head, and what they look like on this sentence."""
    kind, layer, head = place = selected()
    weights, words = weights_of(trace, kind)[layer, head], site_words(*place)  # (query, key)
    st.subheader(words)
    visible = trace.attention[Site(kind, layer)].masked_scores[0, head].isfinite().cpu().numpy()
    found = [f":blue-badge[{name} {value:.2f}]" for name, value in badges(weights, kind, visible)]
    st.markdown(" ".join(found) or HEAD_WORDS["no badge"])
    picture = attention_heatmap(weights, *tokens_of(trace, kind), clickable=True)
    open_cell = partial(open_inside, *place, changed=True)
    attention_map(picture, "map", open_cell, of=of, what=words)


def which_matter(sentence: str, edits: Edits, of: About) -> None:
    """Draw the effect of removing each head alone, measured when asked for."""
    st.subheader("Which heads matter")
    st.caption(HEAD_WORDS["effects"])
    asked = st.button("Measure every head")
    place = st.empty()
    run = models.chosen().key, sentence, edits
    if asked:
        bar = st.progress(0.0, "Removing one head after the other")

        def report(effects: Effects, share: float) -> None:
            bar.progress(share)
            with place:
                show(head_effects(effects, labels=KINDS), f"effects-{share}")

        removal_effects(*run, report)
        bar.empty()
    effects = removal_effects.kept(*run)
    if effects is not None:
        with place.container():
            picture = head_effects(effects, labels=KINDS, selected=selected())
            what = "Effect of removing each head"
            show(picture, "effects", lambda: select_head(*picked("effects")), of=of, what=what)


@section
def switched(sentence: str) -> None:
    """Draw the switches of all heads, and all that follows from them."""
    edits = edit_history.edits()
    if edits.changes_masks:
        st.info(HEAD_WORDS["masks in force"])
    run = TranslatorRun(sentence, edits=edits)
    before, after = TranslatorRun(sentence).trace, run.trace
    of = about(sentence, target=run.target_text, edits=edits)
    config = translator().model.config
    shapes = {kind: (config.layers(kind), config.heads) for kind in KINDS}
    head_switches(shapes, selected(), select_head, of=of)
    output, detail = st.columns(2, gap="medium")
    with output:
        st.subheader("What it does to the output")
        translations = st.container()
        compare_scores(before, after, changed=edits != Edits())
        compare_probabilities(before, after, of=of)
    with detail:
        head_in_detail(after, of)
        which_matter(sentence, edits, of)
    with translations:  # last, for decoding takes longer than all else
        compare_translations(translated(sentence), translated(sentence, edits), of=of)


def reading_help() -> None:
    """Draw what stays as it is whatever is switched."""
    with st.expander("What the badges mean"):
        st.caption(HEAD_WORDS["badges"])
        st.markdown("\n\n".join(f"**{name}**: {words}" for name, words in DEFINITIONS.items()))
    st.page_link("app.py", label="See the heads side by side on the Attention page")


def heads() -> None:
    """Draw the page."""
    if sentence := sentence_box():
        st.caption(HEAD_WORDS["board"])
        switched(sentence)
        reading_help()


HEADS = Page(
    key="heads",
    title="Heads",
    purpose="Switch heads off, and see which of them matter",
    body=heads,
    pictures={
        "switchboard": "the switches of all heads",
        "trained": "the translation as trained",
        "changed": "the translation with changes",
        "map": "one head as a heatmap",
    },
    first="switchboard",
)
