"""The key-value cache of a decoding: what is held at each step, its bytes, the work it saves."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from headlight.model import Decoding
from headlight.model.decoding.steps import DecodingStep
from headlight.model.edits.text import how_many
from headlight.model.insight.cache import (
    COMPUTED,
    READ,
    bytes_at,
    bytes_held,
    cache_states,
    work,
)
from headlight.model.trace import Kind, Shape
from headlight.pages.parts.decoding.request import STEP
from headlight.pages.shared.show.glossary import caption
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.saving import About
from headlight.pages.shared.state.choice import number
from headlight.pages.shared.state.choices import chosen
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import CellRows, step_cells
from headlight.viz.numbers import bytes_text

STATES = (
    "not read yet",
    "read from the cache",
    "held, but closed to the newest query",
    "computed at this step",
    "dropped",
)
MOST_CELLS = 2_000  # of a kind, each drawn; layers of a larger cache that are alike become one row
LENGTH = number("cache_length", 4_096, (16, 1_000_000), label="At a length of", step=16)
NO_CACHE = (
    "Nothing is kept here: every step computes all positions anew. A cache needs a decoder whose "
    "positions see no later ones, and a model whose own code keeps one that can be read."
)
KEPT = (
    "A key and a value are computed once, at the step that reads their token, and kept in every "
    "layer. Bytes by the formula: 2 · heads · width of a head · positions · bytes a number, added "
    "up over the layers. Measured: on the tensors that the model held."
)
WORK = (
    "Tokens that pass through the decoder's layers to write this many: with the cache, and without "
    "it, where every step reads all of them again."
)
TITLES: dict[Kind, str] = {
    "decoder": "Keys and values of the tokens read",
    "cross": "Keys and values of the source, for cross-attention",
}


def cache_section(decoding: Decoding, path: Sequence[int], shape: Shape, of: About) -> bool:
    """Draw the cache at every step of a path of nodes, and what it takes and saves.

    Return whether there is one.
    """
    st.subheader("The cache")
    steps = decoding.steps_to(path)
    held = steps[-1].cached
    if not any(site.kind == "decoder" for site in held):
        caption(NO_CACHE)
        return False
    tokens = {"decoder": steps[-1].read, "cross": decoding.writing.source_tokens}
    states = {
        kind: cache_states(steps, kind)
        for kind in tokens
        if any(site.kind == kind for site in held)
    }
    rows = [
        rows_of(TITLES[kind], part, [token.text for token in tokens[kind]], groups_of(shape, kind))
        for kind, part in states.items()
    ]
    words = [step_words(number, part) for number, part in enumerate(states["decoder"])]
    start = min(chosen(STEP), len(steps) - 1)
    picture = step_cells(rows, words, STATES, start=start)
    show(picture, "cache", of=of, what="Key-value cache")
    figures(steps)
    caption(" ".join([KEPT, *layer_words(steps[-1], shape)]))
    return True


def rows_of(
    title: str, states: np.ndarray, tokens: Sequence[str], groups: Sequence[str] = ()
) -> CellRows:
    """Return the rows of a kind (T, layers, K); in a large cache those that are alike are one."""
    _, layers, positions = states.shape
    names = [f"layer {layer + 1}" for layer in range(layers)]
    if layers * positions > MOST_CELLS:
        alike: dict[bytes, list[int]] = {}
        for layer in range(layers):
            alike.setdefault(states[:, layer].tobytes(), []).append(layer)
        groups = list(alike.values())
        names = [f"{how_many(len(group), 'layer')}, as {group[0] + 1}" for group in groups]
        states = states[:, [group[0] for group in groups]]
    return CellRows(title, states, names, tokens, groups)


def groups_of(shape: Shape, kind: Kind) -> list[str]:
    """Return the heads of a kind that share each key and value, if they do."""
    group, heads = shape.group(kind), shape.heads(kind)
    if group == 1:
        return []
    return [f"once for heads {first + 1}–{first + group}" for first in range(0, heads, group)]


def step_words(number: int, states: np.ndarray) -> str:
    """Return what a step computes and reads, from its states (layers, K)."""
    new, old = (int((states == state).any(axis=0).sum()) for state in (COMPUTED, READ))
    if number == 0:
        return f"Prefill: {how_many(new, 'position')} computed at once, nothing to read yet."
    return f"Decode: {how_many(new, 'position')} computed, {old} read from the cache."


def figures(steps: Sequence[DecodingStep]) -> None:
    """Draw what the cache holds and saves, for this text and at a length that one chooses."""
    held, read = steps[-1].cached, len(steps[-1].read)
    own = [size for site, size in held.items() if site.kind == "decoder"]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.metric(f"Measured, {read} positions", bytes_text(bytes_held(held, "decoder")))
        st.metric("By the formula", bytes_text(bytes_at(own, read)))
        if source := bytes_held(held, "cross"):
            st.metric("Of the source", bytes_text(source))
        st.metric("Tokens computed", work_words(len(steps[0].read), len(steps)), help=WORK)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        length = choose(LENGTH, width=190)
        st.metric("Cache", bytes_text(bytes_at(own, length)))
        st.metric("Tokens computed", work_words(1, length), help=WORK)


def work_words(prompt: int, steps: int) -> str:
    """Return the tokens that are computed with the cache and without it."""
    tokens = [work(prompt, steps, cached=cached) for cached in (True, False)]
    return "{:,} instead of {:,}".format(*tokens)


def layer_words(step: DecodingStep, shape: Shape) -> list[str]:
    """Return what is special about some layers: shared keys, and windows."""
    own = [size for site, size in step.cached.items() if site.kind == "decoder"]
    sentences, group = [], shape.group("decoder")
    if group > 1:
        sentences.append(
            f"Heads share keys and values in groups of {group}: the cache is {group} times smaller."
        )
    windows = [size.window for size in own if size.window]
    if windows:
        sentences.append(
            f"{len(windows)} of {how_many(len(own), 'layer')} stop growing at {min(windows)} "
            "earlier positions: they have a window, and the newest position comes on top."
        )
    return sentences
