"""A lesson: attention without ever storing a row of weights, as FlashAttention computes it."""

from collections.abc import Sequence

import numpy as np
import streamlit as st
from torch import Tensor

from headlight.model.insight.blockwise import (
    BlockStep,
    blockwise,
    bytes_kept,
    bytes_stored,
    output_of,
    row_of_weights,
)
from headlight.model.trace import AttentionRecord
from headlight.pages.parts.masks.library import LENGTH
from headlight.pages.parts.masks.stages import Focus
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.words import MASK_WORDS
from headlight.pages.shared.state.choice import counted, one_of
from headlight.pages.shared.state.choices import MOST_TOKENS
from headlight.pages.shared.widgets.choose import choose, choose_token
from headlight.viz import CellRows, step_cells
from headlight.viz.numbers import bytes_text, number_text

ROW = counted("flash_row", MOST_TOKENS - 1, MOST_TOKENS, label="The row of")
BLOCK = one_of("flash_block", {size: str(size) for size in (2, 3, 4, 8)}, label="Keys in a block")
STATES = ("not read yet", "", "closed by the mask", "in this block", "summed up, not stored")
UNREAD, _, CLOSED, READ, SUMMED_UP = range(len(STATES))
FLASH = {"flash": "FlashAttention, block by block"}


def flash_attention(record: AttentionRecord, focus: Focus) -> None:
    """Draw a row of a head's scores as it is summed up, and what that is equal to."""
    queries, keys = focus.tokens
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query = choose_token(ROW, queries)
        size = choose(BLOCK)
        length = choose(LENGTH, width=190)
    scores = record.masked_scores[0, focus.head, query].float().cpu()  # (K,)
    steps = blockwise(scores, record.value[0, focus.head].float().cpu(), size)
    texts = [[number_text(score, 2) for score in scores.tolist()]]
    states = states_of(steps, scores.isneginf().numpy())
    table = CellRows("Scores of the row", states, [queries[query]], keys, texts=texts)
    words = [step_words(number, steps) for number in range(len(steps))]
    what = f"Row {query + 1} block by block, {focus.words}"
    show(step_cells([table], words, STATES), "flash", of=focus.of, what=what)
    weights = record.weights[0, focus.head, query].float().cpu()
    ours = row_of_weights(scores, steps[-1])
    parts = output_of(steps) - weights @ record.value[0, focus.head].float().cpu()
    with st.container(horizontal=True):
        st.metric("Differs from the softmax's weights by", difference(ours - weights))
        st.metric("And from the head's output by", difference(parts))
        st.metric(f"Never stored, {length:,} tokens", bytes_text(bytes_stored(length)))
        st.metric("Kept instead", bytes_text(bytes_kept(length)))
    caption(MASK_WORDS["flash"])


def difference(numbers: Tensor) -> str:
    return f"{numbers.abs().max().item():.0e}"


def states_of(steps: Sequence[BlockStep], closed: np.ndarray) -> np.ndarray:
    """Return the state of every key (K,) at every step: (T, 1, K)."""
    states = np.full((len(steps), 1, len(closed)), UNREAD, np.uint8)
    for number, step in enumerate(steps):
        states[number, 0, : step.keys.start] = SUMMED_UP
        states[number, 0, step.keys] = np.where(closed[step.keys], CLOSED, READ)
    return states


def step_words(number: int, steps: Sequence[BlockStep]) -> str:
    """Return what a block does to the running maximum and sum."""
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
