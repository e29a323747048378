"""Decoding: see a translation come about, one token at a time, and steer it."""

from __future__ import annotations

import streamlit as st

from model.edits import Edits
from model.insight.scoring import most_likely_tokens, trace_log_probabilities
from pages.parts.decoding.branches import Branch, branches_of
from pages.parts.decoding.player import node_of, player, tree
from pages.parts.decoding.request import Request, choose_request
from pages.parts.decoding.strategies import CHOICES
from pages.parts.decoding.words import DECODING_WORDS, stopped
from pages.shared.controls.sentence import sentence_box
from pages.shared.link.address import section
from pages.shared.runs.arrays import as_array, following, tokens_of
from pages.shared.runs.translator import TranslatorRun, translated, translator
from pages.shared.show.pictures import chips, show
from pages.shared.show.saving import About, about
from pages.shared.state import edit_history
from pages.shared.state.choices import TARGET
from pages.shared.state.page import Page
from pages.shared.widgets.choose import choose
from viz import shifted_right, token_strip


def what_if(request: Request, of: About) -> None:
    """Draw every branch beside the original, with what differs marked."""
    st.subheader("What if")
    branches = branches_of(request.sentence)
    if len(branches.kept) == 1:
        st.caption(DECODING_WORDS["what if"])
        return
    st.caption(DECODING_WORDS["branches"])
    original = request.decode(Branch()).translation
    for place, branch in enumerate(branches.kept):
        buttons, text = st.columns([1, 3], vertical_alignment="center")
        with buttons, st.container(horizontal=True):
            shown = branch == request.branch
            label, key = "Shown" if shown else "Show", f"show-{place}"
            st.button(label, key=key, on_click=branches.show, args=[branch], disabled=shown)
            if place:
                st.button("Remove", key=f"remove-{place}", on_click=branches.remove, args=[branch])
        with text:
            try:
                made = request.decode(branch).translation
            except ValueError as error:
                st.caption(str(error))
                continue
            row = chips(made.target_tokens, original.target_tokens)
            label = f"{branch.name}: {made.score:.3f} nats, {stopped(made)}"
            strip = token_strip(made.text, row, label=label)
            show(strip, f"branch-{place}", of=of, what=branch.name)


def teacher_forcing(sentence: str, score: float, edits: Edits) -> None:
    """Draw a reference translation read in one pass, beside the score of the free run."""
    st.subheader("Teacher forcing")
    own = translated(sentence).text
    label = "Reference translation: type one, or leave the model's own"
    target = choose(TARGET, label=label, placeholder=own)
    trace = TranslatorRun(sentence, target, edits).trace
    wanted, log_probabilities = following(trace), trace_log_probabilities(trace)
    likeliest, ids = most_likely_tokens(trace)
    picture = shifted_right(
        as_array(log_probabilities.exp()),
        as_array(likeliest),
        tokens_of(trace, "decoder")[0],
        [token.text for token in wanted],
        [translator().tokenizer.append("", index)[1].text for index in ids],
    )
    of = about(sentence, target=target or own, edits=edits)
    show(picture, "forced", of=of, what="Teacher forcing")
    with st.container(horizontal=True):
        st.metric("The reference, forced", f"{log_probabilities.sum():.3f} nats")
        st.metric("The free run", f"{score:.3f} nats")
        agreed = sum(token.id == index for token, index in zip(wanted, ids, strict=True))
        st.metric("Reference token ranked first", f"{agreed} of {len(wanted)}")
    st.caption(DECODING_WORDS["teacher forcing"])


@section
def everything(sentence: str) -> None:
    """Draw everything under the sentence box."""
    if edit_history.edits() != Edits():
        st.info(DECODING_WORDS["edits in force"])
    request = choose_request(sentence)
    decoding = request.decode()
    made = decoding.translation
    st.text(f"Shown: {request.branch.name}, {stopped(made)}.")
    of = about(sentence, target=made.text, edits=request.edits, place=request.words)
    node = node_of(request)
    player(request, node, of)
    if request.strategy.strategy == "beam":
        tree(decoding, node, of)
    what_if(request, of)
    teacher_forcing(sentence, made.score, request.edits)


def decoding_page() -> None:
    """Draw the page."""
    if sentence := sentence_box():
        everything(sentence)


DECODING = Page(
    key="decoding",
    title="Decoding",
    purpose="How the output comes about, one token at a time",
    body=decoding_page,
    choices=(TARGET, *CHOICES),
    pictures={
        "player": "the steps of the decoding",
        "tree": "the beam",
        "forced": "a reference, forced",
    },
    first="player",
)
