"""Splits the difference of two tokens' logits, or a score, into a sum over the model's parts."""

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
    """What each part of a model adds to the logit of one token minus that of another, in nats.

    All parts sum to `difference`, which the model computed. The numbers of a head's keys sum to the
    number of the head.
    """

    embedding: float
    heads: Mapping[Site, Tensor]  # (H,)
    keys: Mapping[Site, Tensor]  # (H, K): what a head adds through each key
    weights: Mapping[Site, Tensor]  # (H, K): the attention weights of the row
    feed_forwards: Tensor  # (layers,)
    # the sum of what the biases of output projections, last norm and output layer add
    biases: float
    difference: float

    @property
    def total(self) -> float:
        heads = sum(part.sum().item() for part in self.heads.values())
        return self.embedding + heads + self.feed_forwards.sum().item() + self.biases


@dataclass
class RowTrace(Trace):
    """A trace that only keeps one decoder row: all rows of a long text would fill the memory."""

    row: int = 0

    def record(self, site: Site, record: AttentionRecord) -> None:
        """Keep a decoder block's values, and the scores, weights and heads of the row."""
        if site.kind == "encoder":
            return
        rows = slice(self.row, self.row + 1)
        parts = {name: getattr(record, name) for name in ("masked_scores", "weights", "heads")}
        # Copies, because slices would keep all rows in memory.
        cut = {name: part[:, :, rows].clone() for name, part in parts.items()}
        left_out = {"query": None, "key": None, "scores": None, "bias": None}
        self.attention[site] = replace(record, **left_out, **cut)


@torch.inference_mode()
def attribute(
    reader: Reader, trace: Trace, row: int, token: int, other: int, edits: RunEdits | None = None
) -> Attribution:
    """Return what each part adds to the logit of `token` minus that of `other`, predicted at a row.

    The model runs over the trace's tokens with `edits`. Only the direct path counts: what a part
    changes in later parts is counted there. The scale of the last norm is taken from this run and
    held fixed. Raises ValueError if the model's logits are no sum of this kind.
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
    """Return what each head adds in a direction (d_model) through each key: (H, K)."""
    reading = precise(reader.heads_to_stream(site)) @ direction  # (H, D)
    values = (precise(record.value[0]) @ reading[..., None])[..., 0]  # (H, K)
    gate = edits.get(site, AS_TRAINED).gate
    gate = torch.ones(len(values)) if gate is None else gate
    return record.weights[0, :, 0] * values * gate.to(values)[:, None]


@dataclass(frozen=True)
class ScoreSum:
    """A score before the mask, split into a sum over pairs of a query's part and a key's part.

    `pairs` and `bias` sum to `score`, which the model computed. `minus` gives the difference
    between the scores of two keys; then every number is a difference.
    """

    query: tuple[Part, ...]  # the N parts of the query, in the order of computation
    key: tuple[Part, ...]  # the M parts of the key, in the order of computation
    pairs: Tensor  # (N, M): what each pair adds to the score
    bias: float  # what the key's distance or an edit adds to the score
    score: float

    @property
    def total(self) -> float:
        return self.pairs.sum().item() + self.bias

    def minus(self, other: "ScoreSum") -> "ScoreSum":
        """Return this score minus that of the same query with another key, pair by pair."""
        return replace(
            self,
            pairs=self.pairs - other.pairs,
            bias=self.bias - other.bias,
            score=self.score - other.score,
        )

    def largest(self, count: int) -> list[tuple[int, int]]:
        """Return the indices (query part, key part) of the `count` pairs of largest size."""
        order = self.pairs.abs().flatten().argsort(descending=True)[:count].tolist()
        return [divmod(place, len(self.key)) for place in order]


def sum_score(weight: Weight) -> ScoreSum:
    """Return the score behind a weight as a sum over pairs of parts.

    The scales of all norms are held fixed at those of the run. Raises ValueError if the parts of
    the query and of the key are not known, or do not add up to the score.
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
            "The known parts do not add up to this score: this model changes them further before "
            "they become queries and keys. Choose another model, such as a shipped one."
        )
    return result
