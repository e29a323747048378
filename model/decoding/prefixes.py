"""The texts that a search has begun: the tokens of each, and a model's prediction of the next."""

from collections.abc import Sequence, Set
from typing import Protocol

import torch
from torch import Tensor

from model.edits import opens_the_future
from model.tokens import END_ID, PAD_ID, START_ID, UNKNOWN_ID
from model.trace import KeyValueCache, Run, RunEdits, Trace
from model.transformer import Transformer

NEVER_WRITTEN = (PAD_ID, UNKNOWN_ID, START_ID)


class Prefixes(Protocol):
    """The rows of a decoding in progress, for any model."""

    ends: Set[int]  # the ids that end a text
    vocabulary: int  # the number of ids

    @property
    def written(self) -> Tensor:
        """The ids (R, N) that each row has written so far."""

    def next_log_probabilities(self, trace: Trace | None = None) -> Tensor:
        """Return log-probabilities (R, V) of each row's next token; `trace` records the call.

        Tokens that may not be written have -inf.
        """

    def extend(self, rows: Tensor, ids: Tensor) -> None:
        """Continue with these rows, in this order, and append one of ids (R,) to each.

        A row may be taken several times or not at all.
        """


class TransformerPrefixes:
    """Translations of a batch of sentences by a model of this project, or continuations of prompts.

    Each step only computes its own position, unless earlier positions may see later ones: then
    every step computes all positions anew. The memory of one sentence serves all its prefixes.
    """

    ends = frozenset({END_ID})

    def __init__(
        self,
        model: Transformer,
        source_ids: Tensor,
        edits: RunEdits | None = None,
        never_written: Sequence[int] = NEVER_WRITTEN,
        begun: Tensor | None = None,
    ) -> None:
        """Begin with the tokens in `begun` (B, N), or with a start token if there are none."""
        self.model = model
        self.edits = edits or {}
        sees_later = opens_the_future(self.edits) or not model.config.look_ahead_mask
        self.cache = None if sees_later else KeyValueCache()
        self.memory = model.encode(source_ids, Run(self.edits))  # (B, S, d_model)
        mask = model.source_mask(source_ids)
        self.memory_mask = None if mask.all() else mask  # a mask that hides nothing costs time
        if begun is None:
            begun = torch.full((source_ids.size(0), 1), START_ID, device=source_ids.device)
        self.ids, self.begun = begun, begun.size(1)
        self.vocabulary = model.config.target_vocab_size
        self.banned = torch.tensor(never_written, device=source_ids.device)

    @property
    def written(self) -> Tensor:
        """The ids (R, N) that each row has written so far."""
        return self.ids[:, self.begun :]

    def next_log_probabilities(self, trace: Trace | None = None) -> Tensor:
        """Return log-probabilities (R, V) of each row's next token; `trace` records the call."""
        read = self.ids if self.cache is None else self.ids[:, self.cache.length :]
        run = Run(self.edits, trace, self.cache)
        logits = self.model.decode(read, self.memory, self.memory_mask, run)[:, -1]
        log_probabilities = torch.log_softmax(logits.float(), dim=-1)
        return log_probabilities.index_fill_(1, self.banned, -torch.inf)

    def extend(self, rows: Tensor, ids: Tensor) -> None:
        """Continue with these rows, in this order, and append one of ids (R,) to each."""
        if rows.tolist() != list(range(len(self.ids))):
            self.ids = self.ids[rows]
            if len(self.memory) > 1:
                self.memory = self.memory[rows]
                self.memory_mask = None if self.memory_mask is None else self.memory_mask[rows]
            if self.cache is not None:
                self.cache.select(rows)
        self.ids = torch.cat([self.ids, ids[:, None]], dim=1)
