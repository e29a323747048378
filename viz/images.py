"""Turn the image that a vision model has read into a PNG, and find the weights of its patches."""

import base64
import io
from typing import Any

import numpy as np
from PIL import Image

from headlight.viz.arrays import as_array

LARGEST = 448  # pixels of the longer side; a larger image is made smaller
MOST_FIRST = 8  # the most tokens before the patches, such as the class token


def as_png(image: Any) -> str:
    """Return the PNG of an image as a data URL; take a PIL image, or an array or tensor of pixels.

    The channels are the first or the last axis. Numbers that are not whole are scaled, so that the
    least becomes 0 and the largest 255, because models read normalized images. Raises ValueError if
    this is no image.
    """
    if not isinstance(image, Image.Image):
        image = Image.fromarray(as_bytes(image))
    image = image.convert("RGB")
    image.thumbnail((LARGEST, LARGEST))
    file = io.BytesIO()
    image.save(file, "PNG")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")


def as_bytes(image: Any) -> np.ndarray:
    """Return the pixels of an image as bytes [row, column, 3] or [row, column]."""
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
        return array.astype(np.uint8)  # a tensor's whole numbers: `as_array` makes them floats
    return np.rint((array - least) / max(largest - least, 1e-9) * 255).astype(np.uint8)


def on_patches(weights: np.ndarray, patches: tuple[int, int], query: int) -> np.ndarray:
    """Return one query's weights of [..., query, key] as [..., row, column]: one for each patch.

    The patches are the last keys; the keys before them, such as the class token, are left out.
    Raises ValueError if the number of keys does not fit the patches, or if there is no such query.
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
