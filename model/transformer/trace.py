"""The record of one call of the model, and the options of a call, such as edits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import torch
from torch import Tensor

if TYPE_CHECKING:
    from headlight.model.transformer.cache import KeyValueCache

Kind = Literal["encoder", "decoder", "cross"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Side = Literal["encoder", "decoder"]
MaybeNone = Any  # None if a model does not show this part; its reader's `missing` says so


class Site(NamedTuple):
    """One attention block: encoder or decoder self-attention, or cross-attention; layers from 0."""

    kind: Kind
    layer: int


class Block(NamedTuple):
    """One sublayer with its residual connection; layers from 0."""

    side: Side
    layer: int
    part: Literal["self", "cross", "feed_forward"]


class ByShape:
    """The base of dataclasses of tensors: their repr shows shapes, and leaves out what is None."""

    def __repr__(self) -> str:
        parts = (f"{name} {shown(part)}" for name, part in vars(self).items() if part is not None)
        return f"{type(self).__name__}({', '.join(parts)})"


def shown(part: object) -> object:
    if isinstance(part, Mapping):
        return f"at {len(part)} sites"
    return tuple(part.shape) if torch.is_tensor(part) else part


@dataclass(frozen=True, repr=False)
class AttentionRecord(ByShape):
    """The stages of one attention call, in the order in which they are computed.

    `scores` are query · key times the scale; `masked_scores` are -inf where a query may not see a
    key; rows of `weights` sum to 1, or are all 0 if every key is blocked; `heads` is
    weights @ value, times the gates of heads. A stage that a model does not show is None.

    The fields after `heads` are for models of the transformers library; an edit can set `bias`,
    too. Scores are query · key times `scale` plus `bias`, then softcap * tanh(scores / softcap). A
    sink is one more score in the softmax, which belongs to no key, so that rows of weights sum to
    less than 1.
    """

    query: Tensor | MaybeNone  # (B, H, Q, D)
    key: Tensor | MaybeNone  # (B, H, K, D)
    value: Tensor | MaybeNone  # (B, H, K, D)
    scores: Tensor | MaybeNone  # (B, H, Q, K)
    masked_scores: Tensor  # (B, H, Q, K)
    weights: Tensor  # (B, H, Q, K)
    heads: Tensor | MaybeNone  # (B, H, Q, D)
    # the factor on query · key; None means 1 / sqrt(D), or the scale of an edit
    scale: float | None = None
    bias: Tensor | None = None  # added to scores for relative positions; broadcasts to (B, H, Q, K)
    softcap: float | None = None
    sinks: Tensor | None = None  # (H,)
    rotated: bool = False  # True if query and key are recorded after their rotation by positions
    # the number of distinct key heads, if below H; `key` and `value` repeat them
    key_heads: int | None = None


@dataclass(frozen=True, repr=False)
class EmbeddingRecord(ByShape):
    """The steps from tokens to the input of a side's first layer, in the order of computation.

    BERT does not scale, but adds a vector for the token's sentence, and normalizes the sum.
    In models of the transformers library only `states` are known, and sometimes `positions`.
    """

    tokens: Tensor | MaybeNone  # (B, T, d_model)
    scaled: Tensor | MaybeNone  # (B, T, d_model): times sqrt(d_model)
    positions: Tensor | MaybeNone  # (T, d_model): the position vectors
    states: Tensor  # (B, T, d_model): the sum (in BERT, its norm), which the first layer reads
    segments: Tensor | None = None  # (B, T, d_model), in BERT only


@dataclass(frozen=True, repr=False)
class ResidualRecord(ByShape):
    """The residual stream at one sublayer; each field is (B, T, d_model).

    In a pre-norm model, `inputs` are the norm of `states`, or of the stream before the layer if its
    sublayers run in parallel. In a post-norm model, `inputs` are `states`, and `outputs` are the
    norm of states + change.
    """

    states: Tensor  # the stream before the sublayer
    inputs: Tensor  # the sublayer's input
    change: Tensor  # the sublayer's output
    outputs: Tensor  # the stream after the sublayer


# The changes of one call: the `Edit` of each Site, and the `Placement` of the tokens of each Side.
RunEdits = Mapping[Any, Any]


@dataclass(kw_only=True, repr=False)
class Activations(ByShape):
    """The results of all parts of the model in one call, for a batch of B.

    The decoder reads the target shifted right, so that its first token is the start token; row i
    of its activations predicts the token that row i + 1 reads.
    """

    embedding: dict[Side, EmbeddingRecord] = field(default_factory=dict)
    attention: dict[Site, AttentionRecord] = field(default_factory=dict)
    residual: dict[Block, ResidualRecord] = field(default_factory=dict)
    outputs: dict[Side, Tensor] = field(default_factory=dict)  # (B, T, d_model) after the last norm
    logits: Tensor | MaybeNone = None  # (B, T, V)

    def record(self, site: Site, record: AttentionRecord) -> None:
        self.attention[site] = record


@dataclass(frozen=True)
class Run:
    """The options of one call of the model; `Run()` is plain inference or training."""

    edits: RunEdits = field(default_factory=dict)
    trace: Activations | None = None
    cache: KeyValueCache | None = None
