"""The tabs below the mask of a head: from scores to weights, other masks, and why masks exist."""

from collections.abc import Sequence

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from headlight.model.insight.masks import masked_softmax
from headlight.model.transformer.trace import AttentionRecord
from headlight.pages.parts.masks.blockwise import (
    BlockStep,
    blockwise,
    bytes_kept,
    bytes_stored,
    output_of,
    row_of_weights,
)
from headlight.pages.parts.masks.library import LENGTH, mask_library
from headlight.pages.parts.masks.own import PICTURES, as_trained
from headlight.pages.parts.masks.stages import Focus, stages
from headlight.pages.parts.masks.words import BLOCKING, MASK_WORDS
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.runs.shipped import cheat
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.cells import OpenCell
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.sight import tabs
from headlight.pages.shared.state import models
from headlight.pages.shared.state.choice import counted, one_of
from headlight.pages.shared.state.choices import MOST_TOKENS
from headlight.pages.shared.state.models import SHIPPED
from headlight.pages.shared.widgets.choose import choose, choose_token
from headlight.viz import CellRows, attention_heatmap, step_cells
from headlight.viz.numbers import bytes_text, number_text

METHOD = one_of(
    "method", {name: name.replace("-inf", "−∞") for name in BLOCKING}, label="Block with"
)
BLOCKED_ROW = counted("blocked_row", 1, MOST_TOKENS, label="Block this query completely")
TITLES = {
    "stages": "From scores to weights",
    "library": "Masks of today",
    "trained": "This model's own masks",
    "blocking": "Why −∞ and nothing else",
    "flash": "FlashAttention",
    "ahead": "Why not look ahead",
}
TAB = one_of("masks_tab", TITLES, label="What is shown")
LIBRARY = {"mask-library": "all masks as small drawings"}
FLASH_ROW = counted("flash_row", MOST_TOKENS - 1, MOST_TOKENS, label="The row of")
FLASH_BLOCK = one_of(
    "flash_block", {size: str(size) for size in (2, 3, 4, 8)}, label="Keys in a block"
)
FLASH_STATES = ("not read yet", "", "closed by the mask", "in this block", "summed up, not stored")
UNREAD, _, CLOSED, READ, SUMMED_UP = range(len(FLASH_STATES))
FLASH = {"flash": "FlashAttention, block by block"}


def below(
    trained: ModelRun,
    run: ModelRun,
    before: AttentionRecord,
    after: AttentionRecord,
    focus: Focus,
    open_cell: OpenCell | None,
) -> None:
    """Draw the chosen tab.

    `before` and `after` are the records of the layer's attention without and with the changes.
    """
    sections = {
        "stages": lambda: stages(before, after, focus, open_cell),
        "library": lambda: mask_library(run, focus.site),
        "trained": lambda: as_trained(trained, run),
    }
    if after.scores is not None:
        sections["blocking"] = lambda: ways_of_blocking(after, focus)
    if after.value is not None and after.sinks is None:
        sections["flash"] = lambda: flash_attention(after, focus)
    if models.chosen().key in SHIPPED:
        sections["ahead"] = lambda: why_not_look_ahead(trained.sentence, trained.target_text())
    tabs(TAB, sections, {"trained": PICTURES, "library": LIBRARY, "flash": FLASH})


def why_not_look_ahead(sentence: str, target: str) -> None:
    """Draw the results of a model that was trained without a mask.

    They are its log-probability of the target, which it can see and copy, and its own translation.
    """
    score, text = cheat(sentence, target)
    numbers, words = st.columns([1, 2], gap="medium")
    with numbers:
        caption("A model that was trained without the mask:")
        st.metric("The log-probability of the whole target", f"{number_text(score)} nats")
    with words:
        caption("Its own translation, when there is no answer to look at:")
        st.text(text or "(nothing)")
    caption(MASK_WORDS["cheating"])


def ways_of_blocking(record: AttentionRecord, focus: Focus) -> None:
    """Draw the weights for a chosen way to block keys; one row has all its keys blocked."""
    queries, _ = focus.tokens
    choice, picture = st.columns(2, gap="medium")
    with choice:
        method = choose(METHOD)
        row = choose_token(BLOCKED_ROW, queries)
        visible = record.masked_scores[0, focus.head].isfinite()
        visible[row] = False
        weights = masked_softmax(record.scores[0, focus.head], visible, method)
        sums = weights.sum(dim=-1)
        others = torch.cat([sums[:row], sums[row + 1 :]])
        st.metric("Sum of the blocked row", f"{sums[row]:.3f}")
        if len(others):
            st.metric("Sums of the other rows", f"{others.min():.3f} to {others.max():.3f}")
        st.metric("Weight on blocked keys", f"{weights[~visible].sum():.3f}")
        caption(BLOCKING[method])
    with picture:
        # Blocked keys are drawn as blocked, unless they wrongly have a weight.
        closed = (~visible & (weights == 0)).cpu().numpy()
        heatmap = attention_heatmap(weights.cpu().numpy(), *focus.tokens, blocked=closed)
        what = f"Row {row + 1} blocked with {method}, {focus.words}"
        show(heatmap, "blocking", of=focus.of, what=what)


def flash_attention(record: AttentionRecord, focus: Focus) -> None:
    """Draw how FlashAttention computes a row of attention without storing its weights."""
    queries, keys = focus.tokens
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query = choose_token(FLASH_ROW, queries)
        size = choose(FLASH_BLOCK)
        length = choose(LENGTH, width=190)
    scores = record.masked_scores[0, focus.head, query].float().cpu()  # (K,)
    steps = blockwise(scores, record.value[0, focus.head].float().cpu(), size)
    texts = [[number_text(score, 2) for score in scores.tolist()]]
    states = states_of(steps, scores.isneginf().numpy())
    table = CellRows("Scores of the row", states, [queries[query]], keys, texts=texts)
    words = [step_words(number, steps) for number in range(len(steps))]
    what = f"Row {query + 1} block by block, {focus.words}"
    show(step_cells([table], words, FLASH_STATES), "flash", of=focus.of, what=what)
    weights = record.weights[0, focus.head, query].float().cpu()
    ours = row_of_weights(scores, steps[-1])
    parts = output_of(steps) - weights @ record.value[0, focus.head].float().cpu()
    with st.container(horizontal=True):
        st.metric("Difference from the softmax's weights", difference(ours - weights))
        st.metric("Difference from the head's output", difference(parts))
        st.metric(f"Never stored, for {length:,} tokens", bytes_text(bytes_stored(length)))
        st.metric("Kept instead", bytes_text(bytes_kept(length)))
    caption(MASK_WORDS["flash"])


def difference(numbers: Tensor) -> str:
    return f"{numbers.abs().max().item():.0e}"


def states_of(steps: Sequence[BlockStep], closed: np.ndarray) -> np.ndarray:
    """Return the state of every key, such as READ or CLOSED, at each of T steps: (T, 1, K)."""
    states = np.full((len(steps), 1, len(closed)), UNREAD, np.uint8)
    for number, step in enumerate(steps):
        states[number, 0, : step.keys.start] = SUMMED_UP
        states[number, 0, step.keys] = np.where(closed[step.keys], CLOSED, READ)
    return states


def step_words(number: int, steps: Sequence[BlockStep]) -> str:
    """Return a sentence on how a block changes the running maximum and sum."""
    step = steps[number]
    maximum, total, added = map(number_text, (step.maximum, step.total, step.added))
    if not step.total:
        return f"Block {number + 1}: the mask closes every key so far, so the sum stays 0."
    if not number or not steps[number - 1].total:
        words = f"maximum {maximum}, sum of e^(score − maximum) {total}."
    else:
        before = number_text(steps[number - 1].total)
        old = number_text(steps[number - 1].maximum)
        rises = step.factor < 1
        change = f"maximum {old} → {maximum}" if rises else f"maximum stays {maximum}"
        kept = f"{before} · e^({old} − {maximum})" if rises else before
        words = f"{change}, sum {kept} + {added} = {total}."
    end = f" Every weight is e^(score − {maximum}) / {total}." if step is steps[-1] else ""
    return f"Block {number + 1}: {words}{end}"
