"""Measures how much memory the cached keys and values of a decoding take."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from headlight.model.transformer.cache import KeyValueCache
from headlight.model.transformer.trace import Site


class CacheSize(NamedTuple):
    """The size of one text's cached keys and values in an attention block, by their tensors."""

    keys: int  # the number of positions in the cache
    heads: int  # the number of heads that have their own keys and values
    bytes: int  # the bytes of the keys and values together
    window: int | None = None  # the most positions that fit into the cache; None if all do

    @classmethod
    def of(cls, key: Tensor, value: Tensor, window: int | None = None) -> CacheSize:
        """Measure keys and values (B, H, K, D) of a batch of texts."""
        rows, heads, keys, _ = key.shape
        return cls(keys, heads, (key.nbytes + value.nbytes) // rows, window)


def sizes_of(cache: KeyValueCache) -> dict[Site, CacheSize]:
    return {site: CacheSize.of(*entry) for site, entry in cache.entries.items()}
