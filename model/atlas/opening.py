"""A finished atlas, read from a folder or from a count in memory."""

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from model.atlas.figures import Figure
from model.trace import Kind


@dataclass(frozen=True)
class KindOfHeads:
    """The figures of all heads of one kind of attention.

    `figures` are keyed by the names of the statistics; `shares` (L, H, offsets) say how often the
    largest weight of a row is at each of `offsets` from the query, and are missing if queries are
    not keys; `distances` (L * H, L * H) are Jensen-Shannon divergences in nats; `clearest` (L, H)
    names the pattern each head is known by; `removal` and `importance` (L, H) are the effects, if
    any were measured.
    """

    figures: dict[str, Figure]
    distances: np.ndarray
    clearest: list[list[str]]
    offsets: Sequence[int] = ()
    shares: np.ndarray | None = None
    removal: np.ndarray | None = None
    importance: np.ndarray | None = None


@dataclass(frozen=True)
class Atlas:
    """What every head of a model does over a corpus.

    `about` names the model and the text, `lines` says how many lines were counted or left out, and
    `statistics` what each figure means ("name", "words", "unit", "kinds", "source"). `effects`
    holds the effects and pruning curves with their meaning, or None if none were measured.
    `examples` are as in `model.atlas.looking.examples`.
    """

    about: dict
    lines: dict[str, int]
    statistics: list[dict]
    kinds: dict[Kind, KindOfHeads]
    effects: dict | None
    examples: list[dict]


def open_atlas(folder: Path) -> Atlas:
    """Return the atlas in a folder, whose files may be gzipped.

    Raises ValueError if a file is missing or damaged.
    """
    return as_atlas(load(folder, "atlas.json"), load(folder, "examples.json"))


def load(folder: Path, name: str) -> dict | list:
    """Return the JSON in a file of a folder; raises ValueError if it is missing or damaged."""
    packed = folder / f"{name}.gz"
    try:
        if packed.is_file():
            return json.loads(gzip.decompress(packed.read_bytes()))
        return json.loads((folder / name).read_bytes())
    except (OSError, EOFError, ValueError) as error:
        raise ValueError(f"{folder} holds no {name} that can be read.") from error


def as_atlas(data: dict, examples: list[dict]) -> Atlas:
    """Return an atlas from the plain data of atlas.json and examples.json."""
    effects = data.get("effects")
    measured = effects if isinstance(effects, dict) else None  # else a sentence says why not
    kinds = {
        kind: kind_of_heads(found, measured["kinds"].get(kind, {}) if measured else {})
        for kind, found in data["kinds"].items()
    }
    return Atlas(data["about"], data["lines"], data["statistics"], kinds, measured, examples)


def kind_of_heads(found: dict, effects: dict) -> KindOfHeads:
    """Return one kind of attention from plain data."""
    offsets = found.get("offsets") or {}
    return KindOfHeads(
        {
            name: Figure(*(array(parts.get(part)) for part in
                           ("mean", "of_sentences", "deviation", "bins")))
            for name, parts in found["figures"].items()
        },
        array(found["distances"]),
        found["clearest pattern"],
        offsets.get("from", ()),
        array(offsets.get("shares")),
        array(effects.get("removal")),
        array(effects.get("importance")),
    )  # fmt: skip


def array(listed: list | None) -> np.ndarray | None:
    """Return nested lists of numbers as an array, None within them as NaN."""
    return None if listed is None else np.array(listed, dtype=float)
