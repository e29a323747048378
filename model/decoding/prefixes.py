"""The texts that a model is writing. A prefix is the text written so far."""

from collections.abc import Sequence, Set
from typing import Protocol

import torch
from torch import Tensor

from headlight.model.decoding.cache import CacheSize, sizes_of
from headlight.model.decoding.strategies import allowed
from headlight.model.edits import opens_the_future
from headlight.model.tokens import END_ID, PAD_ID, START_ID, UNKNOWN_ID
from headlight.model.trace import Trace
from headlight.model.transformer.cache import KeyValueCache
from headlight.model.transformer.trace import Run, RunEdits, Site
from headlight.model.transformer.transformer import Transformer

NEVER_WRITTEN = (PAD_ID, UNKNOWN_ID, START_ID)


class Prefixes(Protocol):
    """The texts that a model is writing, one for each row of a batch."""

    vocabulary: int  # the number of tokens that the model knows
    ids: Tensor  # (R, N) the tokens that each row has read

    @property
    def ends(self) -> Set[int]:
        """The ids that end a text."""
        ...

    def next_log_probabilities(self, trace: Trace | None = None) -> Tensor:
        """Return log-probabilities (R, V) of each row's next token; `trace` records the call.

        Tokens that may not be written have -inf.
        """
        ...

    def cache_sizes(self) -> dict[Site, CacheSize]:
        """Return the sizes of the cached keys and values; none if each step recomputes them."""
        ...

    def extend(self, rows: Tensor, ids: Tensor) -> None:
        """Keep these `rows` (R,), in this order, and append to each row its id in `ids` (R,).

        The same row may be kept several times, or not at all.
        """
        ...


class TransformerPrefixes:
    """Translations of a batch of sentences by a model of this project, or continuations of prompts.

    Each step only computes the newest position, unless earlier positions may see later ones: then
    every step computes all positions again. All prefixes of a sentence share the encoder's output.
    """

    ends = frozenset({END_ID})

    def __init__(
        self,
        model: Transformer,
        source_ids: Tensor,
        edits: RunEdits | None = None,
        never_written: Sequence[int] = NEVER_WRITTEN,
        begun: Tensor | None = None,
        encoded: Trace | None = None,
    ) -> None:
        """Encode the source, and begin every row with the tokens in `begun` (B, N).

        Without `begun`, every row begins with a start token. `encoded` records the encoder.
        """
        self.model = model
        self.edits = edits or {}
        sees_later = opens_the_future(self.edits) or not model.config.look_ahead_mask
        self.cache = None if sees_later else KeyValueCache()
        self.memory = model.encode(source_ids, Run(self.edits, encoded))  # (B, S, d_model)
        mask = model.source_mask(source_ids)
        # A mask that hides nothing is left out, because applying it costs time.
        self.memory_mask = None if mask.all() else mask
        if begun is None:
            begun = torch.full((source_ids.size(0), 1), START_ID, device=source_ids.device)
        self.ids = begun
        self.vocabulary = model.config.target_vocab_size
        self.banned = torch.tensor(never_written, device=source_ids.device)

    def next_log_probabilities(self, trace: Trace | None = None) -> Tensor:
        """Return log-probabilities (R, V) of each row's next token; `trace` records the call."""
        read = self.ids if self.cache is None else self.ids[:, self.cache.length :]
        run = Run(self.edits, trace, self.cache)
        logits = self.model.decode(read, self.memory, self.memory_mask, run)[:, -1]
        return allowed(logits, self.banned)

    def cache_sizes(self) -> dict[Site, CacheSize]:
        """Return the sizes of the cached keys and values; none if each step recomputes them."""
        return {} if self.cache is None else sizes_of(self.cache)

    def extend(self, rows: Tensor, ids: Tensor) -> None:
        """Keep these `rows` (R,), in this order, and append to each row its id in `ids` (R,)."""
        if rows.tolist() != list(range(len(self.ids))):
            self.ids = self.ids[rows]
            if len(self.memory) > 1:
                self.memory = self.memory[rows]
                self.memory_mask = None if self.memory_mask is None else self.memory_mask[rows]
            if self.cache is not None:
                self.cache.select(rows)
        self.ids = torch.cat([self.ids, ids[:, None]], dim=1)
