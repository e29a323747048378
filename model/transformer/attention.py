"""Scaled dot-product attention, with every stage visible.

Letters in shape comments, here and in the other model files: B batch, H heads, Q queries, K keys,
D width of one head, S source tokens, T target tokens, V vocabulary.
"""

import math

import torch
from torch import Tensor, nn

from headlight.model.transformer.cache import KeyValueCache
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.masks import Visible, softmax_of_visible
from headlight.model.transformer.trace import AttentionRecord, Run, Site


class Edit:
    """The steps of attention in one block; subclasses override some to change the attention."""

    scale: float | None = None  # the factor on query · key; None means 1 / sqrt(D)
    batch = 1  # the number of rows of a batch, if the edit has its own changes for each row

    def at(self, first_query: int, first_key: int = 0) -> "Edit":
        """Return the edit for a call whose first query and first key are at these positions."""
        return self

    def score(self, query: Tensor, key: Tensor, scale: float) -> Tensor:
        """Return the scores of queries (B, H, Q, D) and keys (B, H, K, D): (B, H, Q, K)."""
        return (query @ key.transpose(-2, -1)).mul_(scale)

    def bias_of(self, scores: Tensor) -> Tensor | None:
        """Return a bias to add to scores (B, H, Q, K), in a shape that broadcasts to theirs."""
        return None

    def mask(self, scores: Tensor, visible: Visible) -> Tensor:
        """Return the scores (B, H, Q, K) with -inf where a query may not see a key."""
        return scores if visible is None else scores.masked_fill(~visible, -torch.inf)

    def reweigh(self, weights: Tensor) -> Tensor:
        """Return the weights to use instead of the softmax's `weights` (B, H, Q, K)."""
        return weights

    def mix(self, weights: Tensor, value: Tensor) -> Tensor:
        """Return the weighted sums of the values (B, H, K, D): (B, H, Q, D)."""
        return weights @ value


UNCHANGED = Edit()


def attend(
    query: Tensor, key: Tensor, value: Tensor, mask: Visible = None, edit: Edit = UNCHANGED
) -> AttentionRecord:
    """Compute softmax(q k^T / sqrt(D)) v for every head; return all stages.

    Shapes: query (B, H, Q, D), key and value (B, H, K, D); mask broadcasts to (B, H, Q, K) and is
    True where a query may see a key. A row whose keys are all blocked gets weights of 0, never NaN.
    Source: "Attention Is All You Need", section 3.2.1.
    """
    scale = 1 / math.sqrt(query.size(-1)) if edit.scale is None else edit.scale
    scores = edit.score(query, key, scale)  # (B, H, Q, K)
    bias = edit.bias_of(scores)
    if bias is not None:
        scores = scores + bias
    masked_scores = edit.mask(scores, mask)
    weights = edit.reweigh(softmax_of_visible(masked_scores, masked_scores is scores))
    heads = edit.mix(weights, value)  # (B, H, Q, D)
    return AttentionRecord(query, key, value, scores, masked_scores, weights, heads, bias=bias)


class MultiHeadAttention(nn.Module):
    """Heads that attend in parallel, each in its own slice of the projections.

    Source: "Attention Is All You Need", section 3.2.2.
    """

    def __init__(self, config: TransformerConfig, site: Site) -> None:
        super().__init__()
        self.site = site
        self.heads, self.width = config.heads, config.d_model // config.heads  # H, D
        self.query = nn.Linear(config.d_model, config.d_model)
        self.key = nn.Linear(config.d_model, config.d_model)
        self.value = nn.Linear(config.d_model, config.d_model)
        self.output = nn.Linear(config.d_model, config.d_model)

    def forward(self, states: Tensor, memory: Tensor, mask: Visible, run: Run) -> Tensor:
        """Let each of `states` (B, Q, d_model) attend to `memory` (B, K, d_model).

        In self-attention both are the same tensor. With a cache in `run`, self-attention also sees
        the earlier positions, and cross-attention projects its memory only once.
        """
        query, key, value = self.project(states, memory, run.cache)
        edit: Edit = run.edits.get(self.site, UNCHANGED)
        if run.cache is not None:
            edit = edit.at(run.cache.length)
        record = attend(query, key, value, mask, edit)
        if run.trace is not None:
            run.trace.record(self.site, record)
        return self.output(self.join(record.heads))  # (B, Q, d_model)

    def project(
        self, states: Tensor, memory: Tensor, cache: KeyValueCache | None
    ) -> tuple[Tensor, ...]:
        """Return the queries (B, H, Q, D) of the states, and the keys and values (B, H, K, D).

        With a cache, self-attention appends new keys and values; cross-attention keeps its first.
        """
        earlier = None if cache is None else cache.entries.get(self.site)
        if earlier is not None and self.site.kind == "cross":
            return self.split(self.query(states)), *earlier
        query, key, value = self.projections(states, memory)
        if earlier is not None:
            key = torch.cat([earlier[0], key], dim=2)
            value = torch.cat([earlier[1], value], dim=2)
        if cache is not None:
            cache.entries[self.site] = key, value
        return query, key, value

    def projections(self, states: Tensor, memory: Tensor) -> tuple[Tensor, ...]:
        """Return the queries (B, H, Q, D), and the keys and values (B, H, K, D)."""
        parts = self.query(states), self.key(memory), self.value(memory)
        return tuple(map(self.split, parts))

    def split(self, states: Tensor) -> Tensor:
        """(B, Q, H * D) -> (B, H, Q, D)."""
        return states.view(*states.shape[:-1], -1, self.width).transpose(1, 2)

    def join(self, heads: Tensor) -> Tensor:
        """(B, H, Q, D) -> (B, Q, d_model)."""
        return heads.transpose(1, 2).flatten(2)
