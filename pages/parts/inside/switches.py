"""The tab Switches: the effect of the architecture's parts on the numbers of the visitor's run."""

import numpy as np
import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator

from headlight.model.insight.anatomy import Anatomy
from headlight.model.stream import block_of
from headlight.pages.parts.inside import calls, variants
from headlight.pages.parts.inside.calls import Weight
from headlight.pages.parts.inside.words import SWITCH_WORDS
from headlight.pages.shared.runs.arrays import as_array
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.pictures import show, show_altair
from headlight.pages.shared.show.saving import NO_MODEL, About
from headlight.pages.shared.show.sight import parts
from headlight.pages.shared.state.choice import number, switch
from headlight.pages.shared.state.choices import chosen
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import Row, position_lines, vector_rows
from headlight.viz.numbers import power_text

SCALED = switch("scale_on", True, label="Divide by √d")
TEMPERATURE = number("softmax_temperature", 1.0, (0.1, 5.0), label="Temperature", step=0.1)
SWITCHES = (SCALED, TEMPERATURE)
FACTORS = np.linspace(0, 1, 101)  # the scales tried; with 1 the dot product is not scaled
# How sharp a softmax is: the fields of `Saturation`, with their labels.
SHARPNESS = {"entropy": "entropy, nats", "largest": "largest weight"}
WIDTHS = [4, 8, 16, 32, 64, 128, 256]
DIMENSIONS_SHOWN = 64  # how many dimensions of a feed-forward layer are drawn


def switches(weight: Weight, of: About, bar: DeltaGenerator) -> None:
    """Draw what each part of the architecture does, next to what an alternative would do.

    A list of these sections is drawn in `bar`, a container that stays at the top of the window.
    """
    missing = weight.run.reader.missing.get("own layers")
    titles = {
        "Scale": "The scale, and a temperature",
        "Projections": "Small projections for each head, or one fused",
        "Norm": "Layer norm or batch norm",
        "Order of norms": "Pre-norm or post-norm",
        "Activation": "ReLU or GELU",
    }
    if missing:
        titles = {"Scale": titles["Scale"]}
    bodies = scale, projections, norms, norm_order, activation
    for room, title, body in zip(parts(list(titles), bar), titles.values(), bodies, strict=False):
        with room:
            st.subheader(title)
            body(weight, of)
    if missing:
        st.caption(missing)


def scale(weight: Weight, of: About) -> None:
    part = calls.taken_apart(weight)
    softmax_switches(weight, part, of)
    saturation(part, of)


def softmax_switches(weight: Weight, part: Anatomy, of: About) -> None:
    """Draw the choice of a scale and a temperature, and the weights that the query then has."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if part.scale == 1:
            st.text("This model does not scale q·k.")
        else:
            label = SCALED.label if part.is_divided else f"Multiply by {part.scale:.3g}"
            choose(SCALED, label=label)
        temperature = choose(TEMPERATURE, widget=st.slider, format="%.1f", width=320)
    factor = (part.scale if chosen(SCALED) else 1.0) / temperature
    rows = [
        Row("weights of the run", as_array(part.weights), probabilities=True),
        Row(
            f"with q·k / {1 / factor:.3g}",
            as_array(variants.rescaled(part, factor)),
            probabilities=True,
        ),
    ]
    picture = vector_rows(rows, columns=weight.key_tokens, marked=[weight.key])
    show(picture, "rescaled", of=of, what="Weights at another scale")


def saturation(part: Anatomy, of: About) -> None:
    """Draw the sharpness of the query's softmax by scale, and of random ones by head width."""
    if part.masked_scores.isfinite().any():
        sweep = variants.scale_sweep(part, FACTORS.tolist())
        for column, (name, label) in zip(st.columns(2), SHARPNESS.items(), strict=True):
            lines = {label: as_array(getattr(sweep, name))}
            chart = position_lines(lines, FACTORS, x="factor of the scale", y=label)
            what = f"{label.partition(',')[0].capitalize()} by the scale's factor"
            with column:
                show_altair(chart, name, of=of, what=what)
    caption(SWITCH_WORDS["scale"])
    sweeps = variants.width_sweep(WIDTHS, keys=16)
    for column, (quantity, label) in zip(st.columns(2), SHARPNESS.items(), strict=True):
        lines = {name: as_array(getattr(sweep, quantity)) for name, sweep in sweeps.items()}
        chart = position_lines(lines, WIDTHS, x="width of the head", y=label)
        what = f"{label.partition(',')[0].capitalize()} by the width of a head"
        with column:
            show_altair(chart, f"{quantity} by width", of=NO_MODEL, what=what)
    caption(SWITCH_WORDS["width"])


def projections(weight: Weight, of: About) -> None:
    """Draw the difference between separate projections of heads and a fused one, and shapes."""
    separate, fused, difference = calls.head_projections(weight.run, weight.site)
    with st.container(horizontal=True):
        st.metric("Largest difference", power_text(difference))
        st.metric("Query of this head, separate", shape_of(separate.query[weight.head]))
        st.metric("All heads, fused", shape_of(fused.query))
    caption(SWITCH_WORDS["fused"])


def shape_of(tensor: torch.Tensor) -> str:
    return " × ".join(map(str, tensor.shape))


def norms(weight: Weight, of: About) -> None:
    """Draw the effect of layer norm and batch norm on the query token's state."""
    states = weight.run.streamed().residual[block_of(weight.site)].states
    layer, batch = variants.layer_and_batch_norm(states)
    both = {"Layer norm": layer, "Batch norm": batch}
    rows = [Row(name.lower(), as_array(each.states[weight.query])) for name, each in both.items()]
    show(vector_rows(rows), "norms", of=of, what="Layer norm and batch norm")
    if len(layer.changes):
        with st.container(horizontal=True):
            for name, normed in both.items():
                label = f"{name}: change in the other tokens when the last one is removed"
                st.metric(label, f"{normed.changes.max():.3f}")
    caption(SWITCH_WORDS["norm"])


def norm_order(weight: Weight, of: About) -> None:
    """Draw the length of the query token's vector after each sublayer, for pre- and post-norm."""
    side = block_of(weight.site).side
    lines = {
        f"{order}-norm": as_array(torch.stack([norm[weight.query] for _, norm in sides[side]]))
        for order, sides in calls.stream_by_norm_order(weight.run).items()
    }
    chart = position_lines(lines, x="sublayer", y="length of the stream")
    show_altair(chart, "orders", of=of, what="Length of the stream with either order of norms")
    caption(f"{SWITCH_WORDS['order']} {variants.NORM_ORDER_NOTE}")


def activation(weight: Weight, of: About) -> None:
    """Draw the effect of ReLU and GELU on the query token in the layer's feed-forward network."""
    inner = calls.inner_states(weight.run, weight.site)
    result = variants.activations(inner)
    rows = [
        Row(label, as_array(values[weight.query, :DIMENSIONS_SHOWN]))
        for label, values in (("before", inner), ("ReLU", result.relu), ("GELU", result.gelu))
    ]
    show(vector_rows(rows), "activations", of=of, what="ReLU and GELU")
    with st.container(horizontal=True):
        st.metric("Zeros after ReLU, all tokens", f"{result.relu_zeros:.1%}")
        st.metric("Zeros after GELU, all tokens", f"{result.gelu_zeros:.1%}")
    caption(SWITCH_WORDS["activation"].format(shown=DIMENSIONS_SHOWN, all=inner.size(-1)))
