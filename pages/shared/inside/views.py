"""What stands beside the story of one weight: other views, switches, the stream, words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st
import torch

from model.insight.activations import activations
from model.insight.anatomy import Anatomy, block_of
from model.insight.explain import NOTES
from model.insight.lens import stream_norms
from model.insight.norm_kinds import layer_and_batch_norm
from model.insight.norm_orders import NORM_ORDER_NOTE
from model.insight.similarity import Similarity
from model.insight.softmax_scale import scale_sweep, width_sweep
from model.trace import Side, Trace
from pages.shared.inside.words import SWITCH_WORDS, TAB_WORDS, VIEWS
from pages.shared.runs.arrays import as_array, tokens_of
from pages.shared.runs.inside import (
    Weight,
    explained,
    head_projections,
    inner_states,
    lens_table,
    stream_by_norm_order,
    words_alone,
    words_in_sentence,
)
from pages.shared.runs.translator import translator
from pages.shared.show.pictures import show, show_altair
from pages.shared.state import models
from viz import Row, position_lines, vector_rows, word_heatmap

TEMPERATURES = [round(0.1 * step, 1) for step in range(1, 51)]
WIDTHS = [4, 8, 16, 32, 64, 128, 256]
DIMENSIONS_SHOWN = 64  # of a feed-forward layer's many


def beyond(weight: Weight, missing: Mapping[str, str] | None = None) -> None:
    """Draw the same query's keys in five ways, with the effects on an objective.

    `missing` says of views that cannot be had why not.
    """
    st.caption(TAB_WORDS["beyond"])
    missing = missing or {}
    found = explained(weight, close="removals" not in missing)
    objective = found.objective
    if objective and "gradient_times_attention" not in missing:
        token = " ".join(token.text for token in objective.tokens)
        st.text(f"Effects are on {objective.description}: {token}")
    rows = [
        Row(label, as_array(getattr(found, field)), probabilities=field == "weights")
        for field, label in VIEWS.items()
        if field not in missing
    ]
    picture = vector_rows(rows, columns=weight.key_tokens, marked=[weight.key], own_scales=True)
    show(picture, "five-views", save="Five views of the query's keys")
    for field, label in VIEWS.items():
        st.markdown(f"**{label}**: {missing.get(field, NOTES[field])}")


def softmax_switches(weight: Weight, part: Anatomy) -> None:
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
        Row("weights of the run", as_array(part.weights), probabilities=True),
        Row(f"with q·k × {factor:.4f}", as_array(weights), probabilities=True),
    ]
    show(
        vector_rows(rows, columns=weight.key_tokens, marked=[weight.key]),
        "rescaled",
        save="Weights at another scale",
    )
    record = weight.run.trace.attention[weight.site]
    visible = part.masked_scores.isfinite()
    factors = np.linspace(0, 1, 101)  # 1 is no scale at all
    keys = record.key[0, weight.head][visible]
    if len(keys):
        sweep = scale_sweep(part.query, keys, factors.tolist())
        left, right = st.columns(2)
        with left:
            lines = {"entropy, nats": as_array(sweep.entropy)}
            chart = position_lines(lines, factors, x="factor", y="nats", height=220)
            show_altair(chart, "entropy", save="Entropy by the scale's factor")
        with right:
            lines = {"largest weight": as_array(sweep.largest)}
            chart = position_lines(lines, factors, x="factor", y="weight", height=220)
            show_altair(chart, "largest", save="Largest weight by the scale's factor")
    st.caption(SWITCH_WORDS["scale"])
    widths = {
        f"{quantity}, {name}": as_array(getattr(sweep, quantity))
        for name, sweep in width_sweep(WIDTHS, keys=16).items()
        for quantity in ("entropy", "largest")
    }
    chart = position_lines(widths, WIDTHS, x="width of the head", y="", height=240)
    show_altair(chart, "widths", save="Entropy and largest weight by the width of a head")
    st.caption(SWITCH_WORDS["width"])


def switches(weight: Weight, part: Anatomy) -> None:
    """What the parts of the architecture do to the visitor's own numbers."""
    softmax_switches(weight, part)
    run, block = weight.run, block_of(weight.site)
    st.subheader("Small projections for each head, or one fused")
    separate, fused, difference = head_projections(run, weight.site)
    with st.container(horizontal=True):
        st.metric("Largest difference", f"{difference:.1e}" if difference else "0")
        st.metric("Query of this head, separate", shape_of(separate.query[weight.head]))
        st.metric("All heads, fused", f"{len(fused.query)} × {shape_of(fused.query[weight.head])}")
    st.caption(SWITCH_WORDS["fused"])

    st.subheader("Layer norm or batch norm")
    layer, batch = layer_and_batch_norm(run.trace.residual[block].states)
    rows = [
        Row("layer norm", as_array(layer.states[weight.query])),
        Row("batch norm", as_array(batch.states[weight.query])),
    ]
    show(vector_rows(rows), "norms", save="Layer norm and batch norm")
    if len(layer.changes):
        with st.container(horizontal=True):
            for name, normed in (("Layer norm", layer), ("Batch norm", batch)):
                moved = f"{normed.changes.max():.4f}"
                st.metric(f"{name}: change of the others without the last token", moved)
    st.caption(SWITCH_WORDS["norm"])

    st.subheader("Pre-norm or post-norm")
    orders = stream_by_norm_order(run)
    lines = {
        f"{order}-norm": as_array(
            torch.stack([norm[weight.query] for _, norm in sides[block.side]])
        )
        for order, sides in orders.items()
    }
    chart = position_lines(lines, x="sublayer", y="length of the stream", height=240)
    show_altair(chart, "orders", save="Length of the stream with either order of norms")
    st.caption(f"{SWITCH_WORDS['order']} {NORM_ORDER_NOTE}")

    st.subheader("ReLU or GELU")
    inner = inner_states(run, weight.site)
    found = activations(inner)
    rows = [
        Row(label, as_array(values[weight.query, :DIMENSIONS_SHOWN]))
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


def decoder_lens(weight: Weight) -> None:
    """What the decoder would already write after each layer."""
    st.caption(TAB_WORDS["lens"])
    run = weight.run
    table, tokenizer = lens_table(run), translator(run.model).tokenizer
    read, _ = tokens_of(run.trace, "decoder")
    names = [f"{place + 1}: {token}" for place, token in enumerate(read)]

    def words(layer: int, place: int) -> str:
        token = tokenizer.append("", table.ids[layer, place, 0].item())[1].text
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
            "mean over tokens": as_array(norms.mean(dim=1)),
            "largest": as_array(norms.max(dim=1).values),
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
        name = models.chosen().key
        asked = [word.strip() for word in typed.split(",") if word.strip()]
        compare("Each word alone", words_alone(name, tuple(asked)), "alone")
        compare("In your sentence", words_in_sentence(name, sentence), "sentence")
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
            show(word_heatmap(as_array(values), found.words), f"{key} {name}", save=save)
