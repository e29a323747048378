"""Sentence pairs, and the batches a model is trained on."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from model.sequences import pad, source_sequence, target_sequence
from model.tokenizer import Tokenizer
from model.tokens import END_ID

Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class Batch:
    """Padded ids of some pairs: (B, S) sources, (B, T) decoder inputs, (B, T) expected outputs.

    `weight` is that of its loss among the shares of a batch.
    """

    source_ids: Tensor
    target_ids: Tensor
    next_ids: Tensor
    weight: float = 1.0

    def to(self, device: torch.device) -> Batch:
        """Return the same batch on a device."""
        ids = (self.source_ids, self.target_ids, self.next_ids)
        return Batch(*(one.to(device) for one in ids), self.weight)


@dataclass(frozen=True)
class EncodedPair:
    """The ids of one source and one target, without start and end."""

    source: list[int]
    target: list[int]


def read_pairs(path: Path) -> Pairs:
    """Read `source<TAB>target` lines, gzipped if the name ends in .gz.

    Raises ValueError if the file is cut or no text, or with the line number if a line lacks a
    column.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    pairs = []
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                columns = line.rstrip("\n").split("\t")
                if len(columns) < 2:
                    raise ValueError(f"{path.name}, line {number}: expected source<TAB>target.")
                pairs.append((columns[0], columns[1]))
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path.name} is cut, damaged or not gzipped.") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name} is not text in UTF-8.") from error
    if not pairs:
        raise ValueError(f"{path.name} has no sentence pairs.")
    return pairs


def group_references(pairs: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """Return all translations of each source sentence, in the order of the file."""
    references: dict[str, list[str]] = {}
    for source, target in pairs:
        references.setdefault(source, []).append(target)
    return references


def encode_pairs(
    pairs: Sequence[tuple[str, str]], tokenizer: Tokenizer, max_positions: int
) -> list[EncodedPair]:
    """Encode pairs, leaving out those with a side longer than the model can take.

    Raises ValueError if none is left.
    """
    sources = tokenizer.encode_ids([source for source, _ in pairs])
    targets = tokenizer.encode_ids([target for _, target in pairs])
    encoded = [
        EncodedPair(source, target)
        for source, target in zip(sources, targets, strict=True)
        if max(len(source), len(target)) < max_positions
    ]
    if not encoded:
        raise ValueError(f"No pair is short enough for {max_positions} positions.")
    return encoded


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
    """The batches of `bucketed_pairs`, padded."""
    return map(collate, bucketed_pairs(pairs, max_tokens, seed))


def bucketed_pairs(
    pairs: Sequence[EncodedPair], max_tokens: int, seed: int | None = None
) -> list[list[EncodedPair]]:
    """Groups of pairs of like length, each at most `max_tokens` padded tokens on either side.

    With a seed, pairs of like length and the order of the groups are shuffled, the same way for
    the same seed.
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
