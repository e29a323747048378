"""Where tokens stand: sinusoids and learned positions, and what happens without them."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st
from pages.shared.controls.choose import choose_head, choose_kind, choose_layer
from pages.shared.controls.tabs import tabs

from model.edits import Edits
from model.insight.permutation import shuffled
from model.insight.scoring import trace_log_probabilities
from model.positions import sinusoids
from model.trace import PositionEdit, Side, Trace
from pages.parts.positions.tables import LONGEST, learned_section, sinusoid_section
from pages.parts.positions.words import BEYOND_WORDS, SENTENCE_WORDS, TOKEN_WORDS
from pages.shared.controls.sentence import sentence_box
from pages.shared.frame.frame import open_page
from pages.shared.link import address
from pages.shared.runs.arrays import blocked_cells, one_head, tokens_of, weights_of
from pages.shared.runs.positions import (
    LEARNED,
    SHIFTS,
    learned_table,
    repositioned,
    retraced,
    scores_by_shift,
    shuffle,
)
from pages.shared.runs.records import trained_up_to
from pages.shared.runs.translator import traced, translated, translator
from pages.shared.show.captions import site_words
from pages.shared.show.comparison import CHANGED, TRAINED, compare_translations
from pages.shared.show.pictures import chips, show, show_altair, show_plotly
from pages.shared.show.saving import about
from pages.shared.state import catalog, edit_history, models, scene
from viz import attention_heatmap, position_lines, token_strip, vector_strips
from viz.numbers import Numbers, counted

SHIPPED = {catalog.DEFAULT: "sinusoidal, the shipped model", LEARNED: "learned, the small model"}


def sides() -> dict[Side, str]:
    """Both sides of the model by the names they have on screen."""
    model = models.chosen()
    return {"encoder": f"{model.source}, encoder", "decoder": f"{model.target}, decoder"}


def shuffle_again() -> None:
    """Take another random order from now on."""
    st.session_state.positions_seed += 1


def position_edit(side: Side, mode: str, shift: int, tokens: int) -> PositionEdit:
    """What a mode does to a side with so many tokens; start and end token are not shuffled."""
    if mode == "off":
        return PositionEdit(off=True)
    if mode == "shifted":
        return PositionEdit(shift=shift)
    if mode == "shuffled":
        first = 1 if side == "decoder" else 0
        order = shuffled(tokens - 1, st.session_state.positions_seed)
        return PositionEdit(order=(*range(first), *(first + place for place in order)))
    return PositionEdit()


def mode_controls(before: Trace) -> tuple[PositionEdit, PositionEdit]:
    """The widgets that change the positions of each side; returns the changes."""
    modes = {}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for side in ("encoder", "decoder"):
            modes[side] = st.segmented_control(
                f"Positions of the {side}",
                scene.POSITION_MODES,
                key=f"positions_{side}",
                required=True,
            )
        lowest, highest = scene.RANGES["positions_shift"]
        shift = st.number_input("Shift by k", lowest, highest, key="positions_shift", width=120)
        st.button("Shuffle again", on_click=shuffle_again)
    tokens = {"encoder": len(before.source_tokens), "decoder": len(before.target_tokens)}
    edits = {side: position_edit(side, modes[side], shift, tokens[side]) for side in modes}
    for side, edit in edits.items():
        if not edit.off and edit != PositionEdit():
            places = " ".join(map(str, edit.places(0, tokens[side])))
            st.caption(f"{sides()[side]}: the tokens stand at {places}")
    return edits["encoder"], edits["decoder"]


def position_words(edit: PositionEdit) -> str:
    """What a change of positions is, in words."""
    if edit.off:
        return "off"
    order = " ".join(map(str, edit.order)) if edit.order else ""
    return f"shuffled to {order}" if order else f"shifted by {edit.shift}"


@address.fragment
def sentence_section(sentence: str) -> None:
    """The model with its positions changed: translation and attention."""
    if edit_history.edits() != Edits():
        st.info(SENTENCE_WORDS["in force"])
    before = traced(sentence)
    edits = mode_controls(before)
    st.caption(SENTENCE_WORDS["modes"])
    name = models.chosen().key
    try:
        after, moved = retraced(sentence, *edits, name), repositioned(sentence, *edits, name)
    except ValueError as error:
        st.warning(str(error))
        return
    changes = "; ".join(
        f"positions of the {side} {position_words(edit)}"
        for side, edit in zip(("encoder", "decoder"), edits, strict=True)
        if edit != PositionEdit()
    )
    about(sentence, target=translated(sentence).text, changes=changes)
    compare_translations(translated(sentence), moved)
    score, edited = (trace_log_probabilities(trace).sum().item() for trace in (before, after))
    changed = edits != (PositionEdit(), PositionEdit())
    st.metric(
        "Score of the original translation",
        f"{edited:.3f} nats",
        f"{edited - score:+.3f} against {score:.3f} as trained" if changed else None,
    )
    st.subheader("Attention before and after")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = choose_kind()
        layer, head = choose_layer(kind), choose_head()
    columns = st.columns(2, gap="medium")
    for column, (title, trace) in zip(columns, ((TRAINED, before), (CHANGED, after)), strict=True):
        with column:
            st.markdown(f"**Weights {title}**")
            weights = one_head(weights_of(trace, kind)[layer - 1], head)
            queries, keys = tokens_of(trace, kind)
            heatmap = attention_heatmap(weights, queries, keys, blocked=blocked_cells(trace, kind))
            save = f"{site_words(kind, layer, head)}, {title}"
            show(heatmap, f"weights {title}", save=save)
    st.caption(SENTENCE_WORDS["same target"])
    st.subheader("Shuffle the words")
    shuffle_section(sentence)
    address.publish()


def shuffle_section(sentence: str) -> None:
    """What shuffling the words does to the encoder's outputs, with positions and without."""
    st.caption(SENTENCE_WORDS["shuffle"])
    made = shuffle(sentence, st.session_state.positions_seed, models.chosen().key)
    if len(made.order) < 3:
        st.info(SENTENCE_WORDS["one word"])
        return
    strip = token_strip("", chips(made.tokens), label="The words shuffled")
    about(sentence)
    show(strip, "shuffled", save="The words shuffled")
    left, middle, right = st.columns(3)
    left.metric("Largest difference without positions", f"{made.without_positions.max():.1e}")
    middle.metric("Largest difference with positions", f"{made.with_positions.max():.3f}")
    right.metric("Largest number in the outputs", f"{made.largest_output:.3f}")
    st.dataframe(
        {
            "token": [token.text for token in made.tokens],
            "stood at": made.order,
            "stands at": range(len(made.order)),
            "difference without positions": [f"{value:.1e}" for value in made.without_positions],
            "with positions": [f"{value:.3f}" for value in made.with_positions],
        },
        hide_index=True,
    )


@address.fragment
def token_section(sentence: str) -> None:
    """How embedding, scaling and position add up for one token."""
    trace = traced(sentence)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        side = st.segmented_control(
            "Side",
            sides(),
            default="encoder",
            format_func=sides().get,
            required=True,
            key="positions_token_side",
            persist_state="session",
        )
        tokens = trace.source_tokens if side == "encoder" else trace.target_tokens
        place = st.selectbox(
            "Token",
            range(len(tokens)),
            index=min(1, len(tokens) - 1),
            format_func=lambda position: f"{position}: {tokens[position].text}",
            key=f"positions_token_{side}",
            persist_state="session",
            width=260,
        )
    record = trace.embedding[side]
    scale = translator().model.encoder.embedding.scale
    vectors = {
        "embedding": record.tokens[0, place],
        f"× {scale:.4g}": record.scaled[0, place],
        f"position {place}": record.positions[place],
        "sum": record.states[0, place],
    }
    for column, (name, vector) in zip(st.columns(4), vectors.items(), strict=True):
        column.metric(f"Length: {name}", f"{vector.norm():.3f}")
    values = {name: vector.cpu().numpy() for name, vector in vectors.items()}
    stacked = np.stack(list(values.values()))
    axes = {"vector": list(values), "dimension": counted(stacked.shape[1], 0)}
    about(sentence, target=translated(sentence).text)
    save = f"Embedding and position of token {place} of the {side}"
    numbers = {"value": Numbers(stacked, axes)}
    show_plotly(vector_strips(values), "strips", save=save, numbers=numbers)
    st.caption(TOKEN_WORDS.format(scale=scale))


@address.fragment
def beyond_section(sentence: str) -> None:
    """Positions that were never trained: the sinusoid goes on, the learned table ends."""
    st.subheader("The tables")
    st.caption(BEYOND_WORDS["formula"])
    table = learned_table("encoder")
    positions, d_model = table.shape
    dimension = st.slider(
        "Dimension",
        0,
        d_model - 1,
        24,
        key="positions_dimension",
        persist_state="session",
        width=320,
    )
    ended = np.full(LONGEST, np.nan, dtype=np.float32)
    ended[:positions] = table[:, dimension]
    lines = {"sinusoidal": sinusoids(LONGEST, d_model)[:, dimension].numpy(), "learned": ended}
    about(model="")
    show_altair(position_lines(lines), "tables", save=f"Positions in dimension {dimension}")
    st.subheader("Your sentence, k positions on")
    st.caption(BEYOND_WORDS["shift"])
    model = models.chosen()
    compared = {model.key: model.title} if model.is_own else SHIPPED
    lines = {words: np.array(scores_by_shift(sentence, name)) for name, words in compared.items()}
    about(sentence, model=", ".join(compared.values()))
    chart = position_lines(lines, SHIFTS, x="k", y="nats a token")
    show_altair(chart, "shifts", save="Log-probability by how far all positions are shifted")
    if not model.is_own:
        st.caption(
            BEYOND_WORDS["honest"].format(
                encoder=trained_up_to("encoder"), decoder=trained_up_to("decoder")
            )
        )
    shift = st.select_slider(
        "k", SHIFTS, 256, key="positions_far", persist_state="session", width=320
    )
    for name, words in compared.items():
        edit = PositionEdit(shift=shift)
        try:
            moved = repositioned(sentence, edit, edit, name)
        except ValueError as error:
            st.warning(f"{words.capitalize()}: {error}")
        else:
            strip = token_strip(moved.text, chips(moved.target_tokens), label=words.capitalize())
            about(sentence, model=words, changes=f"all positions shifted by {shift}")
            show(strip, f"moved {name}", save="Translation at other positions")


open_page("Positions")
sentence = sentence_box()
of_sentence = [
    partial(section, sentence) if sentence else lambda: None
    for section in (sentence_section, token_section, beyond_section)
]
sections = (sinusoid_section, learned_section, *of_sentence)
tabs(dict(zip(scene.POSITION_TABS, sections, strict=True)), "positions_tab")
address.publish()
