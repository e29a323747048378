"""A count in one file, which is only replaced when the new one is complete."""

import io
import json
import os
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from model.atlas.counting import Count

COUNT = "count.npz"
WORDS = "words.json"  # the part of the file that is no array


def save_arrays(path: Path, arrays: Mapping[str, np.ndarray], words: object) -> None:
    """Write arrays and JSON as one file; raises OSError and leaves the old file as it was."""
    packed = io.BytesIO()
    text = np.frombuffer(json.dumps(words, ensure_ascii=False).encode("utf-8"), np.uint8)
    np.savez_compressed(packed, **{WORDS: text, **arrays})
    write(path, packed.getvalue())


def write(path: Path, data: bytes) -> None:
    """Replace a file once the new one is complete; raises OSError and keeps the old one."""
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
        with np.load(path, allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
        return arrays, json.loads(arrays.pop(WORDS).tobytes().decode("utf-8"))
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is no count of a corpus, or it is damaged.") from error


def save_count(folder: Path, count: Count) -> None:
    """Save a count in a folder; raises OSError and leaves the earlier one as it was."""
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
