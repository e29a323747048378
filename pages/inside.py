"""Take one weight of one head apart, in the numbers of the run that produced it."""

from __future__ import annotations

import streamlit as st
from pages.shared.controls.choose import choose_head, choose_kind, choose_layer, choose_token
from pages.shared.controls.tabs import tabs

from model.edits import Edits
from model.insight.anatomy import block_of
from model.trace import Site
from pages.shared.controls.sentence import sentence_box
from pages.shared.frame.frame import open_page
from pages.shared.inside.story import tell
from pages.shared.inside.views import beyond, decoder_lens, stream_lengths, switches, words
from pages.shared.link import address
from pages.shared.runs.arrays import tokens_of, weights_of
from pages.shared.runs.inside import Weight, taken_apart
from pages.shared.runs.translator import TranslatorRun, translated
from pages.shared.show.captions import site_words
from pages.shared.show.saving import about
from pages.shared.state import edit_history, models, scene


def choose(sentence: str) -> Weight:
    """The widgets for the run, and for the site, head, query and key in it."""
    chosen = address.current()
    target, pad_to = "", None
    if chosen.inside_of == sentence:
        target = chosen.inside_target
        pad_to = None if chosen.inside_pad_to == "off" else chosen.inside_pad_to
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = choose_kind()
        layer = choose_layer(kind)
        st.toggle(
            "With your changes",
            key="changed",
            disabled=edit_history.edits() == Edits(),
            help="What you changed on the Masks and Heads pages.",
        )
    edits = edit_history.edits() if st.session_state.changed else Edits()
    run = TranslatorRun(models.chosen().key, sentence, target, edits, pad_to)
    trace = run.trace
    queries, keys = tokens_of(trace, kind)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        heads = st.container(
            width="content"
        )  # the head depends on the cell, which is chosen beside it
        query = choose_token("Query: the token that looks", queries, "query")
        key = choose_token("Key: the token looked at", keys, "key")
    if st.session_state.head in scene.SUMMARIES:
        strongest = weights_of(trace, kind)[layer - 1, :, query, key].argmax()
        st.session_state.head = str(strongest + 1)
    with heads:
        head = choose_head(summaries=False)
    place = f"{site_words(kind, layer, head)}, query {query + 1}, key {key + 1}"
    padded = f"; both sides padded to {pad_to} tokens" if pad_to else ""
    about(sentence, target=target or translated(sentence).text, edits=edits, place=place + padded)
    site = Site(kind, layer - 1)
    return Weight(run, site, int(head) - 1, query, key)


def stream(weight: Weight) -> None:
    """What the decoder would already write after each layer, and how the streams grow."""
    decoder_lens(weight)
    stream_lengths(weight.run.trace, ("encoder", "decoder"))


@address.fragment
def inside(sentence: str) -> None:
    """Everything under the sentence box."""
    weight = choose(sentence)
    place, part = (weight.query, weight.key), taken_apart(weight)
    st.metric("Weight", f"{part.weights[weight.key]:.4f}")
    embedding = weight.run.trace.embedding[block_of(weight.site).side]
    sections = (
        lambda: tell(
            part,
            embedding,
            weight.site.layer,
            weight.head,
            place,
            weight.key_tokens,
            weight.run.network.config.norm,
        ),
        lambda: beyond(weight),
        lambda: switches(weight, part),
        lambda: stream(weight),
        lambda: words(sentence),
    )
    tabs(dict(zip(scene.INSIDE_TABS, sections, strict=True)), "inside_tab")
    address.publish()


open_page("Inside a head")
if sentence := sentence_box():
    inside(sentence)
