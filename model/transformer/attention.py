"""Scaled dot-product attention, with every stage visible.

Letters in shape comments, here and in the other model files: B batch, H heads, Q queries, K keys,
D width of one head, S source tokens, T target tokens, V vocabulary.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from headlight.model.linear import Linear
from headlight.model.transformer.masks import softmax_of_visible
from headlight.model.transformer.trace import AttentionEdit, AttentionRecord, Run, Site, Steps

UNCHANGED = AttentionEdit()
PLAIN = Steps()


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    edit: AttentionEdit = UNCHANGED,
    first_query: int = 0,
) -> AttentionRecord:
    """softmax(q k^T / sqrt(D)) v for every head, with all stages.

    Shapes: query (B, H, Q, D), key and value (B, H, K, D); mask broadcasts to (B, H, Q, K) and is
    True where a query may see a key. A fully blocked row gets weights of zero, never NaN.
    `first_query` is the position of the first query, which decides its row of the edit.
    Source: "Attention Is All You Need", section 3.2.1.
    """
    scale = 1 / math.sqrt(query.size(-1)) if edit.scale is None else edit.scale
    scores = (edit.steps or PLAIN).products(query, key).mul_(scale)  # (B, H, Q, K)
    bias = fit_bias(edit, first_query, scores)
    if bias is not None:
        scores = scores + bias
    masked_scores, visible = mask_scores(scores, mask, edit, first_query)
    if visible is None:
        weights = torch.softmax(masked_scores, dim=-1)
    else:
        weights = softmax_of_visible(masked_scores, visible)
    weights, value, heads = edited_heads(weights, value, edit, first_query)
    return AttentionRecord(query, key, value, scores, masked_scores, weights, heads, bias=bias)


def mask_scores(
    scores: Tensor, mask: Tensor | None, edit: AttentionEdit, first_query: int, first_key: int = 0
) -> tuple[Tensor, Tensor | None]:
    """Return scores (B, H, Q, K) with -inf for hidden keys, and the mask after an edit, if any."""
    visible = edited_mask(mask, edit, first_query, *scores.shape[-2:], first_key)
    steps = edit.steps or PLAIN
    if visible is None:
        return steps.mask(scores), None
    visible = visible.to(scores.device)  # an edit's tensors are still on the CPU
    return steps.mask(scores.masked_fill(~visible, -torch.inf)), visible


def edited_heads(
    weights: Tensor, value: Tensor, edit: AttentionEdit, first_query: int, first_key: int = 0
) -> tuple[Tensor, Tensor, Tensor]:
    """Return weights, values and each head's output (B, H, Q, D) after an edit."""
    if edit.weights is not None:
        weights = fit_weights(edit.weights, first_query, weights, first_key)
    steps = edit.steps or PLAIN
    weights, value = steps.inputs(weights, value)
    heads = steps.heads(weights, value)
    if edit.gate is not None:
        heads = heads * edit.gate.to(heads)[..., None, None]
    return weights, value, steps.result(heads)


def edited_mask(
    mask: Tensor | None,
    edit: AttentionEdit,
    first_query: int,
    queries: int,
    keys: int,
    first_key: int = 0,
) -> Tensor | None:
    """Return the mask after an edit: opened cells are visible, closed ones are not."""
    if edit.open is not None and mask is not None:
        mask = mask | fit_cells(edit.open.to(mask.device), first_query, queries, keys, first_key)
    if edit.block is not None:
        closed = fit_cells(edit.block, first_query, queries, keys, first_key)
        mask = ~closed if mask is None else mask & ~closed.to(mask.device)
    return mask


def fit_cells(
    cells: Tensor, first_query: int, queries: int, keys: int, first_key: int = 0
) -> Tensor:
    """Return the cells of an edit (..., Q, K) for these queries and keys; False beyond its size.

    `first_query` and `first_key` are positions. An edit is made on one sentence; decoding applies
    it to shorter prefixes and other lengths.
    """
    cells = cells[..., first_query : first_query + queries, first_key : first_key + keys]
    return F.pad(cells, (0, keys - cells.size(-1), 0, queries - cells.size(-2)))


def fit_bias(
    edit: AttentionEdit, first_query: int, scores: Tensor, first_key: int = 0
) -> Tensor | None:
    """Return what an edit adds to scores (B, H, Q, K), as (H, Q, K), or None."""
    if edit.bias is None:
        return None
    return fit_cells(edit.bias, first_query, *scores.shape[-2:], first_key).to(scores)


def fit_weights(given: Tensor, first_query: int, weights: Tensor, first_key: int = 0) -> Tensor:
    """Return the given weights of these queries, in the shape of `weights` (B, H, Q, K).

    `first_query` and `first_key` are positions. Raises ValueError if some weights are missing.
    """
    queries, keys = weights.shape[-2:]
    these = given[..., first_query : first_query + queries, first_key : first_key + keys]
    if these.shape[-2:] != (queries, keys):
        raise ValueError(
            f"The weights given for {given.size(-2)} queries and {given.size(-1)} keys cannot "
            f"replace those for {first_query + queries} and {first_key + keys}. Take them from a "
            "text of the same length."
        )
    return these.to(weights).expand_as(weights)


class MultiHeadAttention(nn.Module):
    """Heads that attend in parallel, each in its own slice of the projections.

    Source: "Attention Is All You Need", section 3.2.2.
    """

    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = Linear(d_model, d_model)
        self.key = Linear(d_model, d_model)
        self.value = Linear(d_model, d_model)
        self.output = Linear(d_model, d_model)

    def forward(
        self, states: Tensor, memory: Tensor, mask: Tensor | None, site: Site, run: Run
    ) -> Tensor:
        """Let each of `states` (B, Q, d_model) look at `memory` (B, K, d_model).

        Self-attention passes the same tensor twice. With a cache in `run`, self-attention sees the
        earlier positions too, and the memory of cross-attention is only projected once.
        """
        query, key, value = self.project(states, memory, site, run)
        edit = run.edits.get(site, UNCHANGED)
        record = attend(query, key, value, mask, edit, run.cache.length if run.cache else 0)
        if run.trace is not None:
            run.trace.record(site, record)
        return self.output(self.join(record.heads))  # (B, Q, d_model)

    def project(
        self, states: Tensor, memory: Tensor, site: Site, run: Run
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the queries (B, H, Q, D) of the states, and the keys and values (B, H, K, D).

        With a cache, keys and values continue those that it holds.
        """
        cached = run.cache.entries.get(site) if run.cache is not None else None
        if cached is not None and site.kind == "cross":
            return self.split(self.query(states)), *cached
        query, key, value = map(self.split, self.projections(states, memory))
        if cached is not None:
            key = torch.cat([cached[0], key], dim=2)
            value = torch.cat([cached[1], value], dim=2)
        if run.cache is not None:
            run.cache.entries[site] = key, value
        return query, key, value

    def projections(self, states: Tensor, memory: Tensor) -> Sequence[Tensor]:
        """Return queries (B, Q, d_model), and keys and values (B, K, d_model), of all heads."""
        return self.query(states), self.key(memory), self.value(memory)

    def split(self, states: Tensor) -> Tensor:
        """(B, Q, d_model) -> (B, H, Q, D)."""
        return states.view(*states.shape[:-1], self.heads, -1).transpose(1, 2)

    @property
    def to_stream(self) -> Tensor:
        """The map from each head's output to the stream: (H, D, d_model)."""
        return self.output.weight.T.unflatten(0, (self.heads, -1))

    def join(self, heads: Tensor) -> Tensor:
        """(B, H, Q, D) -> (B, Q, d_model)."""
        return heads.transpose(1, 2).flatten(2)
