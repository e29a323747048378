"""Save and load a count, and read a finished atlas from a folder or from a count.

A file is only replaced when the new one is complete.
"""

import ast
import gzip
import io
import json
import os
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from inspect import getsource
from pathlib import Path
from typing import Any

import numpy as np
import torch

from headlight.model.insight import rows
from headlight.model.reader import Reader
from headlight.model.transformer.trace import Kind, MaybeNone
from headlight.wings.atlas import counting, statistics
from headlight.wings.atlas.counting import Count
from headlight.wings.atlas.figures import Figure

COUNT = "count.npz"
WORDS = "words.json"  # the name of the JSON entry among the arrays
COUNTING = (counting, statistics, rows)  # the modules that make the sums


def save_arrays(path: Path, arrays: Mapping[str, np.ndarray], words: object) -> None:
    """Write arrays and JSON as one file; if it raises OSError, the old file is intact."""
    packed = io.BytesIO()
    text = np.frombuffer(json.dumps(words, ensure_ascii=False).encode("utf-8"), np.uint8)
    np.savez_compressed(packed, **{WORDS: text, **arrays})
    write(path, packed.getvalue())


def write(path: Path, data: bytes) -> None:
    """Replace a file once the new one is complete; if it raises OSError, the old one stays."""
    begun = path.with_name(path.name + ".new")
    try:
        with begun.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        begun.replace(path)
    except OSError:
        begun.unlink(missing_ok=True)
        raise


def load_arrays(path: Path) -> tuple[dict[str, np.ndarray], dict]:
    """Return the arrays and the JSON of a file; raises ValueError unless it holds both."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return arrays, json.loads(arrays.pop(WORDS).tobytes().decode("utf-8"))
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is no count of a corpus, or it is damaged.") from error


def save_count(folder: Path, count: Count) -> None:
    """Save a count in a folder; if it raises OSError, the earlier count is intact."""
    folder.mkdir(parents=True, exist_ok=True)
    words = {
        "about": count.about,
        "windows": count.windows,
        "lines": dict(count.lines),
        "texts": [[number, *text] for number, text in count.texts.items()],
        "sample": count.sample,
    }
    arrays = {f"sums/{name}": array for name, array in count.sums.items()}
    arrays |= {f"best/{name}": array for name, array in count.best.items()}
    save_arrays(folder / COUNT, arrays, words)


def load_count(folder: Path) -> Count:
    """Return the count in a folder.

    Raises FileNotFoundError if there is none, and ValueError if it is damaged.
    """
    if not (folder / COUNT).is_file():
        raise FileNotFoundError(f"{folder} holds no count of a corpus.")
    arrays, words = load_arrays(folder / COUNT)
    return Count(
        words["about"],
        words["windows"],
        Counter(words["lines"]),
        parts(arrays, "sums/"),
        parts(arrays, "best/"),
        {number: (text, second) for number, text, second in words["texts"]},
        [tuple(entry) for entry in words["sample"]],
    )


def parts(arrays: Mapping[str, np.ndarray], before: str) -> dict[str, np.ndarray]:
    """Return the arrays whose names begin with `before`, without that prefix."""
    return {name.removeprefix(before): arrays[name] for name in arrays if name.startswith(before)}


def about_of(reader: Reader, model: str, text: str, window: int) -> dict[str, object]:
    """Return what identifies a count; `model` and `text` are names, `window` is in lines."""
    return {
        "code": code_version(),
        "model": model,
        "weights": digest_of(reader),
        "kinds": {kind: list(shape) for kind, shape in reader.shape.kinds.items()},
        "text": text,
        "window": window,
    }


@cache
def code_version() -> str:
    """Return a digest of the code that counts; two counts merge only if their digests are equal."""
    code = (ast.dump(ast.parse(getsource(module))) for module in COUNTING)
    return sha256("".join(code).encode()).hexdigest()


def digest_of(reader: Reader) -> str:
    """Return a digest of a model's weights."""
    digest = sha256()
    for name, tensor in sorted(reader.model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return digest.hexdigest()


@dataclass(frozen=True)
class KindOfHeads:
    """The figures of all heads of one kind of attention.

    `figures` are keyed by the names of the statistics; `shares` (L, H, offsets) say how often the
    largest weight of a row is at each of `offsets` from the query, and are None in cross-attention;
    `distances` (L * H, L * H) are Jensen-Shannon divergences in nats; `clearest` (L, H) names each
    head's clearest pattern; `removal` and `importance` (L, H) are the effects of removing heads, or
    None if they were not measured.
    """

    figures: dict[str, Figure]
    distances: np.ndarray
    clearest: list[list[str]]
    offsets: Sequence[int] = ()
    shares: np.ndarray | MaybeNone = None
    removal: np.ndarray | None = None
    importance: np.ndarray | None = None


@dataclass(frozen=True)
class Atlas:
    """What every head of a model does over a corpus.

    `about` names the model and the text, `lines` says how many lines were counted or left out, and
    `statistics` what each figure means ("name", "words", "unit", "kinds", "source"). `effects`
    holds the effects and pruning curves with their meaning, or None if none were measured.
    `examples` are as in `headlight.wings.atlas.looking.examples`.
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


def load(folder: Path, name: str) -> Any:
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
    # If effects could not be measured, the data have a sentence that says why.
    measured = effects if isinstance(effects, dict) else None
    kinds = {
        kind: kind_of_heads(parts, measured["kinds"].get(kind, {}) if measured else {})
        for kind, parts in data["kinds"].items()
    }
    return Atlas(data["about"], data["lines"], data["statistics"], kinds, measured, examples)


def kind_of_heads(data: dict, effects: dict) -> KindOfHeads:
    """Return the figures of one kind of attention from plain data."""
    offsets = data.get("offsets") or {}
    return KindOfHeads(
        {
            name: Figure(*(array(parts.get(part)) for part in
                           ("mean", "of_sentences", "deviation", "bins")))
            for name, parts in data["figures"].items()
        },
        array(data["distances"]),
        data["clearest pattern"],
        offsets.get("from", ()),
        array(offsets.get("shares")),
        array(effects.get("removal")),
        array(effects.get("importance")),
    )  # fmt: skip


def array(listed: list | None) -> np.ndarray | MaybeNone:
    """Return nested lists of numbers as an array, with NaN for None; None itself stays None."""
    return None if listed is None else np.array(listed, dtype=float)
