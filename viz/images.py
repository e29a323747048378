"""The picture that a model of images has read, and the weights of its patches."""

import base64
import io
from typing import Any

import numpy as np
from PIL import Image

from headlight.viz.arrays import as_array

LARGEST = 448  # dots of the longer side; a larger picture is made smaller
MOST_FIRST = 8  # tokens before the patches, such as that of the class


def as_png(image: Any) -> str:
    """Return an image as a data address with a PNG: PIL's, or an array or tensor of its dots.

    Its channels are first or last. Numbers that are not whole are stretched from the least to the
    largest, since models read normalized ones. Raises ValueError if it is no image.
    """
    if not isinstance(image, Image.Image):
        image = Image.fromarray(as_bytes(image))
    image = image.convert("RGB")
    image.thumbnail((LARGEST, LARGEST))
    file = io.BytesIO()
    image.save(file, "PNG")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")


def as_bytes(image: Any) -> np.ndarray:
    """Return the numbers of an image as bytes [row, column, 3] or [row, column]."""
    array = as_array(image)
    array = array[0] if array.ndim == 4 and len(array) == 1 else array
    if array.ndim == 3 and array.shape[0] in (1, 3) and array.shape[2] not in (1, 3):
        array = array.transpose(1, 2, 0)
    array = array[..., 0] if array.ndim == 3 and array.shape[2] == 1 else array
    if array.ndim not in (2, 3) or array.shape[2:] not in ((), (3,)) or not array.size:
        raise ValueError(
            f"This is no image: its shape is {np.shape(image)}. Give a PIL image, or an array "
            "[row, column, 3] or [3, row, column]."
        )
    if array.dtype == np.uint8:
        return array
    array = array.astype(np.float32)
    least, largest = float(array.min()), float(array.max())
    if not np.isfinite([least, largest]).all():
        raise ValueError("This image has numbers that are infinite or NaN.")
    if float(least) >= 0 and 1 < largest <= 255 and (array == np.rint(array)).all():
        return array.astype(np.uint8)  # whole numbers, which `as_array` made floats of a tensor
    return np.rint((array - least) / max(largest - least, 1e-9) * 255).astype(np.uint8)


def on_patches(weights: np.ndarray, patches: tuple[int, int], query: int) -> np.ndarray:
    """Return the weights of one query, of [..., query, key], as [..., row, column] of the patches.

    The patches are the last keys; those before them, such as the class, are left out. Raises
    ValueError if the keys are not so many.
    """
    rows, columns = patches
    queries, keys = weights.shape[-2:]
    first = keys - rows * columns
    if not 0 <= first <= MOST_FIRST:
        raise ValueError(
            f"These weights have {keys} keys, but patches=({rows}, {columns}) are {rows * columns},"
            f" and at most {MOST_FIRST} tokens can stand before them."
        )
    if not -queries <= query < queries:
        raise ValueError(f"There is no query {query}: these weights have {queries}, from 0.")
    return weights[..., query, first:].reshape(*weights.shape[:-2], rows, columns)
