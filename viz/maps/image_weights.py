"""Draw one query's weights over the image whose patches are the keys."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from headlight.viz.arrays import as_array, as_levels, check_known
from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.colors import SEQUENTIAL
from headlight.viz.images import as_png, on_patches
from headlight.viz.numbers import Numbers, counted

PART = Part.next_to(__file__, "Weights over a picture")


def image_weights(weights: Any, image: Any, patches: Sequence[int]) -> CanvasPicture:
    """Draw what one query looks at in an image, by its weights [key].

    The `patches`, (rows, columns), are the last keys, row by row; the keys before them, such as the
    class token, are left out. The colours run from 0 to the largest weight of a patch. Raises
    ValueError if sizes do not fit, if weights are NaN or below 0, or if `image` is no image.
    """
    row = as_array(weights)
    if row.ndim != 1:
        raise ValueError(
            f"This picture takes one query's weights [key], but these have the shape {row.shape}: "
            "take weights[0, head, query]."
        )
    height, width = patches
    cells = on_patches(row[None], (height, width), 0)  # (h, w)
    check_known(cells)
    largest = float(cells.max(initial=0))
    header = {
        "image": as_png(image),
        "rows": height,
        "columns": width,
        "largest": largest,
        "weights": [round(float(weight), 6) for weight in cells.flat],
        "colors": SEQUENTIAL,
    }
    axes = {"row": counted(height), "column": counted(width)}
    return CanvasPicture.pack(
        PART,
        header,
        as_levels(np.asarray(cells / max(largest, 1e-12))),
        height=520,
        numbers={"weight": Numbers(cells, axes)},
    )
