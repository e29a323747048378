"""What the key-value cache holds at each step of a decoding, and what it saves."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from headlight.model.cache import CacheSize
from headlight.model.decoding.steps import DecodingStep
from headlight.model.trace import Kind, Site

ABSENT, READ, CLOSED, COMPUTED, DROPPED = range(5)  # the states of a position at a step


def cache_states(steps: Sequence[DecodingStep], kind: Kind) -> np.ndarray:
    """Return the state of every position at every step: (T, layers, K).

    A position is computed at one step, and later read from the cache, or held but closed to the
    newest query by a mask, until a layer with a window drops it.
    """
    sites = sorted(site for site in steps[-1].cached if site.kind == kind)
    positions = max((steps[-1].visible[site].size(-1) for site in sites), default=0)
    states = np.zeros((len(steps), len(sites), positions), np.uint8)
    for number, step in enumerate(steps):
        before = steps[number - 1] if number else None
        for layer, site in enumerate(sites):
            visible = step.visible[site].any(dim=0).cpu().numpy()  # (K,)
            old = 0 if before is None else before.visible[site].shape[-1]  # positions read before
            row = states[number, layer, : len(visible)]
            row[:] = np.where(visible, READ, CLOSED)
            if before is None or kind == "decoder":
                row[old:] = COMPUTED
            if before is not None:
                row[: old - before.cached[site].keys] = DROPPED
    return states


def work(prompt: int, steps: int, *, cached: bool) -> int:
    """Count the tokens that pass through the decoder to write `steps` tokens after a prompt.

    The first step reads the whole prompt, and each later step one more token. With a cache a step
    computes only what it reads, without one also everything before.
    """
    return prompt + steps - 1 if cached else sum(range(prompt, prompt + steps))


def bytes_held(sizes: Mapping[Site, CacheSize], kind: Kind) -> int:
    """Return the bytes of a kind's keys and values, as measured."""
    return sum(size.bytes for site, size in sizes.items() if site.kind == kind)


def bytes_at(sizes: Iterable[CacheSize], positions: int) -> int:
    """Return the bytes for a number of positions by the formula: 2 · H · D · K · bytes a number.

    A layer with a window holds no more keys than that.
    """
    return sum(
        2 * size.heads * size.width * min(positions, size.window or positions) * number_bytes(size)
        for size in sizes
    )


def number_bytes(size: CacheSize) -> int:
    return size.bytes // (2 * size.heads * size.width * size.keys) if size.bytes else 0
