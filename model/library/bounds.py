"""Limit what a model's files may ask for, before a library reads them.

A few numbers in small files could otherwise take all memory or endless time.
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
# the endings of files that a library reads, except weights
TEXTS = (".json", ".txt", ".model", ".spm", ".jinja")
LARGEST_CONFIG = 4 * MEGABYTE
LARGEST_TEXT = 64 * MEGABYTE
LARGEST_HEADER = 16 * MEGABYTE
MOST_TENSORS = 30_000  # the most tensors in one file
LENGTH_BYTES = 8  # bytes at the beginning of a file of weights that hold the header's length
# Names of entries of a configuration. The library makes a list as long as the number in them.
COUNTS = re.compile(r".*(layer|depth|label|num_block|extra_ids|words).*|offset")
MOST_LISTED = 30_000  # the largest number that such an entry may have
# the most characters that a tokenizer may make of one; sentencepiece makes up to 30
MOST_GROWTH = 100
# A model may be larger than its file: the file lacks computed tables, and has tied weights once.
BYTES_A_NUMBER, MORE_BYTES = 12, 128 * MEGABYTE
PARTS_A_TENSOR, MORE_PARTS = 20, 1_000
MAKING = {"arange", "empty", "eye", "full", "linspace", "ones", "rand", "randn", "tensor", "zeros"}


def check_files(folder: Path) -> None:
    """Raise LoadingError unless a folder's files, except weights, are plain and not too large."""
    for path in folder.iterdir():
        if path.suffix not in TEXTS or not path.exists() or path.is_dir():
            continue
        most = LARGEST_CONFIG if path.name == CONFIG_FILE else LARGEST_TEXT
        if not path.is_file():
            raise LoadingError(f"{path} is not a plain file. Save the model again.")
        if path.stat().st_size > most:
            raise LoadingError(
                f"{path} is larger than {most // MEGABYTE} MB, so it is not read. Choose another "
                "model."
            )


def check_header(path: Path) -> None:
    """Raise LoadingError if a safetensors file's header is too large, or names too many tensors."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(LENGTH_BYTES), "little")
        entries = file.read(size).count(b"{") if size <= LARGEST_HEADER else math.inf
    if entries > MOST_TENSORS:
        raise LoadingError(
            f"The header of {path} is larger than {LARGEST_HEADER // MEGABYTE} MB, or names more "
            f"than {MOST_TENSORS:,} tensors, so it is not read. Choose another model."
        )


def check_counts(entries: object, where: Path) -> None:
    """Raise LoadingError if a configuration has a number of layers or labels above MOST_LISTED."""
    for name, count in counts_in(entries):
        if count > MOST_LISTED:
            raise LoadingError(
                f"{where} asks for {count:.3g} {name[:60]}, but at most {MOST_LISTED:,} are "
                "allowed. Choose another model."
            )


def counts_in(entries: object, name: str = "") -> Iterator[tuple[str, float]]:
    """Yield the names and values of a configuration's numbers that match COUNTS, at any depth."""
    if isinstance(entries, Mapping):
        for key, value in entries.items():
            yield from counts_in(value, str(key))
    elif isinstance(entries, list):
        for value in entries:
            yield from counts_in(value, name)
    elif isinstance(entries, int) and COUNTS.fullmatch(name):
        yield name, min(entries, 10**300)  # a larger number cannot become a float


def check_tokenizer(folder: Path) -> None:
    """Raise LoadingError if a folder's tokenizer can turn short texts into very long ones.

    It is also raised if the tokenizer adds too many tokens. Other errors mean a damaged file.
    """
    if (path := folder / TOKENIZER_CONFIG).is_file():
        check_counts(json.loads(path.read_bytes()), path)
    if (path := folder / TOKENIZER).is_file():
        rules = json.loads(path.read_bytes())
        check_growth(rules.get("normalizer"))
        check_growth(rules.get("decoder"))


def check_growth(rules: object) -> None:
    """Raise LoadingError if a normalizer or decoder can make very long texts of short ones."""
    if growth(rules) > MOST_GROWTH:
        raise LoadingError(f"A rule turns one character into more than {MOST_GROWTH}.")


def growth(rules: object) -> int:
    """Return the most characters that a normalizer or decoder can make of one character."""
    if not isinstance(rules, Mapping):
        return 1
    inserted = max(len(str(rules.get(name) or "")) for name in ("content", "prepend"))
    parts = rules.get("normalizers") or rules.get("decoders") or []
    return max(1, inserted, longest_piece(rules)) * math.prod(map(growth, parts))


def longest_piece(rules: Mapping) -> int:
    """Return the length in bytes of the longest replacement in sentencepiece's table, if any.

    The table holds the size of a tree in four bytes, the tree, and the replacements, with a zero
    byte after each.
    """
    table = base64.b64decode(str(rules.get("precompiled_charsmap") or ""))
    texts = table[4 + int.from_bytes(table[:4], "little") :]
    return max(map(len, texts.split(b"\0")))


class Counted(TorchFunctionMode):
    """A context that raises LoadingError if a model made in it is too large for its files.

    The model is made on the meta device, which takes no memory. It is too large if it has far more
    bytes or tensors than the weights in its files.
    """

    def __init__(self, numbers: int, tensors: int) -> None:
        super().__init__()
        # the bytes that the model may still allocate
        self.bytes = BYTES_A_NUMBER * numbers + MORE_BYTES
        # the number of tensors that the model may still make
        self.parts = PARTS_A_TENSOR * tensors + MORE_PARTS

    def __torch_function__(
        self, function: Callable, types: object, args: tuple = (), kwargs: dict | None = None
    ) -> object:
        """Call a function of torch, and count the bytes and tensors that it makes."""
        made = function(*args, **(kwargs or {}))
        if function.__name__ in MAKING and isinstance(made, Tensor) and made.is_meta:
            self.bytes, self.parts = self.bytes - made.nbytes, self.parts - 1
            if min(self.bytes, self.parts) < 0:
                raise LoadingError(
                    "Its configuration describes a larger model than its weights fill."
                )
        return made
