"""BERT in the project's own layers, and the heads of other models of the transformers library."""

from __future__ import annotations

import streamlit as st

from model.edits import Edits, read_edits
from model.library.bert_reader import BertReader
from model.library.transformers_model import TransformersModel
from model.trace import Kind
from pages.parts.bert.choices import CHOICES, KEY, QUERY, TAB
from pages.parts.bert.inside import inside
from pages.parts.bert.model_box import model_box
from pages.parts.bert.text import parity, predictions, text_box, text_boxes, tokens_to_mask
from pages.parts.bert.view import Run, Strongest, attention, choose_selection
from pages.parts.bert.words import (
    BERT_READING,
    FOREIGN,
    FOREIGN_KINDS,
    LAST_TEXT,
    PURPOSE,
    SWITCHES,
    TARGET,
)
from pages.shared.controls.head_switches import head_switches
from pages.shared.link import address
from pages.shared.link.address import section
from pages.shared.runs import limits
from pages.shared.runs.arrays import heads_meant
from pages.shared.runs.library import BertRun, attended, layers_of, masked_places, read
from pages.shared.runs.shelf import LOADING, Loaded
from pages.shared.show.pictures import piece_chips, show
from pages.shared.show.saving import about
from pages.shared.show.stage import NOTE, place
from pages.shared.show.words import HEAD_WORDS
from pages.shared.state import edit_history
from pages.shared.state.choices import OWN_SCALE, TOO_MANY, chosen, put
from pages.shared.state.library_choices import (
    BERT_EDITS,
    BERT_FIRST,
    BERT_HEAD,
    BERT_KIND,
    BERT_LAYER,
    BERT_MASKED,
    BERT_NAME,
    BERT_PICTURE,
    BERT_SECOND,
    BERT_TARGET,
)
from pages.shared.state.page import Page
from pages.shared.widgets.choose import choose_kind, tabs
from viz import token_strip


def select_head(kind: Kind, layer: int, head: int) -> None:
    """Choose the head that is shown."""
    put(BERT_LAYER, layer)
    put(BERT_HEAD, head)


def open_cell(cell: Strongest) -> None:
    """Take a weight apart."""
    layer, head, query, key = cell
    select_head("encoder", layer, head)
    put(QUERY, query)
    put(KEY, key)
    put(TAB, "inside")
    st.session_state.to_tab = True


def edits_of(reader: BertReader) -> Edits:
    """The heads that are switched; what an address asks for is put in force first."""
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
    """Everything that a BERT's own layers allow."""
    reader: BertReader = loaded.model
    masked = masked_places(reader, first, second, chosen(BERT_MASKED))
    edits = edits_of(reader)
    reading = read(loaded, first, second, masked, edits)
    hidden = f"masked: {', '.join(str(place + 1) for place in masked)}" if masked else ""
    read_text = " / ".join(filter(None, (first, second)))
    of = about(read_text, edits=edits, changes=hidden, model=loaded.name)
    if any(piece.role == "mask" for piece in reading.source_tokens):
        left, right = st.columns([3, 2], gap="medium")
        with right:
            predictions(loaded, first, second, masked, edits, of)
    else:
        left = st.container()
    with left:
        tokens_to_mask(loaded, first, second, reading, of)
        parity(loaded, first, second)
    pieces = reading.source_tokens
    run = Run(layers_of(reading, "encoder"), pieces, pieces)

    def all_attention() -> None:
        paired = any(piece.segment for piece in pieces)
        attention(run, choose_selection(run, paired), BERT_READING, open_cell, of)

    def switches() -> None:
        st.caption(f"{SWITCHES} {HEAD_WORDS['board']}")
        layer = heads_meant(chosen(BERT_LAYER), len(run.layers))[0]
        head = heads_meant(chosen(BERT_HEAD), run.heads)[0]
        shapes = {"encoder": (len(run.layers), run.heads)}
        head_switches(shapes, ("encoder", layer, head), select_head, edit_history.BERT, of=of)
        if edits != Edits():
            trained = read(loaded, first, second, masked)
            states, usual = reading.outputs["encoder"], trained.outputs["encoder"]
            change = (states - usual).norm(dim=-1) / usual.norm(dim=-1)
            st.metric(
                "Mean change of the last hidden states",
                f"{change.mean():.1%}",
            )

    def weight() -> None:
        inside(BertRun(loaded.number, first, second, masked, edits), run, of)

    tabs(TAB, {"attention": all_attention, "switches": switches, "inside": weight})


@section
def foreign(loaded: Loaded, text: str, target: str) -> None:
    """The heads of a model that runs in the transformers library."""
    model = loaded.model
    found = attended(loaded, text, target or None)
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
    run = Run(layers_of(found, kind), found.query_tokens(kind), found.key_tokens(kind), kind)
    attention(run, choose_selection(run, paired=False), FOREIGN_KINDS[kind], None, of)


def show_model(loaded: Loaded) -> None:
    """Draw the boxes for the text, and all that the model shows of it."""
    own = isinstance(loaded.model, BertReader)
    if texts := readable(loaded, text_boxes(loaded.model) if own else foreign_boxes(loaded.model)):
        draw = bert if own else foreign
        draw(loaded, *texts)


def foreign_boxes(model: TransformersModel) -> tuple[str, str]:
    """The box for the text, and one for what the decoder reads where the model has both sides."""
    left, right = st.columns(2)
    with left:
        text = text_box(BERT_FIRST, "Text", "Type a text and press Enter")
    if len(model.kinds) == 1:
        return text, ""
    with right:
        return text, text_box(BERT_TARGET, TARGET)


def readable(loaded: Loaded, texts: tuple[str, str]) -> tuple[str, str] | None:
    """The texts where the model can read them, else the last ones that it could, if any."""
    first, second = texts
    try:
        if isinstance(loaded.model, BertReader):
            loaded.model.read(first, second)
        else:
            attended(loaded, first, second or None)
    except ValueError as error:
        st.text(str(error))
        number, texts = st.session_state.get("bert_readable", (None, None))
        if number != loaded.number:
            return None
        st.info(LAST_TEXT)
        st.text("\n".join(filter(None, texts)))
        return texts
    st.session_state.bert_readable = loaded.number, texts
    return texts


def library() -> None:
    """Draw the page."""
    if not limits.OTHER_MODELS:
        st.info(LOADING["off"])
    elif loaded := model_box():
        show_model(loaded)
    else:
        if chosen(BERT_NAME):
            with place(NOTE):
                st.info(LOADING["gone"])
        st.markdown(PURPOSE)


BERT = Page(
    key="bert",
    file="pages/bert.py",
    title="BERT and others",
    purpose="Other models' heads: a BERT to change, any to look at",
    body=library,
    choices=(
        OWN_SCALE,
        BERT_NAME,
        BERT_FIRST,
        BERT_SECOND,
        BERT_TARGET,
        BERT_KIND,
        BERT_LAYER,
        BERT_HEAD,
        BERT_PICTURE,
        BERT_MASKED,
        BERT_EDITS,
        *CHOICES,
    ),
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
