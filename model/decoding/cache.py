"""How much memory the cached keys and values of a decoding take."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from headlight.model.transformer.cache import KeyValueCache
from headlight.model.transformer.trace import Site


class CacheSize(NamedTuple):
    """What a cache holds for one text at a site, as measured on its tensors."""

    keys: int  # positions held
    heads: int  # heads that have their own keys; bytes of the keys and values
    bytes: int  # of the keys and values
    window: int | None = None  # the most positions it can hold; None for all

    @classmethod
    def of(cls, key: Tensor, value: Tensor, window: int | None = None) -> CacheSize:
        """Measure keys and values (B, H, K, D) of a batch of texts."""
        rows, heads, keys, _ = key.shape
        return cls(keys, heads, (key.nbytes + value.nbytes) // rows, window)


def sizes_of(cache: KeyValueCache) -> dict[Site, CacheSize]:
    return {site: CacheSize.of(*entry) for site, entry in cache.entries.items()}
