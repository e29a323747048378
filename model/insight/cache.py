"""What the key-value cache contains at each step, and decoding with a cache that is too small.

A cache that is too small evicts keys. It may keep the last keys (a window); the first keys and a
window, see "Efficient Streaming Language Models with Attention Sinks" (Xiao et al. 2023), section
3; or the keys with the largest summed weights and a window, see "H2O: Heavy-Hitter Oracle" (Zhang
et al. 2023), section 4.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from headlight.model.decoding.cache import CacheSize
from headlight.model.decoding.steps import Decoding, DecodingStep
from headlight.model.edits.attention import Further
from headlight.model.reader import Reader
from headlight.model.transformer.attention import UNCHANGED, Edit
from headlight.model.transformer.trace import Kind, RunEdits, Site

# the states that a position in the cache can have at a step
ABSENT, READ, CLOSED, COMPUTED, DROPPED = range(5)
MOST_SINKS = 4


def cache_states(steps: Sequence[DecodingStep], kind: Kind) -> np.ndarray:
    """Return the state of every position at every step: (T, layers, K).

    A position is COMPUTED at one step. At later steps it is READ from the cache, or CLOSED: cached,
    but hidden from the newest query by a mask. It is DROPPED once it has left a layer's window.
    """
    sites = sorted(site for site in steps[-1].cached if site.kind == kind)
    positions = max((steps[-1].visible[site].size(-1) for site in sites), default=0)
    states = np.zeros((len(steps), len(sites), positions), np.uint8)
    for number, step in enumerate(steps):
        before = steps[number - 1] if number else None
        for layer, site in enumerate(sites):
            visible = step.visible[site].any(dim=0).cpu().numpy()  # (K,)
            # The number of positions that were read at earlier steps.
            old = 0 if before is None else before.visible[site].shape[-1]
            row = states[number, layer, : len(visible)]
            row[:] = np.where(visible, READ, CLOSED)
            if before is None or kind == "decoder":
                row[old:] = COMPUTED
            if before is not None:
                row[: old - before.cached[site].keys] = DROPPED
    return states


def work(prompt: int, steps: int, *, cached: bool) -> int:
    """Count the tokens that pass through the decoder to write `steps` tokens after a prompt.

    The first step reads the whole prompt, and each later step one more token. With a cache, a step
    computes only the tokens it reads; without one, it computes all earlier tokens again.
    """
    return prompt + steps - 1 if cached else sum(range(prompt, prompt + steps))


def bytes_held(sizes: Mapping[Site, CacheSize], kind: Kind) -> int:
    """Return the measured bytes of all keys and values of one kind of attention."""
    return sum(size.bytes for site, size in sizes.items() if site.kind == kind)


def bytes_at(sizes: Iterable[CacheSize], positions: int) -> int:
    """Return the bytes that a cache takes for this many positions, from the measured sizes.

    A position takes heads · (width of a key + width of a value) · bytes per number. A layer with a
    window keeps at most as many positions as its window has.
    """
    return sum(
        size.bytes // max(size.keys, 1) * min(positions, size.window or positions) for size in sizes
    )


def keep_sinks(sums: Tensor, budget: int) -> Tensor:
    """Return which keys (H, K) to keep: the first and the last keys of the text, `budget` in all.

    At most half of them, and at most MOST_SINKS, are first keys. If a layer's own window has
    dropped a first key, no other key takes its place.
    """
    sinks = min(MOST_SINKS, budget // 2)
    first = torch.arange(sums.size(1), device=sums.device) < sinks
    return first | newest(sums, budget - sinks)


def keep_heaviest(sums: Tensor, budget: int) -> Tensor:
    """Return which keys (H, K) to keep: half are the last keys, half have the largest `sums`.

    `sums` (H, K) are the summed weights of each key, -inf for keys that were evicted.
    """
    heavy = min(budget // 2, sums.size(1))
    last = newest(sums, budget - heavy)
    others = sums.masked_fill(last, -torch.inf).topk(heavy, dim=1).indices
    return last.scatter(1, others, True)


def newest(sums: Tensor, count: int) -> Tensor:
    """Return which keys (H, K) to keep: the last `count` ones."""
    positions = torch.arange(sums.size(1), device=sums.device)
    return (positions >= sums.size(1) - min(count, sums.size(1))).expand(sums.shape)


POLICIES: dict[str, Callable[[Tensor, int], Tensor]] = {
    "window": newest,
    "sinks": keep_sinks,
    "heaviest": keep_heaviest,
}


@dataclass
class Eviction(Further):
    """An edit that evicts keys of an attention block while one text is decoded.

    After each step, every head keeps at most `budget` keys, chosen by the `policy`; the next step
    adds its own key. The heads of a `group` share their keys, so they evict the same ones.
    """

    policy: str
    budget: int
    group: int = 1
    sums: Tensor | None = None  # (H, keys of the text): summed weights so far; -inf if evicted

    def __post_init__(self) -> None:
        self.whole = self.edit

    def at(self, first_query: int, first_key: int = 0) -> Edit:
        self.edit = self.whole.at(first_query, first_key)
        return self  # the same object and not a copy, so that all steps add to the same sums

    def mask(self, scores: Tensor, visible: Tensor | None) -> Tensor:
        masked_scores = super().mask(scores, visible)
        if self.sums is None:
            return masked_scores
        queries, keys = masked_scores.shape[-2:]
        self.sums = F.pad(self.sums, (0, queries))
        # Keys that a layer's own window has dropped count as evicted.
        self.sums[:, :-keys] = -torch.inf
        return masked_scores.masked_fill(self.sums[:, -keys:].isneginf()[None, :, None], -torch.inf)

    def reweigh(self, weights: Tensor) -> Tensor:
        weights = super().reweigh(weights)
        seen = weights[0].sum(dim=1)  # (H, K): the summed weights of all queries of this step
        by_group = seen.unflatten(0, (-1, self.group)).sum(dim=1)
        sums = by_group.repeat_interleave(self.group, dim=0)
        if self.sums is not None:
            sums = self.sums + F.pad(sums, (self.sums.size(1) - sums.size(1), 0))
        kept = POLICIES[self.policy](sums, self.budget) & ~sums.isneginf()
        self.sums = sums.masked_fill(~kept, -torch.inf)
        return weights


def write_evicting(
    reader: Reader,
    text: str,
    policy: str,
    budget: int,
    *,
    longest: int | None = None,
    edits: RunEdits | None = None,
) -> Decoding:
    """Write a text greedily while every head of the decoder keeps at most `budget` keys.

    `policy` is one of `POLICIES`, and `budget` at least 1. A prompt is read in one step, before
    keys are evicted. Tokens keep their positions in the text. Raises the errors of `Reader.write`.
    """
    evicting: dict = dict(edits or {})
    for site in reader.shape.sites:
        if site.kind == "decoder":
            edit: Edit = evicting.get(site, UNCHANGED)
            evicting[site] = Eviction(edit, policy, budget, reader.shape.group("decoder"))
    return reader.write(text, longest=longest, edits=evicting)


def first_difference(before: Decoding, after: Decoding) -> int | None:
    """Return the index of the first token that two decodings wrote differently, or None."""
    ids = [[token.id for token in each.writing.target_tokens] for each in (before, after)]
    if ids[0] == ids[1]:
        return None
    pairs = enumerate(zip(*ids, strict=False))
    differing = (index for index, (first, second) in pairs if first != second)
    return next(differing, min(map(len, ids)))
