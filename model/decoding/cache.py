"""How much room the keys and values take that a decoding keeps."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from headlight.model.transformer.cache import KeyValueCache
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


def sizes_of(cache: KeyValueCache) -> dict[Site, CacheSize]:
    return {site: CacheSize.of(*entry) for site, entry in cache.entries.items()}
