"""The key-value cache of a decoding: its size, the work it saves, and writing with fewer keys."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from headlight.model.decoding.steps import Decoding, DecodingStep
from headlight.model.decoding.strategies import Strategy
from headlight.model.edits.text import how_many
from headlight.model.insight.cache import (
    ABSENT,
    COMPUTED,
    DROPPED,
    READ,
    bytes_at,
    bytes_held,
    cache_states,
    first_difference,
    work,
)
from headlight.model.shape import Shape
from headlight.model.tokens import Token
from headlight.model.transformer.trace import Kind, Site
from headlight.pages.parts.decoding.request import STEP, Request
from headlight.pages.shared.runs.run import decoded, evicted
from headlight.pages.shared.show.captions import caption, site_words
from headlight.pages.shared.show.comparison import show_writing
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.saving import About
from headlight.pages.shared.state.choice import number, one_of
from headlight.pages.shared.state.choices import LAYER, chosen
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
MOST_CELLS = 2_000  # with more cells than this, layers with equal states share a row
LENGTH = number("cache_length", 4_096, (16, 1_000_000), label="At a length of", step=16)
NO_CACHE = (
    "Nothing is kept here: every step computes all positions again. A cache needs a decoder whose "
    "positions see no later ones, and a model whose cache can be read."
)
KEPT = (
    "A [key] and a [value] are computed once, at the step that reads their token, and kept in "
    "every layer. Bytes by the formula: heads · (width of a key + width of a value) · positions · "
    "bytes per number, summed over the layers; a latent counts as one head. Measured: the size of "
    "the tensors that the model kept."
)
WORK = (
    "How many tokens pass through the decoder's layers to write a text of this length: with the "
    "cache, and without it, when every step reads all tokens again."
)
TITLES: dict[Kind, str] = {
    "decoder": "Keys and values of the tokens read",
    "cross": "Keys and values of the source, for cross-attention",
}
POLICIES = {
    "none": "every key",
    "window": "the last ones",
    "sinks": "the first and the last ones",
    "heaviest": "the heaviest and the last ones",
}
POLICY = one_of("eviction", POLICIES, label="After each step, every head keeps")
BUDGET = number("kept_keys", 4, (1, 64), label="Keys kept", step=1)
EVICTION_WORDS = (
    "The text is written greedily, with your changes of [masks] and [heads]. After each step every "
    "head of the decoder evicts [keys] until only so many are left; the next step adds its own. "
    "The last ones: a window. The first and the last ones: attention sinks, as in StreamingLLM "
    "(Xiao et al. 2023); a layer with its own window has no sinks once the window has moved past "
    "the first tokens. The heaviest and the last ones: half of them are the keys with the largest "
    "sum of weights so far, as in H2O (Zhang et al. 2023), the others are the last. Heads that "
    "share keys evict the same keys. A prompt is read whole first, and tokens keep their positions "
    "in the text."
)
EVICTION_STATES = (  # the words for the five states of a key in a cache that evicts keys
    "not read yet",
    "kept",
    "",
    "computed at this step",
    "evicted, or closed by a mask",
)


def cache_section(decoding: Decoding, path: Sequence[int], shape: Shape, of: About) -> bool:
    """Draw the cache at every step of writing a text, its size, and the work that it saves.

    `path` has, for each step, the text's index among the texts that the search considered. Return
    whether the model keeps a cache.
    """
    st.subheader("The cache")
    steps = decoding.steps_to(path)
    held = steps[-1].cached
    if not any(site.kind == "decoder" for site in held):
        caption(NO_CACHE)
        return False
    tokens: dict[Kind, Sequence[Token]] = {
        "decoder": steps[-1].read,
        "cross": decoding.writing.source_tokens,
    }
    states: dict[Kind, np.ndarray] = {
        kind: cache_states(steps, kind)
        for kind in tokens
        if any(site.kind == kind for site in held)
    }
    rows = [
        rows_of(TITLES[kind], part, [token.text for token in tokens[kind]], groups_of(shape, kind))
        for kind, part in states.items()
    ]
    words = [computed_words(number, part) for number, part in enumerate(states["decoder"])]
    start = min(chosen(STEP), len(steps) - 1)
    picture = step_cells(rows, words, STATES, start=start)
    show(picture, "cache", of=of, what="Key-value cache")
    figures(steps)
    caption(" ".join([KEPT, *layer_words(steps[-1], shape)]))
    return True


def rows_of(
    title: str, states: np.ndarray, tokens: Sequence[str], groups: Sequence[str] = ()
) -> CellRows:
    """Return the states (T, layers, K) as rows: one for each layer.

    In a large cache, layers with equal states share a row.
    """
    _, layers, positions = states.shape
    names = [f"layer {layer + 1}" for layer in range(layers)]
    if layers * positions > MOST_CELLS:
        alike: dict[bytes, list[int]] = {}
        for layer in range(layers):
            alike.setdefault(states[:, layer].tobytes(), []).append(layer)
        names = [f"{how_many(len(group), 'layer')}, as {group[0] + 1}" for group in alike.values()]
        states = states[:, [group[0] for group in alike.values()]]
    return CellRows(title, states, names, tokens, groups)


def groups_of(shape: Shape, kind: Kind) -> list[str]:
    """Return words such as “once for heads 1–4” for heads that share keys; empty if none do."""
    group, heads = shape.group(kind), shape.heads(kind)
    if group == 1:
        return []
    return [f"once for heads {first + 1}–{first + group}" for first in range(0, heads, group)]


def computed_words(number: int, states: np.ndarray) -> str:
    """Return how many positions a step computes and how many it reads from the cache, in words.

    `states` (layers, K) are those of the step with this number, from 0.
    """
    new, old = (int((states == state).any(axis=0).sum()) for state in (COMPUTED, READ))
    if number == 0:
        return f"Prefill: {how_many(new, 'position')} computed at once, nothing to read yet."
    return f"Decode: {how_many(new, 'position')} computed, {old} read from the cache."


def figures(steps: Sequence[DecodingStep]) -> None:
    """Draw how large the cache is and what work it saves, for this text and for a chosen length."""
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
    """Return the tokens computed with the cache and without, such as “20 instead of 210”."""
    tokens = [work(prompt, steps, cached=cached) for cached in (True, False)]
    return "{:,} instead of {:,}".format(*tokens)


def layer_words(step: DecodingStep, shape: Shape) -> list[str]:
    """Return sentences on what makes a model's cache smaller: shared keys, and windows."""
    own = [size for site, size in step.cached.items() if site.kind == "decoder"]
    sentences, group = [], shape.group("decoder")
    if group > 1:
        sentences.append(
            f"Heads share keys and values in groups of {group}: the cache is {group} times smaller."
        )
    windows = [size.window for size in own if size.window]
    if windows:
        sentences.append(
            f"{len(windows)} of {how_many(len(own), 'layer')} have a window: their cache stops "
            f"growing at {min(windows)} earlier positions and the newest one."
        )
    return sentences


def eviction_section(request: Request, of: About) -> None:
    """Draw the choice of a limited cache, which keys it keeps, and the text written with it."""
    st.markdown("**A cache that evicts**")
    reader = request.run.reader
    if why_not := reader.missing.get("take apart"):
        caption(why_not)
        return
    policy = choose(POLICY)
    if policy == "none":
        caption(EVICTION_WORDS)
        return
    before = decoded(request.run, Strategy(), request.longest)
    read = len(before.steps[-1].read)
    budget = choose(BUDGET, widget=st.slider, max_value=max(2, min(read, 64)), width=320)
    after = evicted(request.run, policy, budget, request.longest)
    for name, made, other in (("Every key kept", before, after), ("Evicting", after, before)):
        words = {"other": other.writing, "explained": made is after}
        show_writing(made.writing, f"eviction-{name}", name, of=of, **words)
    st.text(where_it_breaks(before, after, budget))
    site = Site("decoder", min(chosen(LAYER), reader.shape.layers("decoder") - 1))
    where, words = site_words(*site), [written_words(number, after) for number in range(len(after))]
    tokens = [token.text for token in after.steps[-1].read]
    rows = [f"head {head + 1}" for head in range(reader.shape.heads("decoder"))]
    table = CellRows(where, kept_keys(after, site), rows, tokens)
    show(step_cells([table], words, EVICTION_STATES), "evicted", of=of, what=f"Keys kept, {where}")
    caption(EVICTION_WORDS)


def where_it_breaks(before: Decoding, after: Decoding, budget: int) -> str:
    """Return at which token the text with evicted keys first differs from the usual one, in words.

    `before` kept every key; `after` kept at most `budget` in each head.
    """
    differs = first_difference(before, after)
    keys = how_many(budget, "key")
    if differs is None:
        return f"With {keys} in each head the text is the same."
    written = min(differs, len(after) - 1)
    read = len(after.steps[written].read)
    return (
        f"With {keys} in each head the text first differs at token {differs + 1}, after "
        f"{how_many(read, 'token')} were read."
    )


def written_words(number: int, decoding: Decoding) -> str:
    step = decoding.steps[number]
    return f"{how_many(len(step.read), 'token')} read, “{step.token.text}” is written."


def kept_keys(decoding: Decoding, site: Site) -> np.ndarray:
    """Return the state of every key, such as READ or DROPPED, by step and head: (T, H, K)."""
    visible = [step.visible[site].numpy(force=True) for step in decoding.steps]  # (H, K) each
    states = np.full((len(visible), *visible[-1].shape), ABSENT, np.uint8)
    read = 0
    for step, seen in enumerate(visible):
        states[step, :, : seen.shape[1]] = np.where(seen, READ, DROPPED)
        states[step, :, read : seen.shape[1]] = COMPUTED
        read = seen.shape[1]
    return states
