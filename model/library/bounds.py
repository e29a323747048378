"""What a model's folder may ask for, checked before a library reads its files.

A few numbers in small files could otherwise take all memory, or time without end.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from torch import Tensor
from torch.overrides import TorchFunctionMode

from headlight.model.checkpoint import TOKENIZER
from headlight.model.library.hub import CONFIG_FILE, LoadingError

MEGABYTE = 1024**2
TOKENIZER_CONFIG = "tokenizer_config.json"
TEXTS = (".json", ".txt", ".model", ".spm", ".jinja")  # all but weights that a library reads
LARGEST_CONFIG = 4 * MEGABYTE
LARGEST_TEXT = 64 * MEGABYTE
LARGEST_HEADER = 16 * MEGABYTE
MOST_TENSORS = 30_000  # of one file
LENGTH_BYTES = 8  # the length of the header, at the beginning of a file of weights
# Numbers of things that a configuration lists one by one before a model is made.
COUNTS = re.compile(r".*(layer|depth|label|num_block|extra_ids|words).*|offset")
MOST_LISTED = 30_000
MOST_GROWTH = 100  # characters that a tokenizer may make of one; sentencepiece's make 30
# A model computes tables that are not saved, and saves tied weights only once.
BYTES_A_NUMBER, MORE_BYTES = 12, 128 * MEGABYTE
PARTS_A_TENSOR, MORE_PARTS = 20, 1_000
MAKING = {"arange", "empty", "eye", "full", "linspace", "ones", "rand", "randn", "tensor", "zeros"}


def check_files(folder: Path) -> None:
    """Raise LoadingError unless the texts in a folder are plain files of a usual size."""
    for path in folder.iterdir():
        if path.suffix not in TEXTS or not path.exists() or path.is_dir():
            continue
        most = LARGEST_CONFIG if path.name == CONFIG_FILE else LARGEST_TEXT
        if not path.is_file():
            raise LoadingError(f"{path} is no plain file. Save the model again.")
        if path.stat().st_size > most:
            raise LoadingError(
                f"{path} is larger than {most // MEGABYTE} MB, so it is not read. Choose another "
                "model."
            )


def check_header(path: Path) -> None:
    """Raise LoadingError if the header of a safetensors file is too large, or names too much."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(LENGTH_BYTES), "little")
        entries = file.read(size).count(b"{") if size <= LARGEST_HEADER else math.inf
    if entries > MOST_TENSORS:
        raise LoadingError(
            f"The header of {path} is larger than {LARGEST_HEADER // MEGABYTE} MB, or names more "
            f"than {MOST_TENSORS:,} tensors, so it is not read. Choose another model."
        )


def check_counts(entries: object, where: Path) -> None:
    """Raise LoadingError if a configuration asks for more layers or labels than any model has."""
    for name, count in counts_in(entries):
        if count > MOST_LISTED:
            raise LoadingError(
                f"{where} asks for {count:.3g} {name[:60]}, and at most {MOST_LISTED:,} are made. "
                "Choose another model."
            )


def counts_in(entries: object, name: str = "") -> Iterator[tuple[str, float]]:
    """Yield what a configuration counts, at any depth, by name."""
    if isinstance(entries, Mapping):
        for key, value in entries.items():
            yield from counts_in(value, str(key))
    elif isinstance(entries, list):
        for value in entries:
            yield from counts_in(value, name)
    elif isinstance(entries, int) and COUNTS.fullmatch(name):
        yield name, min(entries, 10**300)  # larger ones could not be written


def check_tokenizer(folder: Path) -> None:
    """Raise LoadingError if a folder's tokenizer rules can turn short texts into long ones.

    Also if it defines too many tokens of its own. Raises other errors if a file is damaged.
    """
    if (path := folder / TOKENIZER_CONFIG).is_file():
        check_counts(json.loads(path.read_bytes()), path)
    if (path := folder / TOKENIZER).is_file():
        rules = json.loads(path.read_bytes())
        check_growth(rules.get("normalizer"))
        check_growth(rules.get("decoder"))


def check_growth(rules: object) -> None:
    """Raise LoadingError if a tokenizer's normalizer or decoder makes long texts of short ones."""
    if growth(rules) > MOST_GROWTH:
        raise LoadingError(f"It makes more than {MOST_GROWTH} characters of one.")


def growth(rules: object) -> int:
    """Return the largest number of characters that rules for a text can make of one."""
    if not isinstance(rules, Mapping):
        return 1
    inserted = max(len(str(rules.get(name) or "")) for name in ("content", "prepend"))
    parts = rules.get("normalizers") or rules.get("decoders") or []
    return max(1, inserted, longest_piece(rules)) * math.prod(map(growth, parts))


def longest_piece(rules: Mapping) -> int:
    """Return the longest text, in bytes, that sentencepiece's table puts for a character.

    The table is a tree, after its size in four bytes, and the texts with a zero byte after each.
    """
    table = base64.b64decode(str(rules.get("precompiled_charsmap") or ""))
    texts = table[4 + int.from_bytes(table[:4], "little") :]
    return max(map(len, texts.split(b"\0")))


class Counted(TorchFunctionMode):
    """Raises LoadingError once a model on the meta device, which takes no memory, has too much.

    That is more bytes or tensors than the weights in its files account for.
    """

    def __init__(self, numbers: int, tensors: int) -> None:
        super().__init__()
        self.bytes = BYTES_A_NUMBER * numbers + MORE_BYTES  # bytes it may still allocate
        self.parts = PARTS_A_TENSOR * tensors + MORE_PARTS

    def __torch_function__(
        self, function: Callable, types: object, args: tuple = (), kwargs: dict | None = None
    ) -> object:
        """Call a function of torch, and count what it makes."""
        made = function(*args, **(kwargs or {}))
        if function.__name__ in MAKING and isinstance(made, Tensor) and made.is_meta:
            self.bytes, self.parts = self.bytes - made.nbytes, self.parts - 1
            if min(self.bytes, self.parts) < 0:
                raise LoadingError("Its configuration asks for more than its weights fill.")
        return made
