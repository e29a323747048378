"""Collect the attention of a text that a model writes in several calls, and join it.

With a cache, each call reads only the new tokens; without one, it reads the whole text again. A
call continues the text of the call before it if its first keys equal the keys of that call. With
beams, the same comparison finds the row of the earlier call that each row continues.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch
from torch import Tensor

from headlight.model.library.attention_interface import padded
from headlight.model.library.checks import LARGEST, LARGEST_OF_OTHERS
from headlight.model.transformer.trace import AttentionRecord

Records = dict[str, AttentionRecord]  # attention by the name of the module
OF_QUERIES = ("query", "scores", "masked_scores", "weights", "heads", "bias")  # (B, H, Q, ...)
OF_CELLS = {"scores": 0.0, "masked_scores": -torch.inf, "weights": 0.0, "bias": 0.0}  # as padding
UNKNOWN_BEAM = (
    "generate() kept some of {beams} beams, and which rows of the attention belong to them cannot "
    "be found by the ids that it returned. Watch it with num_beams=1, or watch one call of the "
    "model on the finished text."
)


@dataclass
class Step:
    """One call of a model, and what its new tokens look at."""

    attention: Records  # records with only the rows of the new tokens
    read: dict[str, int]  # by module: how many rows this step and all before it have
    parents: Tensor | None = None  # (B,), the row of the step before that each row continues
    ids: Tensor | None = None  # (B, new tokens)


@dataclass
class Generation:
    """The calls that write one text; a call that does not continue the text begins a new one."""

    dtype: torch.dtype = torch.float32  # the type of the model's numbers
    steps: list[Step] = field(default_factory=list)
    latest: Records = field(default_factory=dict)  # each module's last call, with all its rows
    growing: set[str] = field(default_factory=set)  # the modules that get a key for each new token
    kept: list[tuple[int, int]] = field(default_factory=list)  # the last step and row of each text
    unknown: str = ""  # an error sentence if the rows that generate() kept are not known

    def take(self, records: Records, ids: Tensor | None) -> None:
        """Add the attention of a call; `ids` (B, T) are the ids that it read, None if unknown."""
        self.kept, self.unknown = [], ""
        known = {name: record for name, record in records.items() if name in self.latest}
        found = self.continued(known) if known else ({}, None)
        if found is None:
            self.steps, self.latest, self.growing = [], {}, set()
            found = {}, None
        new, parents = found
        self.share(new, records)
        read = dict(self.steps[-1].read) if self.steps else {}
        rows: Records = {}
        for name, record in records.items():
            count = new.get(name, record.weights.size(2))
            rows[name] = last_rows(record, count)
            read[name] = read.get(name, 0) + count
        if ids is not None and known and new:
            ids = ids[:, ids.size(1) - max(new.values()) :]
        self.steps.append(Step(rows, read, parents, ids))
        self.latest |= records

    def share(self, new: Iterable[str], records: Records) -> None:
        """Make the keys and values of earlier steps views into those of this call.

        A text then takes the memory of one cache. It takes more if rows of the batch change places.
        """
        for name in new:
            old, now = self.latest[name], records[name]
            if not (is_start(old.key, now.key) and is_start(old.value, now.value)):
                continue
            for step in reversed(self.steps):
                part = step.attention.get(name)
                if part is None or part.key.data_ptr() != old.key.data_ptr():
                    break
                keys = part.key.size(2)
                changes = {"key": now.key[:, :, :keys], "value": now.value[:, :, :keys]}
                step.attention[name] = replace(part, **changes)

    def continued(self, records: Records) -> tuple[dict[str, int], Tensor] | None:
        """Return how many rows of each module are new, and the earlier row that each row continues.

        Return None if this call does not continue the text of the calls before it.
        """
        pairs: list[tuple[Tensor, Tensor]] = []  # keys now and before, equal if the text goes on
        new: dict[str, int] = {}
        others: list[str] = []
        for name, record in records.items():
            old = self.latest[name]
            if record.key is None or old.key is None or self.read(name) == 0:
                return None
            queries, keys = record.weights.shape[2:]
            if record.key.size(2) != keys:  # the extra column of weights is a sink, without a key
                return None
            if record.key.shape == old.key.shape and near(record.key, old.key, self.dtype).all():
                others.append(name)
                continue
            whole = queries == keys and queries > self.read(name)
            new[name] = queries - self.read(name) if whole else queries
            common = keys - new[name]  # fewer than were read if a window has dropped the first keys
            if not 0 < common <= min(old.key.size(2), self.read(name)):
                return None
            pairs.append((record.key[:, :, :common], old.key[:, :, -common:]))
        if len({*new.values()}) != 1:
            return None
        (count,) = {*new.values()}
        parents = parents_of(pairs, self.dtype)
        self.growing |= new.keys()
        for name in others:  # modules with unchanged keys: cross-attention, or an encoder run again
            queries = records[name].weights.size(2)
            new[name] = count if queries in (count, self.read(name) + count) else 0
            if not new[name] and queries != self.read(name):
                return None
        return None if parents is None else (new, parents)

    def read(self, name: str) -> int:
        return self.steps[-1].read.get(name, 0)

    def kind(self, name: str) -> Literal["cross"] | None:
        """Return "cross" for a module that gets new queries but no new keys, otherwise None."""
        several = sum(
            bool(step.attention[name].weights.size(2))
            for step in self.steps
            if name in step.attention
        )
        return "cross" if several > 1 and name not in self.growing else None

    def joined(self) -> Records:
        """Return the attention of the whole text: each row from the step that computed it.

        For keys that did not exist in that step, a row has weights of 0, as if they were masked.
        """
        if len(self.steps) < 2 and not self.kept:
            return self.latest
        last = len(self.steps) - 1
        ends = [(at, torch.tensor([row])) for at, row in self.kept]
        joined: Records = {}
        for name, record in self.latest.items():
            if name not in self.steps[last].attention:
                joined[name] = record
                continue
            each = [
                self.followed(name, at, rows)
                for at, rows in ends or [(last, torch.arange(len(record.weights)))]
            ]
            joined[name] = together(each, name in self.growing)
        return joined

    def followed(self, name: str, at: int, rows: Tensor) -> AttentionRecord:
        """Return a module's attention in all steps up to step `at`, for some rows of a batch."""
        parts: list[AttentionRecord] = []
        ends: list[int] = []  # how many keys exist at each step
        for step in reversed(self.steps[: at + 1]):
            if name in step.attention:
                parts.insert(0, of_rows(step.attention[name], rows))
                ends.insert(0, step.read[name])
            rows = rows if step.parents is None else step.parents[rows]
        changes: dict[str, Any] = {}
        if name in self.growing:
            for part_name in ("key", "value"):
                own = [getattr(part, part_name) for part in parts]
                counts = [part.weights.size(2) for part in parts]
                changes[part_name] = joined_rows(
                    [None if x is None else x[:, :, -n:] for x, n in zip(own, counts, strict=True)]
                )
            parts = [
                with_columns(part, end - part.weights.size(3), ends[-1] - end)
                for part, end in zip(parts, ends, strict=True)
            ]
        for part_name in OF_QUERIES:
            changes[part_name] = joined_rows([getattr(part, part_name) for part in parts])
        return replace(parts[-1], **changes)

    def keep(self, output: object, beams: int) -> None:
        """Keep only the rows of the texts that generate() returned in `output`."""
        sequences = getattr(output, "sequences", output)
        last = len(self.steps) - 1
        kept: list[tuple[int, int] | None] = [None]
        if isinstance(sequences, Tensor) and sequences.dim() == 2:
            kept = [None] * len(sequences)
            for at, paths in enumerate(self.paths()):
                length = paths.size(1)
                if not 0 < length < sequences.size(1):
                    continue
                same = (sequences[:, None, :length].cpu() == paths).all(dim=2)  # (texts, B)
                for text, rows in enumerate(same):
                    first = text * (len(rows) // beams) // len(same) * beams
                    own = rows[first : first + beams]  # the beams of the same input text
                    if own.any():
                        kept[text] = at, first + int(own.int().argmax())
        self.kept = [end for end in kept if end is not None]
        if len(self.kept) < len(kept):
            self.kept = []
            self.unknown = UNKNOWN_BEAM.format(beams=beams) if beams > 1 else ""
        elif self.kept == [(last, row) for row in range(len(self.kept))]:
            whole = next(iter(self.steps[last].attention.values())).weights
            self.kept = self.kept if len(whole) > len(self.kept) else []

    def paths(self) -> Iterator[Tensor]:
        """Yield for each step the ids (B, T) that its texts have read so far; T is 0 if unknown."""
        paths: Tensor | None = None
        for step in self.steps:
            ids = None if step.ids is None else step.ids.cpu()
            if step.parents is not None and paths is not None and ids is not None:
                ids = torch.cat([paths[step.parents], ids], dim=1) if paths.numel() else None
            paths = torch.empty(0, 0) if ids is None else ids
            yield paths


def near(keys: Tensor, others: Tensor, dtype: torch.dtype) -> Tensor:
    """Return for each text (B,) whether two tensors of keys (B, H, K, D) agree up to rounding."""
    size = max(1.0, others.abs().max().item())
    apart = (keys - others).abs().flatten(1).amax(dim=1)
    return (apart <= LARGEST.get(dtype, LARGEST_OF_OTHERS) * size).cpu()


def is_start(part: Tensor | None, whole: Tensor | None) -> bool:
    """Return whether `part` (B, H, T, D) equals the first T rows of `whole` exactly."""
    return part is not None and whole is not None and torch.equal(part, whole[:, :, : part.size(2)])


def parents_of(pairs: Sequence[tuple[Tensor, Tensor]], dtype: torch.dtype) -> Tensor | None:
    """Return for each row an earlier row with equal keys in all pairs; None if a row has none."""
    if len({(len(keys), len(others)) for keys, others in pairs}) != 1:
        return None
    rows, before = len(pairs[0][0]), len(pairs[0][1])
    if rows == before and all(near(*pair, dtype).all() for pair in pairs):
        return torch.arange(rows)
    parents: list[int] = []
    for row in range(rows):
        same = torch.ones(before, dtype=torch.bool)
        for keys, others in pairs:
            same &= near(keys[row].expand_as(others), others, dtype)
        if not same.any():
            return None
        parents.append(row if row < before and same[row] else int(same.int().argmax()))
    return torch.tensor(parents)


def last_rows(record: AttentionRecord, count: int) -> AttentionRecord:
    """Return a record with only its last `count` queries."""
    if record.bias is not None:
        record = replace(record, bias=record.bias.expand_as(record.weights))
    first = record.weights.size(2) - count
    parts = {name: getattr(record, name) for name in OF_QUERIES}
    rows = {name: part[:, :, first:] for name, part in parts.items() if part is not None}
    return replace(record, **rows)


def of_rows(record: AttentionRecord, rows: Tensor) -> AttentionRecord:
    """Return a record with only some texts of its batch."""
    parts = {name: getattr(record, name) for name in (*OF_QUERIES, "key", "value")}
    return replace(record, **{name: part[rows] for name, part in parts.items() if part is not None})


def with_columns(record: AttentionRecord, before: int, after: int) -> AttentionRecord:
    """Return a record with masked keys added before and after its own."""
    sides = before, after
    cells = {name: padded(getattr(record, name), sides, empty) for name, empty in OF_CELLS.items()}
    return replace(record, **cells)


def joined_rows(parts: Sequence[Tensor | None]) -> Tensor | None:
    """Join tensors (B, H, rows, ...) along the rows; return None if one is missing."""
    known = [part for part in parts if part is not None]
    return torch.cat(known, dim=2) if len(known) == len(parts) else None


def together(records: Sequence[AttentionRecord], growing: bool) -> AttentionRecord:
    """Return the records of several texts as one batch, padded to the longest text."""
    if len(records) == 1:
        return records[0]
    rows = max(record.weights.size(2) for record in records)
    even: list[AttentionRecord] = []
    for record in records:
        more = rows - record.weights.size(2)
        record = with_columns(record, 0, more) if growing else record
        changes = {
            name: padded(getattr(record, name), (0, 0, 0, more), OF_CELLS.get(name, 0.0))
            for name in (*OF_QUERIES, *(("key", "value") if growing else ()))
        }
        even.append(replace(record, **changes))
    changes = {
        name: torch.cat([getattr(record, name) for record in even])
        for name in (*OF_QUERIES, "key", "value")
        if getattr(even[0], name) is not None
    }
    return replace(even[0], **changes)
