"""BERT in the project's own layers, and the heads of other models of the transformers library."""

from __future__ import annotations

import streamlit as st
from pages.shared.controls.tabs import tabs

from model.edit_text import read_edits
from model.edits import Edits
from model.library.bert_reader import BertReader
from model.library.transformers_model import TransformersModel
from model.trace import Kind
from pages.parts.bert.inside import inside
from pages.parts.bert.model_box import model_box
from pages.parts.bert.text import (
    parity,
    predictions,
    text_box,
    text_boxes,
    tokens_to_mask,
)
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
from pages.shared.frame.frame import open_page
from pages.shared.link import address
from pages.shared.runs import limits
from pages.shared.runs.arrays import heads_meant
from pages.shared.runs.library import BertRun, attended, layers_of, masked_places, read
from pages.shared.runs.shelf import LOADING, Loaded
from pages.shared.show.pictures import piece_chips, show
from pages.shared.show.saving import about
from pages.shared.show.words import HEAD_WORDS
from pages.shared.state import edit_history, scene
from pages.shared.widgets.choose import choose_kind
from viz import token_strip


def select_head(kind: Kind, layer: int, head: int) -> None:
    """Choose the head that is shown."""
    st.session_state.update(bert_layer=str(layer + 1), bert_head=str(head + 1))


def open_cell(cell: Strongest) -> None:
    """Take a weight apart."""
    layer, head, query, key = cell
    select_head("encoder", layer, head)
    tab = scene.BERT_TABS[2]
    st.session_state.update(bert_query=query + 1, bert_key=key + 1, bert_tab=tab, to_tab=True)


def edits_of(reader: BertReader) -> Edits:
    """The heads that are switched; what an address asks for is put in force first."""
    asked = st.session_state.pop("bert_edits", None)
    now = edit_history.edits(edit_history.BERT)
    if asked is None or (asked == scene.TOO_MANY and now != Edits()):
        return now
    try:
        edit_history.change(read_edits(asked, reader.model.config), edit_history.BERT)
    except ValueError:
        st.session_state.refused_parameters = ("bert_edits",)
        address.note()
    return edit_history.edits(edit_history.BERT)


@address.fragment
def bert(loaded: Loaded, first: str, second: str) -> None:
    """Everything that a BERT's own layers allow."""
    reader: BertReader = loaded.model
    masked = masked_places(reader, first, second, st.session_state.bert_masked)
    edits = edits_of(reader)
    reading = read(loaded, first, second, masked, edits)
    hidden = f"masked: {', '.join(str(place + 1) for place in masked)}" if masked else ""
    about(" / ".join(filter(None, (first, second))), edits=edits, changes=hidden, model=loaded.name)
    if any(piece.role == "mask" for piece in reading.source_tokens):
        left, right = st.columns([3, 2], gap="medium")
        with right:
            predictions(loaded, first, second, masked, edits)
    else:
        left = st.container()
    with left:
        tokens_to_mask(loaded, first, second, reading)
        parity(loaded, first, second)
    pieces = reading.source_tokens
    run = Run(layers_of(reading, "encoder"), pieces, pieces)

    def all_attention() -> None:
        paired = any(piece.segment for piece in pieces)
        attention(run, choose_selection(run, paired), BERT_READING, open_cell)

    def switches() -> None:
        st.caption(f"{SWITCHES} {HEAD_WORDS['board']}")
        layer = heads_meant(st.session_state.bert_layer, len(run.layers))[0]
        head = heads_meant(st.session_state.bert_head, run.heads)[0]
        shapes = {"encoder": (len(run.layers), run.heads)}
        head_switches(shapes, ("encoder", layer, head), select_head, edit_history.BERT)
        if edits != Edits():
            trained = read(loaded, first, second, masked)
            change = (reading.states - trained.states).norm(dim=-1) / trained.states.norm(dim=-1)
            st.metric(
                "The last hidden states move by, on average over tokens",
                f"{change.mean():.1%} of their length",
            )

    def weight() -> None:
        inside(BertRun(loaded.number, first, second, masked, edits), run)

    sections = (all_attention, switches, weight)
    tabs(dict(zip(scene.BERT_TABS, sections, strict=True)), "bert_tab")
    address.publish()


@address.fragment
def foreign(loaded: Loaded, text: str, target: str) -> None:
    """The heads of a model that runs in the transformers library."""
    model = loaded.model
    found = attended(loaded, text, target or None)
    about(text, target=target, model=loaded.name)
    sides = {"Text": found.source_tokens, "What the decoder reads": found.target_tokens}
    for label, pieces in sides.items():
        if pieces:
            label = f"{label}: {len(pieces)} tokens"
            show(
                token_strip("", piece_chips(pieces, False), label=label),
                label,
                save=f"Tokens read, {label}",
            )
    if model.is_cut(text=text):
        st.info(f"The text is longer than the {model.max_tokens} tokens that this model is given.")
    st.info(FOREIGN)
    if st.session_state.bert_kind not in model.kinds:
        st.session_state.bert_kind = model.kinds[0]
    kind = choose_kind("bert_kind", model.kinds)
    run = Run(layers_of(found, kind), found.query_tokens(kind), found.key_tokens(kind), kind)
    attention(run, choose_selection(run, paired=False), FOREIGN_KINDS[kind], None)
    address.publish()


def show_model(loaded: Loaded) -> None:
    """The boxes for the text, and all that the model shows of it."""
    own = isinstance(loaded.model, BertReader)
    if texts := readable(loaded, text_boxes(loaded.model) if own else foreign_boxes(loaded.model)):
        (bert if own else foreign)(loaded, *texts)
    else:
        address.publish()


def foreign_boxes(model: TransformersModel) -> tuple[str, str]:
    """The box for the text, and one for what the decoder reads where the model has both sides."""
    left, right = st.columns(2)
    with left:
        text = text_box("Text", "bert_first", "Type a text and press Enter")
    if len(model.kinds) == 1:
        return text, ""
    with right:
        return text, text_box(TARGET, "bert_target", "")


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


open_page("BERT and others")
if not limits.OTHER_MODELS:
    st.info(LOADING["off"])
elif loaded := model_box():
    show_model(loaded)
else:
    if st.session_state.bert_name:
        with st.container(key="slide-note"):
            st.info(LOADING["gone"])
    st.markdown(PURPOSE)
    address.publish()
