"""Sentence pairs, and the batches on which a model is trained."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from headlight.model.tokenizer import Tokenizer
from headlight.model.tokens import END_ID, pad, source_sequence, target_sequence

Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class Batch:
    """A batch of sentence pairs, as padded ids."""

    source_ids: Tensor  # (B, S) what the encoder reads
    target_ids: Tensor  # (B, T) what the decoder reads
    next_ids: Tensor  # (B, T) the tokens that the decoder should predict
    weight: float = 1.0  # this part's share of the loss, if several processes share a batch

    def to(self, device: torch.device) -> Batch:
        ids = self.source_ids.to(device), self.target_ids.to(device), self.next_ids.to(device)
        return Batch(*ids, self.weight)


@dataclass(frozen=True)
class EncodedPair:
    """The ids of one source and one target, without start and end."""

    source: list[int]
    target: list[int]


def read_pairs(path: Path) -> Pairs:
    """Read the first two columns of a file; see `read_rows`."""
    return [(source, target) for source, target, *_ in read_rows(path)]


def read_rows(path: Path) -> list[list[str]]:
    """Read `source<TAB>target` lines, gzipped if the name ends in .gz, with all their columns.

    Raises ValueError with the line number if a line lacks a column.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    rows = []
    with opener(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            columns = line.rstrip("\n").split("\t")
            if len(columns) < 2:
                raise ValueError(f"{path.name}, line {number}: expected source<TAB>target.")
            rows.append(columns)
    if not rows:
        raise ValueError(f"{path.name} has no sentence pairs.")
    return rows


def group_references(pairs: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """Return all targets of each source sentence, in the order of the pairs."""
    references: dict[str, list[str]] = {}
    for source, target in pairs:
        references.setdefault(source, []).append(target)
    return references


def encode_pairs(
    pairs: Sequence[tuple[str, str]], tokenizer: Tokenizer, max_positions: int
) -> list[EncodedPair]:
    """Encode pairs, and leave out those with a side that is too long.

    A repeated pair is encoded once, and stays repeated. Raises ValueError if no pair is left.
    """
    distinct = list(dict.fromkeys(pairs))
    sources = tokenizer.encode_ids([source for source, _ in distinct])
    targets = tokenizer.encode_ids([target for _, target in distinct])
    encoded = {
        pair: EncodedPair(source, target)
        for pair, source, target in zip(distinct, sources, targets, strict=True)
        if max(len(source), len(target)) < max_positions
    }
    if not encoded:
        raise ValueError(f"No pair is short enough for {max_positions} positions.")
    return [encoded[pair] for pair in pairs if pair in encoded]


def collate(pairs: Sequence[EncodedPair]) -> Batch:
    """Pad pairs into one batch; the expected outputs are the inputs shifted left by one."""
    return Batch(
        source_ids=pad([source_sequence(pair.source) for pair in pairs]),
        target_ids=pad([target_sequence(pair.target) for pair in pairs]),
        next_ids=pad([[*pair.target, END_ID] for pair in pairs]),
    )


def bucketed_batches(
    pairs: Sequence[EncodedPair], max_tokens: int, seed: int | None = None
) -> Iterator[Batch]:
    """Return the batches of `bucketed_pairs`, padded."""
    return map(collate, bucketed_pairs(pairs, max_tokens, seed))


def bucketed_pairs(
    pairs: Sequence[EncodedPair], max_tokens: int, seed: int | None = None
) -> list[list[EncodedPair]]:
    """Return groups of pairs of similar length, with at most `max_tokens` padded tokens per side.

    With a seed, pairs of similar length are shuffled, and so are the groups; the same seed gives
    the same order.
    """
    shuffler = random.Random(seed)
    noise = 0.0 if seed is None else 1.0
    order = sorted(
        range(len(pairs)),
        key=lambda index: (
            max(len(pairs[index].target), len(pairs[index].source)) + noise * shuffler.random(),
            len(pairs[index].source),
        ),
    )
    buckets: list[list[EncodedPair]] = [[]]
    for index in order:
        pair = pairs[index]
        length = 1 + max(len(pair.source), len(pair.target))
        if buckets[-1] and length * (len(buckets[-1]) + 1) > max_tokens:
            buckets.append([])
        buckets[-1].append(pair)
    if seed is not None:
        shuffler.shuffle(buckets)
    return buckets
