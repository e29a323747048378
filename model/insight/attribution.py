"""Sums over a model's parts: the difference of two words' logits, and the score of a head."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from headlight.model.edits.attention import AS_TRAINED
from headlight.model.insight.anatomy import Weight
from headlight.model.reader import Reader
from headlight.model.stream import Part, ScoreAddress, is_close, precise
from headlight.model.trace import Trace
from headlight.model.transformer.trace import AttentionRecord, ByShape, RunEdits, Site


@dataclass(frozen=True, repr=False)
class Attribution(ByShape):
    """The share of each part in the logit of one token minus that of another, in nats.

    The parts sum to `difference`, as the model computed it; the keys of a head sum to the head.
    """

    embedding: float
    heads: Mapping[Site, Tensor]  # (H,)
    keys: Mapping[Site, Tensor]  # (H, K): through each token that the head attended to
    weights: Mapping[Site, Tensor]  # (H, K): the weights
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
    ValueError if the model's logits are no such sum.
    Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits".
    """
    if "add up logits" in reader.missing:
        raise ValueError(reader.missing["add up logits"])
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
    """Return what each head adds along a direction (d_model), through each key: (H, K)."""
    reading = precise(reader.heads_to_stream(site)) @ direction  # (H, D)
    values = (precise(record.value[0]) @ reading[..., None])[..., 0]  # (H, K)
    gate = edits.get(site, AS_TRAINED).gate
    gate = torch.ones(len(values)) if gate is None else gate
    return record.weights[0, :, 0] * values * gate.to(values)[:, None]


@dataclass(frozen=True)
class ScoreSum:
    """A score before the mask as a sum over pairs of a part of the query and a part of the key.

    `pairs` and `bias` sum to `score`, as the model computed it. For the difference between the
    scores of two keys, every number is a difference.
    """

    query: tuple[Part, ...]  # N parts, in the order of computation
    key: tuple[Part, ...]  # M parts
    pairs: Tensor  # (N, M)
    bias: float  # added to the score for the key's distance, or by an edit
    score: float

    @property
    def total(self) -> float:
        return self.pairs.sum().item() + self.bias

    def minus(self, other: "ScoreSum") -> "ScoreSum":
        """Return the difference from the score of the same query with another key."""
        return replace(
            self,
            pairs=self.pairs - other.pairs,
            bias=self.bias - other.bias,
            score=self.score - other.score,
        )

    def largest(self, count: int) -> list[tuple[int, int]]:
        """Return the indices of the pairs with the largest contributions, largest size first."""
        order = self.pairs.abs().flatten().argsort(descending=True)[:count].tolist()
        return [divmod(place, len(self.key)) for place in order]


def sum_score(weight: Weight) -> ScoreSum:
    """Return the score behind a weight as a sum over pairs of parts, with all norms held.

    Raises ValueError if the query and the key are no sums of parts that are known.
    """
    run, record, site = weight.run, weight.record, weight.site
    address = ScoreAddress(site, weight.head, weight.query, weight.key)
    query, key = run.reader.score_parts(run.trace(), run.changes(), address)
    bias = 0.0 if weight.score_bias is None else weight.score_bias[weight.key].item()
    score = record.scores[0, weight.head, weight.query, weight.key].item()
    rows, columns = (torch.stack([*parts.values()]) for parts in (query, key))  # (N, D), (M, D)
    pairs = weight.scale * rows @ columns.T
    result = ScoreSum(tuple(query), tuple(key), pairs.cpu(), bias, score)
    numbers = torch.tensor(result.total), torch.tensor(score)
    dtype = next(run.reader.model.parameters()).dtype
    if not is_close(*numbers, dtype, of=result.pairs.abs().sum()):
        raise ValueError(
            "The known parts do not add up to this score: the model takes another step "
            "between them and its queries and keys. Choose another model, such as a shipped one."
        )
    return result
