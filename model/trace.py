"""The trace of a run: the activations of one call of a model, with the tokens that it read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import torch
from torch import Tensor

from headlight.model.tokens import Token
from headlight.model.transformer.trace import Activations, AttentionRecord, Kind, Site


class BySite(dict):
    """A dict of records by attention block; its KeyError says which blocks it has."""

    def __missing__(self, key: object) -> NoReturn:
        sites = ", ".join(f"Site{tuple(site)}" for site in self)
        raise KeyError(f"Attention is recorded at {sites or 'no site'}, and not at {key!r}.")


def visible_to_any(record: AttentionRecord) -> Tensor:
    """Return which keys at least one head sees: (Q, K) bool."""
    return ~record.masked_scores[0].isneginf().all(dim=0)


@dataclass(repr=False)
class Trace(Activations):
    """The tokens and results of one forward call, for a batch of one unless said otherwise.

    Decoder rows are labelled with the tokens the decoder *read* (the target shifted right, so the
    first is the start token); row i predicts the token that row i + 1 reads.
    """

    source_tokens: Sequence[Token] = ()
    target_tokens: Sequence[Token] = ()
    overview: dict[Site, Tensor] = field(default_factory=dict)  # (H, Q, K) uint8: weights * 255
    masks: dict[Site, Tensor] = field(default_factory=dict)  # (Q, K) bool: visible, if in overview
    full: Collection[Site] | None = None  # the attention blocks to record in full; None for all
    attention: dict[Site, AttentionRecord] = field(default_factory=BySite, kw_only=True)
    finished: bool = True  # False if the target was cut, or stopped at a limit, without its end

    def __repr__(self) -> str:
        read = f"{len(self.source_tokens)} source and {len(self.target_tokens)} target tokens"
        return f"Trace({read}, attention at {len(self.attention)} sites)"

    @property
    def longest(self) -> int:
        """The number of tokens of the longer side."""
        return max(len(self.source_tokens), len(self.target_tokens))

    def record(self, site: Site, record: AttentionRecord) -> None:
        """Record an attention block: all stages if it is in `full`, else its weights as bytes."""
        if self.full is None or site in self.full:
            self.attention[site] = record
        else:
            self.overview[site] = (record.weights[0].detach() * 255).round().to(torch.uint8)
            self.masks[site] = visible_to_any(record)

    def weights(self, kind: Kind) -> Tensor:
        """Return the weights of all heads of a kind of attention: (layers, H, Q, K).

        Weights from the overview are rounded to multiples of 1/255. Raises ValueError if no
        attention of this kind is recorded.
        """
        recorded = sorted({*self.attention, *self.overview})
        sites = [site for site in recorded if site.kind == kind]
        if not sites:
            kinds = ", ".join(dict.fromkeys(site.kind for site in recorded))
            raise ValueError(f"This trace has no attention of the kind {kind!r}, but of {kinds}.")
        return torch.stack([self.site_weights(site) for site in sites])

    def site_weights(self, site: Site) -> Tensor:
        """Return the weights (H, Q, K) of an attention block, from its record or the overview."""
        if site in self.overview:
            return self.overview[site] / 255
        return self.attention[site].weights[0]

    def visible(self, site: Site) -> Tensor:
        """Return which keys at least one head of an attention block sees: (Q, K) bool."""
        if site in self.masks:
            return self.masks[site]
        return visible_to_any(self.attention[site])

    def query_tokens(self, site: Site) -> Sequence[Token]:
        """Return the tokens of the queries, the rows of an attention block's weights."""
        return self.source_tokens if self.kind_at(site) == "encoder" else self.target_tokens

    def key_tokens(self, site: Site) -> Sequence[Token]:
        """Return the tokens of the keys, the columns of an attention block's weights."""
        return self.target_tokens if self.kind_at(site) == "decoder" else self.source_tokens

    def kind_at(self, site: Site) -> Kind:
        """Return an attention block's kind; raises ValueError if only other blocks are recorded."""
        recorded = {*self.attention, *self.overview}
        if recorded and site not in recorded:
            last = dict(sorted(recorded))  # the last recorded layer of each kind
            there = ", ".join(f"{kind} 0 to {layer}" for kind, layer in last.items())
            raise ValueError(f"This trace has no {site!r}; it has the sites {there}.")
        return site.kind
