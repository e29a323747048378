"""What one call of the model records, and the edits that it is made with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from torch import Tensor

from headlight.model.transformer.records import (
    AttentionRecord,
    ByShape,
    EmbeddingRecord,
    ResidualRecord,
)

if TYPE_CHECKING:
    from headlight.model.transformer.attention import Edit
    from headlight.model.transformer.cache import KeyValueCache
    from headlight.model.transformer.positions import Placement

Kind = Literal["encoder", "decoder", "cross"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Side = Literal["encoder", "decoder"]


class Site(NamedTuple):
    """One attention block: encoder or decoder self-attention, or cross-attention; layers from 0."""

    kind: Kind
    layer: int


class Block(NamedTuple):
    """One sublayer with its residual connection; layers from 0."""

    side: Side
    layer: int
    part: Literal["self", "cross", "feed_forward"]


# What one call changes: the attention at a site, and the positions of a side.
RunEdits = Mapping[Site | Side, "Edit | Placement"]


@dataclass(kw_only=True, repr=False)
class Activations(ByShape):
    """The results of all parts of the model in one call, for a batch of B.

    The decoder reads the target shifted right, so that its first token is the start token; row i
    of its activations predicts the token that row i + 1 reads.
    """

    embedding: dict[Side, EmbeddingRecord] = field(default_factory=dict)
    attention: dict[Site, AttentionRecord] = field(default_factory=dict)
    residual: dict[Block, ResidualRecord] = field(default_factory=dict)
    outputs: dict[Side, Tensor] = field(default_factory=dict)  # (B, T, d_model), the last norm's
    logits: Tensor | None = None  # (B, T, V)

    def record(self, site: Site, record: AttentionRecord) -> None:
        self.attention[site] = record


@dataclass(frozen=True)
class Run:
    """The options of one call of the model; `Run()` is plain inference or training."""

    edits: RunEdits = field(default_factory=dict)
    trace: Activations | None = None
    cache: KeyValueCache | None = None
