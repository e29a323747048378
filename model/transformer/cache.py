"""The keys and values that a decoding keeps."""

from torch import Tensor

from headlight.model.transformer.trace import Site


class KeyValueCache:
    """Keys and values of the decoded positions, and of the memory, for one decoding."""

    def __init__(self) -> None:
        self.length = 0  # target positions decoded so far
        self.entries: dict[Site, tuple[Tensor, Tensor]] = {}  # key, value: (B, H, K, D)

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the batch, in this order; one memory serves all rows."""
        for site, (key, value) in self.entries.items():
            if site.kind != "cross" or len(key) > 1:
                self.entries[site] = key[rows], value[rows]
