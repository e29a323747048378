"""What stands beside the story of one weight: other views, switches, the stream, words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st
import torch
from model.insight.variants import (
    NORM_ORDER_NOTE,
    activations,
    layer_and_batch_norm,
    norm_orders,
    pre_activations,
    scale_sweep,
    separate_heads,
    width_sweep,
)

from model.insight.anatomy import Anatomy, block_of, read_at
from model.insight.explain import NOTES, Explanation, Objective, explain_by
from model.insight.lens import lens, stream_norms
from model.insight.similarity import Similarity, in_sentence, word_similarity
from model.library.bert import Bert
from model.trace import RunEdits, Side, Site, Trace
from model.transformer import Transformer
from pages.shared.inside.story import numbers
from pages.shared.inside.words import SWITCH_WORDS, TAB_WORDS, VIEWS
from pages.shared.runs.translator import tokens_of, translator
from pages.shared.show.pictures import show, show_altair
from viz import Row, position_lines, vector_rows, word_heatmap

TEMPERATURES = [round(0.1 * step, 1) for step in range(1, 51)]
WIDTHS = [4, 8, 16, 32, 64, 128, 256]
DIMENSIONS_SHOWN = 64  # of a feed-forward layer's many


@dataclass(frozen=True)
class Cell:
    """One weight of one run: what every tab is about. Everything counts from 0."""

    model: Transformer | Bert
    trace: Trace
    changes: RunEdits  # the visitor's, as the run had them
    site: Site
    head: int
    query: int
    key: int

    @property
    def key_tokens(self) -> list[str]:
        """The texts of the tokens looked at."""
        return tokens_of(self.trace, self.site.kind)[1]


def beyond(
    cell: Cell, objective: Objective | None, missing: Mapping[str, str] | None = None
) -> None:
    """The same query's keys in five ways, with the effects on an objective.

    `missing` says of views that cannot be had why not.
    """
    st.caption(TAB_WORDS["beyond"])
    missing = missing or {}
    found = explained(cell, objective, "removals" not in missing)
    if objective and "gradient_times_attention" not in missing:
        token = " ".join(token.text for token in objective.tokens)
        st.text(f"Effects are on {objective.description}: {token}")
    rows = [
        Row(label, numbers(getattr(found, field)), probabilities=field == "weights")
        for field, label in VIEWS.items()
        if field not in missing
    ]
    picture = vector_rows(rows, columns=cell.key_tokens, marked=[cell.key], own_scales=True)
    show(picture, "five-views", save="Five views of the query's keys")
    for field, label in VIEWS.items():
        st.markdown(f"**{label}**: {missing.get(field, NOTES[field])}")


def explained(cell: Cell, objective: Objective | None, close: bool) -> Explanation:
    """The five views of a cell, kept for as long as the session stays at its query."""
    query = (id(cell.trace), cell.site, cell.head, cell.query)
    kept = st.session_state.get("explained")
    if kept is None or kept[0] != query:
        with st.spinner("Closing one cell after the other …"):
            parts = (cell.site, cell.head, cell.query, objective, cell.changes, close)
            # The trace is kept too, so that its id is not given to another one.
            kept = query, explain_by(cell.model, cell.trace, *parts), cell.trace
        st.session_state.explained = kept
    return kept[1]


def softmax_switches(cell: Cell, part: Anatomy) -> None:
    """The scale and the temperature of this query's softmax."""
    st.subheader("The scale, and a temperature")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        scaled = st.toggle("Divide by √d", value=True, key="scale_on")
        temperature = st.select_slider(
            "Temperature", TEMPERATURES, 1.0, key="softmax_temperature", width=320
        )
    width = len(part.query)
    dots = part.masked_scores / part.scale
    factor = (width**-0.5 if scaled else 1.0) / temperature
    weights = torch.softmax(dots * factor, dim=-1).nan_to_num()
    rows = [
        Row("weights of the run", numbers(part.weights), probabilities=True),
        Row(f"with q·k × {factor:.4f}", numbers(weights), probabilities=True),
    ]
    show(
        vector_rows(rows, columns=cell.key_tokens, marked=[cell.key]),
        "rescaled",
        save="Weights at another scale",
    )
    record = cell.trace.attention[cell.site]
    visible = part.masked_scores.isfinite()
    factors = np.linspace(0, 1, 101)  # 1 is no scale at all
    keys = record.key[0, cell.head][visible]
    if len(keys):
        sweep = scale_sweep(part.query, keys, factors.tolist())
        left, right = st.columns(2)
        with left:
            lines = {"entropy, nats": numbers(sweep.entropy)}
            chart = position_lines(lines, factors, x="factor", y="nats", height=220)
            show_altair(chart, "entropy", save="Entropy by the scale's factor")
        with right:
            lines = {"largest weight": numbers(sweep.largest)}
            chart = position_lines(lines, factors, x="factor", y="weight", height=220)
            show_altair(chart, "largest", save="Largest weight by the scale's factor")
    st.caption(SWITCH_WORDS["scale"])
    widths = {
        f"{quantity}, {name}": numbers(getattr(sweep, quantity))
        for name, sweep in width_sweep(WIDTHS, keys=16).items()
        for quantity in ("entropy", "largest")
    }
    chart = position_lines(widths, WIDTHS, x="width of the head", y="", height=240)
    show_altair(chart, "widths", save="Entropy and largest weight by the width of a head")
    st.caption(SWITCH_WORDS["width"])


def switches(cell: Cell, part: Anatomy) -> None:
    """What the parts of the architecture do to the visitor's own numbers."""
    softmax_switches(cell, part)
    model, block = cell.model, block_of(cell.site)
    st.subheader("Small projections for each head, or one fused")
    inputs = read_at(cell.trace, cell.site)
    _, fused, difference = separate_heads(model, cell.site, *inputs)
    with st.container(horizontal=True):
        st.metric("Largest difference", f"{difference:.1e}" if difference else "0")
        st.metric("Query of this head, separate", shape_of(fused.query[cell.head]))
        st.metric("All heads, fused", f"{len(fused.query)} × {shape_of(fused.query[cell.head])}")
    st.caption(SWITCH_WORDS["fused"])

    st.subheader("Layer norm or batch norm")
    layer, batch = layer_and_batch_norm(cell.trace.residual[block].states)
    rows = [
        Row("layer norm", numbers(layer.states[cell.query])),
        Row("batch norm", numbers(batch.states[cell.query])),
    ]
    show(vector_rows(rows), "norms", save="Layer norm and batch norm")
    if len(layer.changes):
        with st.container(horizontal=True):
            for name, normed in (("Layer norm", layer), ("Batch norm", batch)):
                moved = f"{normed.changes.max():.4f}"
                st.metric(f"{name}: change of the others without the last token", moved)
    st.caption(SWITCH_WORDS["norm"])

    st.subheader("Pre-norm or post-norm")
    orders = norm_orders(model, cell.trace, cell.changes)
    lines = {
        f"{order}-norm": numbers(torch.stack([norm[cell.query] for _, norm in sides[block.side]]))
        for order, sides in orders.items()
    }
    chart = position_lines(lines, x="sublayer", y="length of the stream", height=240)
    show_altair(chart, "orders", save="Length of the stream with either order of norms")
    st.caption(f"{SWITCH_WORDS['order']} {NORM_ORDER_NOTE}")

    st.subheader("ReLU or GELU")
    inner = pre_activations(model, cell.trace, block.side, cell.site.layer)
    found = activations(inner)
    rows = [
        Row(label, numbers(values[cell.query, :DIMENSIONS_SHOWN]))
        for label, values in (
            ("before", inner),
            ("ReLU", found.relu),
            ("GELU", found.gelu),
        )
    ]
    show(vector_rows(rows), "activations", save="ReLU and GELU")
    with st.container(horizontal=True):
        st.metric("Zeros after ReLU, all tokens", f"{found.relu_zeros:.1%}")
        st.metric("Zeros after GELU, all tokens", f"{found.gelu_zeros:.1%}")
    st.caption(SWITCH_WORDS["activation"].format(shown=DIMENSIONS_SHOWN, all=inner.size(-1)))


def shape_of(tensor: torch.Tensor) -> str:
    """A shape as people write it."""
    return " × ".join(map(str, tensor.shape))


def decoder_lens(cell: Cell) -> None:
    """What the decoder would already write after each layer."""
    st.caption(TAB_WORDS["lens"])
    model = translator()
    table = lens(model.model, cell.trace, top=1)
    read, _ = tokens_of(cell.trace, "decoder")
    names = [f"{place + 1}: {token}" for place, token in enumerate(read)]

    def words(layer: int, place: int) -> str:
        token = model.tokenizer.append("", table.ids[layer, place, 0].item())[1].text
        probability = table.probabilities[layer, place, 0].item()
        return f"{token}  {probability:.2f}  (rank {table.ranks[layer, place]})"

    rows = {
        name: [words(layer, place) for layer in range(len(table.labels))]
        for place, name in enumerate(names)
    }
    st.dataframe(pd.DataFrame(rows, index=table.labels))


def stream_lengths(trace: Trace, sides: Sequence[Side]) -> None:
    """How long the vectors of the residual stream are, block by block."""
    st.subheader("The length of the stream")
    for column, side in zip(st.columns(2), sides, strict=False):
        norms = torch.stack([norm for _, norm in stream_norms(trace, side)])  # (N, T)
        lines = {
            "mean over tokens": numbers(norms.mean(dim=1)),
            "largest": numbers(norms.max(dim=1).values),
        }
        with column:
            st.markdown(f"**{side.title()}**")
            chart = position_lines(lines, x="sublayer", y="length", height=240)
            show_altair(chart, f"stream {side}", save=f"Length of the {side}'s stream")


def words(sentence: str) -> None:
    """How alike words are, before the encoder and after it."""
    st.caption(TAB_WORDS["words"])
    typed = st.text_input("Words, with commas between", "king, queen, moon", max_chars=200)
    try:
        asked = [word.strip() for word in typed.split(",") if word.strip()]
        compare("Each word alone", word_similarity(translator(), asked), "alone")
        compare("In your sentence", in_sentence(translator(), sentence), "sentence")
    except ValueError as error:
        st.text(str(error))


def compare(title: str, found: Similarity, key: str) -> None:
    """Two maps of similarities, before and after context."""
    st.subheader(title)
    left, right = st.columns(2)
    for column, name, values in (
        (left, "Embeddings", found.embeddings),
        (right, "After the encoder", found.outputs),
    ):
        with column:
            st.markdown(f"**{name}**")
            save = f"Similarity of words, {title}, {name}".lower().capitalize()
            show(word_heatmap(numbers(values), found.words), f"{key} {name}", save=save)
