"""The tab Step by step: how one query passes through one head, in words, formulas and numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator

from headlight.model.insight.anatomy import Anatomy
from headlight.model.stream import block_of
from headlight.pages.parts.inside.calls import Weight, taken_apart
from headlight.pages.parts.inside.words import (
    ADDED,
    INPUT_OF_BERT,
    INPUT_OF_LIBRARY,
    OF_THE_QUERY,
    STEPS,
)
from headlight.pages.shared.runs.arrays import as_array
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.pictures import embedding_rows, row_of, show
from headlight.pages.shared.show.saving import About
from headlight.pages.shared.show.sight import parts
from headlight.pages.shared.show.words import capital
from headlight.viz import CanvasPicture, Row, vector_rows
from headlight.viz.numbers import number_text

LARGEST = 5  # how many products of the numbers of query and key get a frame
VALUES_SHOWN = 6  # how many keys with large weights get a row for their value
# The names of pictures that show only a part of their step.
NAMES = {
    "story-value": "Value",
    "story-heads": "Heads side by side",
    "story-contributions": "What each head adds",
}


@dataclass(frozen=True)
class Step:
    """A step of the computation of a head: its title, words, formula, and pictures by key."""

    title: str
    words: str
    formula: str
    pictures: Mapping[str, CanvasPicture] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The title, shortened for the list of steps."""
        name = self.title.removeprefix("The ").partition(", and")[0]
        return capital(name)


def step_by_step(weight: Weight, of: About, bar: DeltaGenerator) -> None:
    """Draw all steps, from the query token's embedding to the residual stream after the block.

    A list of the steps is drawn in `bar`, a container that stays at the top of the window.
    """
    steps = steps_of(weight)
    places = parts([step.name for step in steps], bar)
    explained: set[str] = set()
    for number, (room, step) in enumerate(zip(places, steps, strict=True), start=1):
        with room:
            st.markdown(f"**{number}. {step.title}**")
            caption(step.words, explained)
            for key, picture in step.pictures.items():
                show(picture, key, of=of, what=NAMES.get(key, step.title))
            st.latex(step.formula)


def steps_of(weight: Weight) -> tuple[Step, ...]:
    """Return all steps of a weight, in order."""
    part = taken_apart(weight)
    own = part.residual is not None  # the residual stream of this block is known
    read = [what_is_read(weight, part)] if own else []
    read += [projections(part), dot_product(part)]
    weighed = scaling(weight, part), mask(weight, part), softmax(weight, part)
    summed = [sum_of_values(weight, part)]
    summed += [] if part.contributions is None else [all_heads(weight, part)]
    return *read, *weighed, *summed, *([into_the_stream(weight, part)] if own else [])


def what_is_read(weight: Weight, part: Anatomy) -> Step:
    """Return the step from the tokens to the vectors that the head reads."""
    embedding = weight.run.streamed().embedding[block_of(weight.site).side]
    title, words = STEPS["input"]
    formula = r"x = \sqrt{d_\text{model}}\,e + p"
    if "own layers" in weight.run.reader.missing:
        words, formula = INPUT_OF_LIBRARY, r"x = \mathrm{norm}(\text{stream})"
    elif embedding.segments is not None:
        words, formula = INPUT_OF_BERT, r"x = \mathrm{norm}(e + s + p)"
    rows = [
        *embedding_rows(embedding, weight.query),
        row_of("stream before this block", part.residual.states[0, weight.query]),
        row_of("query token, as read", part.query_input),
        row_of("key token, as read", part.key_input),
    ]
    words = f"{words.format(layer=weight.site.layer + 1)} {OF_THE_QUERY}"
    return Step(title, words, formula, {"story-input": vector_rows(rows)})


def projections(part: Anatomy) -> Step:
    """Return the step from the vectors that are read to query, key and value."""
    rows = [row_of("query", part.query), row_of("key", part.key), row_of("value", part.value)]
    groups = {"story-projections": rows}
    if len(part.value) != len(part.query):
        groups = {"story-projections": rows[:2], "story-value": rows[2:]}
    pictures = {key: vector_rows(group) for key, group in groups.items()}
    title, words = STEPS["projections"]
    if part.rotated:
        words += f" {ADDED['rotated']}"
    if part.key_heads:
        shared = ADDED["shared keys"].format(heads=len(part.heads), key_heads=part.key_heads)
        words += f" {shared}"
    if part.bias is None:
        words += f" {ADDED['biases not known']}"
    q, k, v = ("" if part.bias is None else f" + b^{letter}" for letter in "QKV")
    formula = rf"q = x_q W^Q{q},\quad k = x_k W^K{k},\quad v = x_k W^V{v}"
    if part.query_input is not None:
        width, d_model = len(part.query), len(part.query_input)
        shapes = rf"(1\times {d_model})\,({d_model}\times {width}) \to 1\times {width}"
        formula += rf" \qquad {shapes}"
    return Step(title, words, formula, pictures)


def dot_product(part: Anatomy) -> Step:
    """Return the step from query and key to their dot product."""
    best = part.products.abs().topk(min(LARGEST, len(part.products))).indices.tolist()
    rows = [
        Row("query", as_array(part.query)),
        Row("key", as_array(part.key)),
        Row("query × key", as_array(part.products), total=part.dot),
    ]
    formula = rf"q \cdot k = \sum_d q_d\,k_d = {part.dot:.3f}"
    title, words = STEPS["dot"]
    if part.residual is not None:
        words += f" {ADDED['who wrote']}"
    return Step(title, words, formula, {"story-dot": vector_rows(rows, marked=best)})


def scaling(weight: Weight, part: Anatomy) -> Step:
    """Return the step from the dot product to the score."""
    title, words = STEPS["scale"]
    width = len(part.query)
    formula = f"{part.dot:.3f}"
    if part.is_divided:
        formula += rf" / \sqrt{{{width}}}"
    elif part.scale == 1:
        words = ADDED["no scale"]
    else:
        words = ADDED["own scale"].format(scale=part.scale)
        formula += rf" \times {part.scale:.6f}"
    if part.score_bias is not None:
        bias = part.score_bias[weight.key].item()
        words += f" {ADDED['bias'].format(bias=number_text(bias))}"
        formula += rf" {bias:+.3f}"
    if part.softcap is not None:
        words += f" {ADDED['softcap'].format(softcap=part.softcap)}"
        cap = rf"{part.softcap:g}"
        formula = rf"{cap}\,\tanh\left(\frac{{{formula}}}{{{cap}}}\right)"
    return Step(title, words, rf"s = {formula} = {part.scores[weight.key]:.3f}")


def mask(weight: Weight, part: Anatomy) -> Step:
    """Return the step from the scores to the masked scores."""
    blocked = part.masked_scores.isneginf()
    counted = rf"{int(blocked.sum())} \text{{ of }} {len(blocked)} \text{{ keys blocked}}"
    scores = {"scores": part.scores, "masked scores": part.masked_scores}
    rows = [Row(label, as_array(values)) for label, values in scores.items()]
    picture = vector_rows(rows, columns=weight.key_tokens, marked=[weight.key])
    formula = rf"s_k = -\infty \text{{ where blocked}} \qquad {counted}"
    return Step(*STEPS["mask"], formula, {"story-mask": picture})


def softmax(weight: Weight, part: Anatomy) -> Step:
    """Return the step from the masked scores to the weights."""
    exponentials, weights, key, total = part.exponentials, part.weights, weight.key, part.total
    title, words = STEPS["softmax"]
    if part.sink is not None:
        words += f" {ADDED['sink'].format(sink=number_text(part.sink))}"
    # The sums are notes: with a `total`, the weights would be rounded unlike in other pictures.
    sums = [f"sum {number_text(number)}" for number in (total, weights.sum().item())]
    rows = [
        Row("scores", as_array(part.masked_scores)),
        Row("e^(score − largest)", as_array(exponentials), note=sums[0]),
        Row("weights", as_array(weights), note=sums[1], probabilities=True),
    ]
    return Step(
        title,
        words,
        r"w_k = \frac{e^{s_k - m}}{\sum_j e^{s_j - m}} = "
        rf"\frac{{{exponentials[key]:.3f}}}{{{total:.3f}}} = {weights[key]:.3f} \qquad "
        rf"m = \max_j s_j = {part.highest:.3f}",
        {"story-softmax": vector_rows(rows, columns=weight.key_tokens, marked=[key])},
    )


def sum_of_values(weight: Weight, part: Anatomy) -> Step:
    rows = value_rows(part, weight.key, weight.key_tokens)
    faded = "" if part.gate == 1 else rf"{part.gate:.2f}\cdot"
    formula = rf"h = {faded}\sum_k w_k\, v_k"
    return Step(*STEPS["values"], formula, {"story-values": vector_rows(rows)})


def value_rows(part: Anatomy, key: int, keys: list[str]) -> list[Row]:
    """Return rows: the weighted value of `key` and of the keys with the largest weights.

    Then follow the sum over all other keys, what fading changes, and the head's output.
    """
    order = part.weights.argsort(descending=True).tolist()
    shown = sorted({key, *order[:VALUES_SHOWN]})
    others = [index for index in order if index not in shown]
    rows = [
        Row(
            f"{part.weights[index]:.3f} × “{keys[index]}”",
            as_array(part.weighted_values[index]),
            note="this key" if index == key else "",
        )
        for index in shown
    ]
    if others:
        rest = part.weighted_values[torch.tensor(others)].sum(dim=0)
        rows.append(Row(f"{len(others)} other keys", as_array(rest)))
    if part.gate != 1:
        faded = part.head - part.weighted_values.sum(dim=0)
        rows.append(Row(f"faded to {part.gate:.2f}", as_array(faded)))
    rows.append(row_of("the head's output", part.head))
    return rows


def all_heads(weight: Weight, part: Anatomy) -> Step:
    """Return the step from the outputs of all heads to the output of the block."""
    width, d_model = len(part.head), part.contributions.size(-1)
    this = range(weight.head * width, (weight.head + 1) * width)
    rows = [
        row_of(f"head {head + 1}{' (this one)' if head == weight.head else ''}", contribution)
        for head, contribution in enumerate(part.contributions)
    ]
    title, words = STEPS["output"]
    if part.bias is None:
        words, bias = f"{words} {ADDED['biases not known']}", ""
        rows.append(row_of("their sum, without a bias", part.contributions.sum(dim=0)))
    else:
        words, bias = f"{words} {ADDED['output bias']}", " + b^O"
        rows += [
            row_of("bias", part.bias),
            row_of("their sum", part.residual.change[0, weight.query]),
        ]
    inner = width * len(part.heads)
    shapes = rf"(1\times {inner})({inner}\times {d_model})"
    formula = rf"[h_1 \dots h_{{{len(part.heads)}}}]\,W^O{bias} \qquad {shapes}"
    side_by_side = vector_rows([row_of("heads side by side", part.heads.flatten())], marked=this)
    pictures = {"story-heads": side_by_side, "story-contributions": vector_rows(rows)}
    return Step(title, words, formula, pictures)


def into_the_stream(weight: Weight, part: Anatomy) -> Step:
    """Return the step from the output of the block to the residual stream after it."""
    model, query = weight.run.reader, weight.query
    # In models of the transformers library, the stream is known only for pre-norm.
    norm = "pre" if "own layers" in model.missing else model.model.config.norm
    before, change = part.residual.states[0, query], part.residual.change[0, query]
    rows = [row_of("before", before), row_of("what is added", change)]
    formula = r"x' = x + \text{block}(\mathrm{norm}(x))"
    if norm == "post":
        rows.append(row_of("the sum", before + change))
        formula = r"x' = \mathrm{norm}(x + \text{block}(x))"
    rows.append(row_of("after", part.residual.outputs[0, query]))
    return Step(*STEPS[f"residual, {norm}-norm"], formula, {"story-residual": vector_rows(rows)})
