"""The cache of keys and values that decoding keeps from step to step."""

from torch import Tensor

from headlight.model.transformer.trace import Site


class KeyValueCache:
    """The keys and values of all decoded positions, and of the encoder's output."""

    def __init__(self) -> None:
        self.length = 0  # the number of target positions decoded so far
        # the key and the value of each attention block, (B, H, K, D) each
        self.entries: dict[Site, tuple[Tensor, Tensor]] = {}

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the batch, in this order; all rows may share one encoder output."""
        for site, (key, value) in self.entries.items():
            if site.kind != "cross" or len(key) > 1:
                self.entries[site] = key[rows], value[rows]
