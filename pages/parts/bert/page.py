"""BERT in the project's own layers, and the heads of other models of the transformers library."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from model.edits import Edits, read_edits
from model.library.bert_reader import BertReader
from pages.parts.bert.choices import CHOICES, KEY, QUERY, TAB
from pages.parts.bert.inside import inside
from pages.parts.bert.model_box import model_box
from pages.parts.bert.text import parity, predictions, text_boxes, tokens_to_mask
from pages.parts.bert.view import Strongest, attention, heads_shown, select_head
from pages.parts.bert.words import (
    BERT_READING,
    FOREIGN,
    FOREIGN_KINDS,
    LAST_TEXT,
    PURPOSE,
    SWITCHES,
)
from pages.shared.controls.head_switches import head_switches
from pages.shared.link import address
from pages.shared.link.address import section
from pages.shared.runs import limits
from pages.shared.runs.library import BertRun, bert_run, heads_in, heads_of
from pages.shared.runs.shelf import LOADING, Loaded
from pages.shared.show.pictures import piece_chips, show
from pages.shared.show.saving import About, about
from pages.shared.show.stage import NOTE, place
from pages.shared.show.words import HEAD_WORDS
from pages.shared.state import edit_history
from pages.shared.state.choices import OWN_SCALE, TOO_MANY, chosen, put
from pages.shared.state.library_choices import (
    BERT_EDITS,
    BERT_KIND,
    BERT_MASKED,
    BERT_NAME,
    BERT_PICTURE,
    LIBRARY_CHOICES,
)
from pages.shared.state.page import Page
from pages.shared.widgets.choose import choose_kind, tabs
from viz import token_strip


def open_cell(cell: Strongest) -> None:
    """Take a weight apart."""
    layer, head, query, key = cell
    select_head(layer, head)
    put(QUERY, query)
    put(KEY, key)
    put(TAB, "inside")
    st.session_state.to_tab = True


def edits_of(reader: BertReader) -> Edits:
    """Return the heads that are switched; what a link asks for is put in force first."""
    asked = st.session_state.pop(BERT_EDITS.key, None)
    now = edit_history.edits(edit_history.BERT)
    if asked is None or (asked == TOO_MANY and now != Edits()):
        return now
    try:
        edit_history.change(read_edits(asked, reader.model.config), edit_history.BERT)
    except ValueError:
        st.session_state.refused_parameters = (BERT_EDITS.key,)
        address.note()
    return edit_history.edits(edit_history.BERT)


@section
def bert(loaded: Loaded, first: str, second: str) -> None:
    """Draw everything that a BERT's own layers allow."""
    edits = edits_of(loaded.model)
    run = bert_run(loaded, first, second, chosen(BERT_MASKED), edits)
    hidden = f"masked: {', '.join(str(place + 1) for place in run.masked)}" if run.masked else ""
    read = " / ".join(filter(None, (first, second)))
    of = about(read, edits=edits, changes=hidden, model=loaded.name)
    left = st.container()
    if any(piece.role == "mask" for piece in run.trace.source_tokens):
        left, right = left.columns([3, 2], gap="medium")
        with right:
            predictions(run, of)
    with left:
        tokens_to_mask(run, of)
        parity(run)
    found = heads_in(run.trace)
    sections = {
        "attention": lambda: attention(found, "encoder", BERT_READING, open_cell, of),
        "switches": lambda: switches(run, of),
        "inside": lambda: inside(run, of),
    }
    tabs(TAB, sections)


def switches(run: BertRun, of: About) -> None:
    """Draw the switches of all heads, and how much they change."""
    st.caption(f"{SWITCHES} {HEAD_WORDS['board']}")
    (layer, *_), (head, *_) = heads_shown(heads_in(run.trace), "encoder")
    config, shown = run.network.config, ("encoder", layer, head)
    shapes = {"encoder": (config.encoder_layers, config.heads)}
    head_switches(shapes, shown, lambda _, *head: select_head(*head), edit_history.BERT, of=of)
    if run.edits != Edits():
        states, usual = (one.trace.outputs["encoder"] for one in (run, replace(run, edits=Edits())))
        change = (states - usual).norm(dim=-1) / usual.norm(dim=-1)
        st.metric("Mean change of the last hidden states", f"{change.mean():.1%}")


@section
def foreign(loaded: Loaded, text: str, target: str) -> None:
    """Draw the heads of a model that runs in the transformers library."""
    model, found = loaded.model, heads_of(loaded, text, target)
    of = about(text, target=target, model=loaded.name)
    sides = {"Text": found.source_tokens, "What the decoder reads": found.target_tokens}
    for label, pieces in sides.items():
        if pieces:
            label = f"{label}: {len(pieces)} tokens"
            strip = token_strip("", piece_chips(pieces, False), label=label)
            show(strip, label, of=of, what=f"Tokens read, {label}")
    if model.is_cut(text=text):
        st.info(f"The text is longer than the {model.max_tokens} tokens that this model is given.")
    st.info(FOREIGN)
    kind = choose_kind(BERT_KIND, model.kinds)
    attention(found, kind, FOREIGN_KINDS[kind], None, of)


def readable(loaded: Loaded, texts: tuple[str, str]) -> tuple[str, str] | None:
    """Return the texts if the model can read them, else the last ones that it could, if any."""
    try:
        if isinstance(loaded.model, BertReader):
            loaded.model.read(*texts)
        else:
            heads_of(loaded, *texts)
    except ValueError as error:
        st.text(str(error))
        number, texts = st.session_state.get("bert_readable", (None, None))
        if number != loaded.number:
            return None
        st.info(LAST_TEXT)
        st.text("\n".join(filter(None, texts)))
    st.session_state.bert_readable = loaded.number, texts
    return texts


def library() -> None:
    """Draw the page."""
    if not limits.OTHER_MODELS:
        st.info(LOADING["off"])
    elif loaded := model_box():
        draw = bert if isinstance(loaded.model, BertReader) else foreign
        if texts := readable(loaded, text_boxes(loaded.model)):
            draw(loaded, *texts)
    else:
        if chosen(BERT_NAME):
            with place(NOTE):
                st.info(LOADING["gone"])
        st.markdown(PURPOSE)


BERT = Page(
    key="bert",
    title="BERT and others",
    purpose="Other models' heads: a BERT to change, any to look at",
    body=library,
    choices=(OWN_SCALE, *LIBRARY_CHOICES, *CHOICES),
    pictures={
        "heatmap": "one head as a heatmap",
        "lines": "one head as lines",
        "grid": "all heads",
        "tokens": "the tokens it reads",
        "predictions": "what it puts in place of a mask",
        "switchboard": "the switches of all heads",
        "story-dot": "the dot product",
        "story-softmax": "the softmax",
    },
    first=BERT_PICTURE,
)
