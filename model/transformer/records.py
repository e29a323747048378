"""What a call of the model records: the stages of attention, embeddings, the residual stream."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

import torch
from torch import Tensor


class ByShape:
    """A dataclass of tensors, or of some at each site, which shows their shapes in one line.

    It shows no tensor that is None.
    """

    def __repr__(self) -> str:
        parts = {name: part for name, part in vars(self).items() if part is not None}
        sizes = {name: tuple(part.shape) for name, part in parts.items() if torch.is_tensor(part)}
        sites = {
            name: f"at {len(part)} sites"
            for name, part in parts.items()
            if isinstance(part, Mapping)
        }
        words = (f"{name} {part}" for name, part in (parts | sizes | sites).items())
        return f"{type(self).__name__}({', '.join(words)})"


class BySite(dict):
    """Records by their sites; the KeyError of any other key says which sites there are."""

    def __missing__(self, key: object) -> NoReturn:
        sites = ", ".join(f"Site{tuple(site)}" for site in self)
        raise KeyError(f"Attention is recorded at {sites or 'no site'}, and not at {key!r}.")


@dataclass(frozen=True, repr=False)
class AttentionRecord(ByShape):
    """The stages of one attention call, in the order in which they are computed.

    `scores` are q.k times the scale; `masked_scores` are -inf where a query may not look; rows of
    `weights` sum to 1, or are all 0 if every key is blocked; `heads` is weights @ value, after the
    head gate. A stage that a model does not show is None.

    The fields after `heads` describe models of the transformers library, and `bias` an edit, too:
    scores are q.k times `scale` plus `bias`, then softcap * tanh(scores / softcap); a sink is one
    more score in the softmax that belongs to no key, so that rows of weights sum to less than 1.
    """

    query: Tensor | None  # (B, H, Q, D)
    key: Tensor | None  # (B, H, K, D)
    value: Tensor | None  # (B, H, K, D)
    scores: Tensor | None  # (B, H, Q, K)
    masked_scores: Tensor  # (B, H, Q, K)
    weights: Tensor  # (B, H, Q, K)
    heads: Tensor | None  # (B, H, Q, D)
    scale: float | None = None  # None means 1 / sqrt(D), or the edit's
    bias: Tensor | None = None  # of relative positions, broadcasts to (B, H, Q, K)
    softcap: float | None = None
    sinks: Tensor | None = None  # (H,)
    rotated: bool = False  # query and key are as after rotary positions
    key_heads: int | None = None  # fewer than H, each shared by a group; stored once per head


@dataclass(frozen=True, repr=False)
class EmbeddingRecord(ByShape):
    """The input of a side's first layer, fields in the order in which they are computed.

    BERT does not scale, but adds a vector for the token's sentence, and normalizes the sum.
    In models of the transformers library only `states` are known, unless positions are a part.
    """

    tokens: Tensor | None  # (B, T, d_model)
    scaled: Tensor | None  # (B, T, d_model): times sqrt(d_model)
    positions: Tensor | None  # (T, d_model): of the tokens' positions
    states: Tensor  # (B, T, d_model): the sum, in BERT its norm, which the first layer reads
    segments: Tensor | None = None  # (B, T, d_model), in BERT only


@dataclass(frozen=True, repr=False)
class ResidualRecord(ByShape):
    """The residual stream at one sublayer, each field (B, T, d_model).

    `inputs` are the norm of `states` in a pre-norm model, or of the stream before the layer if its
    sublayers run side by side. They are `states` themselves in a post-norm model, whose `outputs`
    are the norm of the sum.
    """

    states: Tensor  # the stream before
    inputs: Tensor  # the sublayer's input
    change: Tensor  # the sublayer's output
    outputs: Tensor  # the stream after
