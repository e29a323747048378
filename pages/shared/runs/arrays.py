"""Turn the records of a model's run into the arrays and texts that pictures need."""

from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor

from headlight.model.edits import HeadAddress
from headlight.model.library.pieces import Piece, is_of_a_word
from headlight.model.trace import Trace, visible_to_any
from headlight.model.transformer.trace import AttentionRecord, Kind, Site
from headlight.pages.shared.state.choices import HeadChoice


def as_array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().float().cpu().numpy()


def weights_of(trace: Trace, kind: Kind) -> list[np.ndarray]:
    """Return the weights of all heads of a kind of attention: (H, Q, K) for each layer.

    Layers that were not recorded in full have their weights as bytes: 0 to 255 stand for 0 to 1.
    """
    sites = sorted(site for site in {*trace.attention, *trace.overview} if site.kind == kind)
    return [
        as_array(trace.attention[site].weights[0])
        if site in trace.attention
        else trace.overview[site].cpu().numpy()
        for site in sites
    ]


def one_head(heads: np.ndarray, head: HeadChoice) -> np.ndarray:
    """Return the array of one head from `heads` (H, ...), or the mean or maximum over all heads."""
    summaries = {"mean": heads.mean, "max": heads.max}
    return summaries[head](axis=0) if head in summaries else heads[head]


def heads_meant(head: HeadChoice, count: int) -> list[int]:
    """Return the numbers, from 0, of the heads (or layers) that a choice means.

    A mean or maximum means all `count` of them, a number only that one.
    """
    return list(range(count)) if isinstance(head, str) else [min(head, count - 1)]


def heads_of(values: Mapping[Kind, np.ndarray]) -> list[HeadAddress]:
    """Return the addresses of all heads for `values`, which are (layers, heads) for each kind."""
    return [
        (kind, layer, head)
        for kind, numbers in values.items()
        for layer, head in np.ndindex(numbers.shape)
    ]


def blocked_cells(record: AttentionRecord) -> np.ndarray:
    """Return a boolean array (Q, K), true where no head of the layer can see the key."""
    return ~visible_to_any(record).cpu().numpy()


def clearest_cell(
    weights: np.ndarray, queries: Sequence[Piece], keys: Sequence[Piece], kind: Kind
) -> tuple[int, int] | None:
    """Return the query and key of the largest weight (Q, K) between two different words.

    Only queries that give their largest weight to another word are considered. None if every query
    looks most at its own word, at punctuation or at a special token.
    """
    written = [np.array(list(map(is_of_a_word, side))) for side in (queries, keys)]
    words = [np.array([token.word for token in side]) for side in (queries, keys)]
    counts = np.outer(*written)  # (Q, K)
    if kind != "cross":
        counts &= words[0][:, None] != words[1]
    on_words = np.where(counts, weights, 0)
    clear = np.where(on_words.max(axis=1) == weights.max(axis=1), on_words.max(axis=1), 0)
    row = int(clear.argmax())
    return (row, int(on_words[row].argmax())) if clear[row] else None


def tokens_of(trace: Trace, kind: Kind) -> tuple[list[str], list[str]]:
    """Return the texts of the query tokens and of the key tokens of a kind of attention."""
    site = Site(kind, 0)
    queries, keys = trace.query_tokens(site), trace.key_tokens(site)
    return [token.text for token in queries], [token.text for token in keys]
