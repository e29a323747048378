"""Switch heads off or fade them, and see which of them matter."""

from __future__ import annotations

import streamlit as st

from model.edits import Edits
from model.insight.head_patterns import DEFINITIONS, badges
from model.insight.scoring import trace_log_probabilities
from model.trace import Kind, Site, Trace
from pages.shared.controls.head_switches import Place, head_switches
from pages.shared.controls.sentence import sentence_box
from pages.shared.frame.frame import open_page
from pages.shared.link import address
from pages.shared.runs.arrays import tokens_of, weights_of
from pages.shared.runs.head_effects import Effects, removal_effects
from pages.shared.runs.translator import traced, translated, translator
from pages.shared.show.captions import site_words
from pages.shared.show.cells import attention_map, open_inside
from pages.shared.show.comparison import compare_probabilities, compare_translations
from pages.shared.show.pictures import picked, show
from pages.shared.show.saving import about
from pages.shared.show.words import HEAD_WORDS
from pages.shared.state import edit_history, models, scene
from viz import attention_heatmap, head_effects


def shape(kind: Kind) -> tuple[int, int]:
    """How many layers and heads a kind of attention has."""
    config = translator().model.config
    return config.layers(kind), config.heads


def select(kind: Kind, layer: int, head: int) -> None:
    """Choose the head that is shown, here and on the Attention page."""
    st.session_state.update(kind=kind, layer=layer + 1, head=str(head + 1))


def selected() -> Place:
    """The head that is shown: the one chosen last, on this page or on the Attention page."""
    head = st.session_state.head
    number = 0 if head in scene.SUMMARIES else int(head) - 1
    return st.session_state.kind, st.session_state.layer - 1, number


def choose_effect() -> None:
    """Show the head whose effect was clicked."""
    select(*picked("effects"))


def consequence(before: Trace, after: Trace, edits: Edits) -> None:
    """How likely the model finds the original translation, before and after."""
    score, edited_score = (trace_log_probabilities(trace).sum().item() for trace in (before, after))
    change = f"{edited_score - score:+.3f} against {score:.3f} as trained"
    st.metric(
        "Score of the original translation",
        f"{edited_score:.3f} nats",
        change if edits != Edits() else None,
    )
    compare_probabilities(before, after)


def head_in_detail(trace: Trace) -> None:
    """The weights of the selected head, and what they look like on this sentence."""
    kind, layer, head = selected()
    weights = weights_of(trace, kind)  # (layers, heads, query, key)
    st.subheader(f"{scene.KINDS[kind]}, layer {layer + 1}, head {head + 1}")
    record = trace.attention[Site(kind, layer)]
    visible = record.masked_scores[0, head].isfinite().cpu().numpy()
    found = badges(weights[layer, head], kind, visible)
    st.markdown(
        " ".join(f":blue-badge[{name} {value:.2f}]" for name, value in found)
        or "No badge: this head follows none of the patterns below on this sentence."
    )
    queries, keys = tokens_of(trace, kind)
    place = kind, layer, head
    attention_map(
        attention_heatmap(weights[layer, head], queries, keys, clickable=True),
        "map",
        lambda *cell: open_inside(*place, *cell, changed=True),
        save=site_words(kind, layer + 1, str(head + 1)),
    )


def which_matter(sentence: str, edits: Edits) -> None:
    """The effect of removing each head alone, measured when asked for."""
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
                show(head_effects(effects, labels=scene.KINDS), f"effects-{share}")

        removal_effects(*run, report)
        bar.empty()
    effects = removal_effects.kept(*run)
    if effects is not None:
        with place.container():
            picture = head_effects(effects, labels=scene.KINDS, selected=selected())
            show(picture, "effects", choose_effect, save="Effect of removing each head")


@address.fragment
def heads(sentence: str) -> None:
    """Everything under the sentence box."""
    edits = edit_history.edits()
    if edits.changes_masks:
        st.info(HEAD_WORDS["masks in force"])
    before, after = traced(sentence), traced(sentence, edits=edits)
    about(sentence, target=translated(sentence).text, edits=edits)
    head_switches({kind: shape(kind) for kind in scene.KINDS}, selected(), select)
    output, detail = st.columns(2, gap="medium")
    with output:
        st.subheader("What it does to the output")
        translations = st.container()
        consequence(before, after, edits)
    with detail:
        head_in_detail(after)
        which_matter(sentence, edits)
    with translations:  # last, for decoding takes longer than all else
        compare_translations(translated(sentence), translated(sentence, edits))
    address.publish()


def reading_help() -> None:
    """What stays as it is whatever is switched."""
    with st.expander("What the badges mean"):
        st.caption(HEAD_WORDS["badges"])
        st.markdown("\n\n".join(f"**{name}**: {words}" for name, words in DEFINITIONS.items()))
    st.page_link("app.py", label="See the heads side by side on the Attention page")


open_page("Heads")
if sentence := sentence_box():
    st.caption(HEAD_WORDS["board"])
    heads(sentence)
    reading_help()
