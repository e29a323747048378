"""The effects of positions: on the encoder's outputs, the attention, and rotated queries."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from headlight.model.edits.positions import PositionEdit
from headlight.model.insight.anatomy import Weight
from headlight.model.rotary import Rotary
from headlight.model.tokens import Token
from headlight.model.transformer.trace import Run
from headlight.model.transformer.transformer import Transformer
from headlight.model.translator import Translator

MOST_PAIRS = 20_000  # a mean is over at most this many pairs of query and key


@dataclass(frozen=True)
class Shuffle:
    """A sentence's tokens in another order, and the effect of that on the encoder's outputs."""

    tokens: list[Token]  # the tokens in the new order
    order: tuple[int, ...]  # for each of these tokens, its old position
    without_positions: Tensor  # (S,): by token, the largest difference of its output
    with_positions: Tensor  # (S,)
    largest_output: float


def shuffled(length: int, seed: int) -> tuple[int, ...]:
    """Return the numbers 0 to length - 1 in another order, which depends only on the seed.

    If `length` is 1, the order cannot change.
    """
    order = torch.arange(length)
    generator = torch.Generator().manual_seed(seed)
    while length > 1 and torch.equal(order, torch.arange(length)):
        order = torch.randperm(length, generator=generator)
    return tuple(order.tolist())


@torch.inference_mode()
def permutation_differences(
    model: Transformer, source_ids: Tensor, order: Sequence[int], edit: PositionEdit
) -> Tensor:
    """Return how much the encoder's output for each token changes if the tokens are shuffled.

    `source_ids` (1, S) are read in their own order and in the given one, both with the same `edit`
    of positions. The result (S,) has, for each token in the new order, the largest difference of
    its output's numbers. If the edit removes positions, all differences are rounding errors: the
    encoder is then permutation equivariant.
    """
    run = Run({"encoder": edit})
    plain = model.encode(source_ids, run)[0]  # (S, d_model)
    permuted = model.encode(source_ids[:, list(order)], run)[0]  # (S, d_model)
    return (permuted - plain[list(order)]).abs().amax(dim=-1)


@torch.inference_mode()
def shuffle_words(translator: Translator, sentence: str, seed: int) -> Shuffle:
    """Shuffle the tokens of a sentence, except the end token, and measure the effect."""
    tokens = translator.read(sentence)
    order = (*shuffled(len(tokens) - 1, seed), len(tokens) - 1)
    ids = translator.ids(tokens)
    without, trained = (
        permutation_differences(translator.model, ids, order, edit)
        for edit in (PositionEdit(off=True), PositionEdit())
    )
    largest = translator.model.encode(ids).abs().max().item()
    return Shuffle([tokens[position] for position in order], order, without, trained, largest)


def moved_attention(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the share of attention (...) that a change moves to other keys.

    It is the total variation distance of rows of weights (..., Q, K) before and after the change,
    averaged over the queries: 0 if nothing changes, 1 if all attention moves to other keys.
    """
    return np.abs(after - before).sum(axis=-1).mean(axis=-1) / 2


@dataclass(frozen=True)
class Turning:
    """A query and a key before and after rotation, and their scores at other distances.

    Scores are q.k times the scale, without bias or softcap. A distance is the position of the query
    minus that of the key.
    """

    rotary: Rotary
    query: Tensor  # (D,), before rotation
    key: Tensor  # (D,)
    turned_query: Tensor  # (D,), after rotation, as recorded
    turned_key: Tensor  # (D,)
    distances: Tensor  # (N,)
    scores: Tensor  # (N,) of this query and key
    means: Tensor  # (N,) the mean over all queries of the head and the keys that they see


@torch.inference_mode()
def turning(weight: Weight, farthest: int) -> Turning:
    """Return the query and key of a weight before and after rotation, and scores by distance.

    Distances go from 0 to `farthest`; if queries see later keys, they begin at -`farthest`.
    Raises ValueError for a layer without rotary positions.
    """
    record = weight.record
    if (rotary := weight.run.reader.rotary(weight.site)) is None:
        raise ValueError("This layer does not turn its queries and keys.")
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
