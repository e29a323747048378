"""A query and a key of a head before and after rotary positions, and their score by distance."""

from dataclasses import dataclass

import torch
from torch import Tensor

from headlight.model.insight.anatomy import Weight
from headlight.model.positions import Rotary

MOST_PAIRS = 20_000  # of queries and keys whose mean is taken


@dataclass(frozen=True)
class Turning:
    """A query and a key as projected and as turned, and scores by how far apart they would stand.

    Scores are q.k times the scale, as before a bias or a cap. A distance is how far the query
    stands after the key.
    """

    rotary: Rotary
    query: Tensor  # (D,), as projected
    key: Tensor  # (D,)
    turned_query: Tensor  # (D,), as recorded
    turned_key: Tensor  # (D,)
    distances: Tensor  # (N,)
    scores: Tensor  # (N,) of this query and key
    means: Tensor  # (N,) of all queries of the head and the keys that they may see


@torch.inference_mode()
def turning(weight: Weight, farthest: int) -> Turning:
    """Follow a query and a key of a run at its own positions through their turns.

    Distances go from 0 up to the farthest, and begin at its negative if queries see later keys.
    Raises ValueError if the site turns nothing.
    """
    record, rotary = weight.record, weight.run.reader.rotary(weight.site)
    if rotary is None:
        raise ValueError("This layer does not turn queries and keys by their positions.")
    turned = [states[0, weight.head].float() for states in (record.query, record.key)]
    places = torch.arange(len(turned[0]), device=turned[0].device)
    queries, keys = (rotary.turn_back(states, places) for states in turned)  # (T, D)
    seen = record.masked_scores[0, weight.head].isfinite().nonzero()  # (pairs, 2)
    rows, columns = seen[:: -(-len(seen) // MOST_PAIRS) or 1].unbind(dim=-1)
    first = -farthest if (columns > rows).any() else 0
    distances = torch.arange(first, farthest + 1, device=places.device)
    query, key = queries[weight.query], keys[weight.key]
    scale = query.size(-1) ** -0.5 if record.scale is None else record.scale
    scores, means = (
        scale * rotary.products_by_distance(*pairs, distances)
        for pairs in ((query[None], key[None]), (queries[rows], keys[columns]))
    )
    ends = turned[0][weight.query], turned[1][weight.key]
    return Turning(rotary, query, key, *ends, distances, scores, means)
