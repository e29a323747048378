"""The keys and values that a decoding keeps, and how much room they take."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from headlight.model.transformer.trace import Site


class CacheSize(NamedTuple):
    """What a cache holds for one text at a site, as measured on its tensors."""

    keys: int  # positions that are held
    heads: int  # with keys of their own
    bytes: int  # of the keys and values
    window: int | None = None  # positions that are held at most; None for all

    @classmethod
    def of(cls, key: Tensor, value: Tensor, window: int | None = None) -> CacheSize:
        """Measure keys and values (B, H, K, D) of a batch of texts."""
        rows, heads, keys, _ = key.shape
        return cls(keys, heads, (key.nbytes + value.nbytes) // rows, window)


class KeyValueCache:
    """Keys and values of the decoded positions, and of the memory, for one decoding."""

    def __init__(self) -> None:
        self.length = 0  # target positions decoded so far
        self.entries: dict[Site, tuple[Tensor, Tensor]] = {}  # key, value: (B, H, K, D)

    def sizes(self) -> dict[Site, CacheSize]:
        return {site: CacheSize.of(*entry) for site, entry in self.entries.items()}

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the batch, in this order; one memory serves all rows."""
        self.entries = {
            site: (key, value)
            if site.kind == "cross" and len(key) == 1
            else (key[rows], value[rows])
            for site, (key, value) in self.entries.items()
        }
