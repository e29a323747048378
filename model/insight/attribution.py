"""The parts of a decoder and what each adds to a written word's logit minus another word's."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from headlight.model.attention import UNCHANGED
from headlight.model.reader import Reader
from headlight.model.stream import precise
from headlight.model.trace import AttentionRecord, RunEdits, Site, Trace


@dataclass(frozen=True)
class Attribution:
    """The share of each part in the logit of one token minus that of another, in nats.

    The parts sum to `difference`, as the model computed it; the keys of a head sum to the head.
    """

    embedding: float
    heads: Mapping[Site, Tensor]  # (H,)
    keys: Mapping[Site, Tensor]  # (H, K): through each token that the head looked at
    weights: Mapping[Site, Tensor]  # (H, K): with which it looked there
    feed_forwards: Tensor  # (layers,)
    biases: float  # of the output projections, the last norm and the output layer
    difference: float

    @property
    def total(self) -> float:
        heads = sum(part.sum().item() for part in self.heads.values())
        return self.embedding + heads + self.feed_forwards.sum().item() + self.biases


@dataclass
class RowTrace(Trace):
    """The computation of one decoder row; all rows of long texts would take too much memory."""

    row: int = 0

    def record(self, site: Site, record: AttentionRecord) -> None:
        """Keep a decoder site's values, and the row's weights and heads."""
        if site.kind == "encoder":
            return
        rows = slice(self.row, self.row + 1)
        parts = {name: getattr(record, name) for name in ("masked_scores", "weights", "heads")}
        # Slices would keep all rows in memory.
        cut = {name: part[:, :, rows].clone() for name, part in parts.items()}
        left_out = {"query": None, "key": None, "scores": None, "bias": None}
        self.attention[site] = replace(record, **left_out, **cut)


@torch.inference_mode()
def attribute(
    reader: Reader, trace: Trace, row: int, token: int, other: int, edits: RunEdits | None = None
) -> Attribution:
    """Return what each part adds to the logit of `token` minus that of `other` after a row.

    This is only the direct path: the influence of a part on later ones counts as theirs. The last
    norm's scale is held as it is in this run, over a trace's tokens under `edits`. Raises
    ValueError if the model's logits are no such sum, or if the decoder does not read that row.
    Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits".
    """
    if "add up logits" in reader.missing:
        raise ValueError(reader.missing["add up logits"])
    if not 0 <= row < len(trace.target_tokens):
        raise ValueError(f"The decoder reads {len(trace.target_tokens)} tokens, and no row {row}.")
    edits, recorded = edits or {}, RowTrace(row=row)
    stream = reader.decoder_stream(trace, edits, recorded)
    read = precise(stream.unembedding[token] - stream.unembedding[other])
    direction = stream.norm.directions(read, row)
    keys = {
        site: added_by_keys(reader, site, record, direction, edits)
        for site, record in recorded.attention.items()
    }
    difference = (stream.logits[row, token] - stream.logits[row, other]).item()
    biases = [precise(bias) @ direction for bias in stream.projection_biases.values()]
    biases += [precise(stream.norm.bias) @ read, difference - precise(stream.outputs[row]) @ read]
    return Attribution(
        embedding=(precise(stream.embedding[row]) @ direction).item(),
        heads={site: of_site.sum(dim=-1) for site, of_site in keys.items()},
        keys=keys,
        weights={site: recorded.attention[site].weights[0, :, 0] for site in keys},
        feed_forwards=precise(stream.feed_forwards[:, row]) @ direction,
        biases=sum(bias.item() for bias in biases),
        difference=difference,
    )


def added_by_keys(
    reader: Reader, site: Site, record: AttentionRecord, direction: Tensor, edits: RunEdits
) -> Tensor:
    """Return what each head adds along a direction (d_model) through each key: (H, K)."""
    reading = precise(reader.heads_to_stream(site)) @ direction  # (H, D)
    values = (precise(record.value[0]) @ reading[..., None])[..., 0]  # (H, K)
    gate = edits.get(site, UNCHANGED).gate
    gate = torch.ones(len(values)) if gate is None else gate
    return record.weights[0, :, 0] * values * gate.to(values)[:, None]
