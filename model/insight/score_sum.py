"""Why a head looks there: a score as a sum over who wrote the query and who wrote the key."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from headlight.model.insight.anatomy import Weight
from headlight.model.parts import Part, ScoreAddress
from headlight.model.stream import is_close


@dataclass(frozen=True)
class ScoreSum:
    """A score before the mask as a sum over pairs of a part of the query and a part of the key.

    `pairs` and `bias` sum to `score`, as the model computed it. In a difference of two keys all
    numbers are differences.
    """

    query: tuple[Part, ...]  # N parts, in the order of computation
    key: tuple[Part, ...]  # M parts
    pairs: Tensor  # (N, M)
    bias: float  # added to the score for the distance of the key, or by a change
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
        """Return the places of the pairs that add or take away most, the largest size first."""
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
    numbers = (torch.tensor(number) for number in (result.total, score))
    dtype = next(run.reader.model.parameters()).dtype
    if not is_close(*numbers, dtype, of=result.pairs.abs().sum()):
        raise ValueError(
            "The parts that are known do not add up to this score: the model takes another step "
            "between them and its queries and keys. Choose another model, such as a shipped one."
        )
    return result
