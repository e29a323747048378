"""One weight of one head in one run, which can be taken apart and explained."""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from model.attention import UNCHANGED
from model.reader import Reader
from model.trace import AttentionEdit, AttentionRecord, RunEdits, Site, Trace


class TracedRun(Protocol):
    """A run of a reader: its trace, and the edits that it was made with."""

    @property
    def reader(self) -> Reader:
        """The model that can be run again."""

    @property
    def trace(self) -> Trace:
        """Everything that was recorded."""

    @property
    def changes(self) -> RunEdits:
        """The edits of the run."""

    def record(self, site: Site) -> AttentionRecord:
        """Return the record of a site, from the trace or from an equal run."""


@dataclass(frozen=True)
class Weight:
    """The weight of a query of one head on a key, in a traced run; all indices count from 0."""

    run: TracedRun
    site: Site
    head: int
    query: int
    key: int = 0

    @property
    def key_tokens(self) -> list[str]:
        return [token.text for token in self.run.trace.key_tokens(self.site)]

    @property
    def record(self) -> AttentionRecord:
        return self.run.record(self.site)

    @property
    def edit(self) -> AttentionEdit:
        return self.run.changes.get(self.site, UNCHANGED)

    @property
    def row(self) -> Tensor:
        """The weights of the query on every key: (K,)."""
        return self.record.weights[0, self.head, self.query]

    @property
    def gates(self) -> Tensor:
        """The gates of the site's heads (1, H); 1 for a head that is neither off nor faded."""
        heads = self.record.weights.size(1)
        gate = self.edit.gate
        return torch.ones(1, heads) if gate is None else gate.float().expand(1, heads)

    @property
    def gate(self) -> float:
        return self.gates[0, self.head].item()
