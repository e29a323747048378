"""What a safetensors file says of its tensors, checked before any of them is read."""

from __future__ import annotations

import json
from typing import BinaryIO

LARGEST_HEADER = 1024**2  # bytes
MOST_DIMENSIONS = 8
DTYPES = ("F32", "F16", "BF16")

Shape = tuple[int, ...]


def read_shapes(file: BinaryIO, name: str) -> dict[str, Shape]:
    """Return the shape of every tensor of a file, read up to where its numbers begin.

    The `name` is that of the file for the errors. Raises ValueError for anything but floats of 16
    or 32 bits with a few dimensions. It takes time in proportion to the bytes of the header.
    """
    length = int.from_bytes(file.read(8), "little")
    if length > LARGEST_HEADER:
        raise ValueError(f"{name} is not a safetensors file, or lists too many tensors.")
    try:
        header = json.loads(file.read(length).decode("utf-8"), object_pairs_hook=without_repeats)
        "".join(header).encode("utf-8")  # else a name could not be shown
        header.pop("__metadata__", None)
        entries = {tensor: (entry["dtype"], entry["shape"]) for tensor, entry in header.items()}
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{name} is not a safetensors file.") from error
    for dtype, shape in entries.values():
        if dtype not in DTYPES:
            raise ValueError(f"{name} has numbers of a type other than 16 or 32 bit floats.")
        if not isinstance(shape, list) or len(shape) > MOST_DIMENSIONS:
            raise ValueError(f"{name} has a tensor of more than {MOST_DIMENSIONS} dimensions.")
        if not all(type(size) is int and 0 <= size < 2**31 for size in shape):
            raise ValueError(f"{name} has a tensor of an impossible shape.")
    return {tensor: tuple(shape) for tensor, (_, shape) in entries.items()}


def without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object; raise ValueError if it names something twice.

    Readers differ in which of the two they take.
    """
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise ValueError("A name stands there twice.")
    return entries
