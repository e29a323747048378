"""The way of one query through one head, told step by step."""

from __future__ import annotations

import streamlit as st
import torch
from torch import Tensor

from model.insight.anatomy import Anatomy
from model.insight.norm_orders import NormOrder
from model.trace import EmbeddingRecord
from pages.shared.inside.words import STEPS
from pages.shared.runs.arrays import as_array
from pages.shared.show.pictures import show
from viz import Row, vector_rows

LARGEST = 5  # contributors that are framed
VALUES_SHOWN = 6  # keys with rows of their own


def row(label: str, tensor: Tensor, **options: object) -> Row:
    """A vector as a row that notes its length."""
    return Row(label, as_array(tensor), note=f"length {tensor.norm():.4f}", **options)


def step(number: int, title: str, words: str, formula: str) -> None:
    """The heading of one step."""
    st.markdown(f"**{number}. {title}**")
    st.caption(words)
    st.latex(formula)


def tell(
    part: Anatomy,
    embedding: EmbeddingRecord,
    layer: int,
    head: int,
    places: tuple[int, int],
    keys: list[str],
    norm: NormOrder,
) -> None:
    """All steps, from the query token's embedding to the residual stream after the block.

    `norm` is where the model has its layer norms: before each block, or after the sum.
    """
    query, key = places
    width, d_model = len(part.query), len(part.query_input)
    residual = part.residual

    bert = embedding.segments is not None
    formula = r"x = \mathrm{norm}(e + s + p)" if bert else r"x = \sqrt{d_\text{model}}\,e + p"
    words = STEPS["input of BERT" if bert else "input"].format(layer=layer + 1)
    step(1, "What is read", words, formula)
    rows = [
        *embedding_rows(embedding, query),
        row("stream before this block", residual.states[0, query]),
        row("query token, as read", part.query_input),
        row("key token, as read", part.key_input),
    ]
    show(vector_rows(rows), "story-input", save="What is read")

    shapes = rf"(1\times {d_model})\,({d_model}\times {width}) \to 1\times {width}"
    formula = rf"q = x_q W^Q + b^Q,\quad k = x_k W^K + b^K,\quad v = x_k W^V + b^V \qquad {shapes}"
    step(2, "Query, key and value", STEPS["projections"], formula)
    rows = [row("query", part.query), row("key", part.key), row("value", part.value)]
    show(vector_rows(rows), "story-projections", save="Query, key and value")

    total = part.dot
    step(3, "The dot product", STEPS["dot"], rf"q \cdot k = \sum_d q_d\,k_d = {total:.4f}")
    best = part.products.abs().topk(min(LARGEST, width)).indices.tolist()
    rows = [
        Row("query", as_array(part.query)),
        Row("key", as_array(part.key)),
        Row("query × key", as_array(part.products), total=total),
    ]
    show(vector_rows(rows, marked=best), "story-dot", save="The dot product")

    score = part.scores[key].item()
    formula = rf"s = {total:.4f} \times {part.scale:.6f} = {score:.4f}"
    step(4, "The scaling", STEPS["scale"], formula)

    blocked = part.masked_scores.isneginf()
    counted = rf"{int(blocked.sum())} \text{{ of }} {len(blocked)} \text{{ keys blocked}}"
    step(5, "The mask", STEPS["mask"], rf"s_k = -\infty \text{{ where blocked}} \qquad {counted}")
    rows = [
        Row("scores", as_array(part.scores)),
        Row("masked scores", as_array(part.masked_scores)),
    ]
    show(vector_rows(rows, columns=keys, marked=[key]), "story-mask", save="The mask")

    highest = part.masked_scores.max()
    exponentials = (part.masked_scores - highest).exp() if highest.isfinite() else part.weights
    formula = (
        r"w_k = \frac{e^{s_k}}{\sum_j e^{s_j}} = "
        rf"\frac{{{exponentials[key]:.4f}}}{{{exponentials.sum():.4f}}} = {part.weights[key]:.4f}"
    )
    step(6, "The softmax", STEPS["softmax"], formula)
    rows = [
        Row("e^(score − largest)", as_array(exponentials), total=exponentials.sum().item()),
        Row(
            "weights",
            as_array(part.weights),
            total=part.weights.sum().item(),
            probabilities=True,
        ),
    ]
    show(vector_rows(rows, columns=keys, marked=[key]), "story-softmax", save="The softmax")

    step(7, "The weighted sum of values", STEPS["values"], r"h = \sum_k w_k\, v_k")
    show(
        vector_rows(value_rows(part, key, keys)), "story-values", save="The weighted sum of values"
    )

    heads, slice_of_head = part.heads.flatten(), range(head * width, (head + 1) * width)
    shapes = rf"(1\times {d_model})({d_model}\times {d_model})"
    formula = rf"[h_1 \dots h_{{{len(part.heads)}}}]\,W^O + b^O \qquad {shapes}"
    step(8, "All heads, and the output projection", STEPS["output"], formula)
    show(
        vector_rows([row("heads side by side", heads)], marked=slice_of_head),
        "story-heads",
        save="Heads side by side",
    )
    rows = [
        row(f"head {place + 1}{' (this one)' if place == head else ''}", contribution)
        for place, contribution in enumerate(part.contributions)
    ]
    rows += [row("bias", part.bias), row("their sum", residual.change[0, query])]
    show(vector_rows(rows), "story-contributions", save="What each head adds")

    formula = (
        r"x' = x + \text{block}(\mathrm{norm}(x))"
        if norm == "pre"
        else r"x' = \mathrm{norm}(x + \text{block}(x))"
    )
    step(9, "Into the residual stream", STEPS[f"residual, {norm}-norm"], formula)
    before, change = residual.states[0, query], residual.change[0, query]
    rows = [row("before", before), row("what is added", change)]
    if norm == "post":
        rows.append(row("the sum", before + change))
    rows.append(row("after", residual.outputs[0, query]))
    show(vector_rows(rows), "story-residual", save="Into the residual stream")


def embedding_rows(embedding: EmbeddingRecord, query: int) -> list[Row]:
    """How the vector that the first layer reads was put together."""
    position, states = embedding.positions[query], embedding.states[0, query]
    if embedding.segments is None:
        return [
            row("embedding, scaled", embedding.scaled[0, query]),
            row("position", position),
            row("their sum", states),
        ]
    token, segment = embedding.tokens[0, query], embedding.segments[0, query]
    return [
        row("embedding", token),
        row("segment", segment),
        row("position", position),
        row("their sum", token + segment + position),
        row("its norm", states),
    ]


def value_rows(part: Anatomy, key: int, keys: list[str]) -> list[Row]:
    """The weighted values of the keys that weigh most, of all others together, and their sum."""
    order = part.weights.argsort(descending=True).tolist()
    shown = sorted({key, *order[:VALUES_SHOWN]})
    others = [place for place in order if place not in shown]
    rows = [
        Row(
            f"{part.weights[place]:.4f} × “{keys[place]}”",
            as_array(part.weighted_values[place]),
            note="this key" if place == key else "",
        )
        for place in shown
    ]
    if others:
        rest = part.weighted_values[torch.tensor(others)].sum(dim=0)
        rows.append(Row(f"{len(others)} other keys", as_array(rest)))
    if part.gate != 1:
        faded = part.head - part.weighted_values.sum(dim=0)
        rows.append(Row(f"faded to {part.gate:.2f}", as_array(faded)))
    rows.append(row("the head's output", part.head))
    return rows
