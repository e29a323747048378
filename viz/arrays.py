"""Read attention weights from arrays, tensors, or the tuples that transformers returns.

Weights of many heads on long texts may be stored as bytes, a quarter of the memory of floats. The
byte of a weight is its level: the weight times 255, rounded.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

LEVELS = 255  # the byte that means a weight of 1


def head_weights(weights: Any, *, signed: bool = False) -> np.ndarray:
    """Return one head's weights [query, key] as an array of floats, from any library's array.

    Raises ValueError if the array has more or fewer axes, and for weights below 0 unless `signed`.
    """
    array = as_array(weights)
    if array.ndim != 2:
        raise ValueError(
            f"This picture takes one head's weights [query, key], but these have the shape "
            f"{array.shape}. From the output of transformers take attentions[layer][0, head]."
        )
    if not signed:
        check_sign(np.nanmin(array, initial=0))
    return as_floats(array)


def layer_weights(weights: Any) -> np.ndarray | Sequence[np.ndarray]:
    """Return the weights [head, query, key] of each layer, without copies.

    They may be given as one array of all layers, a list of arrays or tensors, or the attentions
    that transformers returns for one text: a tuple with a tensor [1, head, query, key] for each
    layer. Bytes stay bytes, see `as_floats`. Raises ValueError for anything else.
    """
    if not isinstance(weights, Sequence):
        array = as_array(weights)
        if array.ndim != 4:
            raise ValueError(
                f"The grid takes weights [layer, head, query, key], but these have the shape "
                f"{array.shape}."
            )
        return array
    if any(isinstance(layer, list | tuple) for layer in weights):
        raise ValueError(
            "These seem to be the attentions of generate(), one tuple a step. Call the model "
            "itself on the generated ids, with output_attentions=True."
        )
    layers = [as_array(layer) for layer in weights]
    if any(layer.ndim == 4 and len(layer) != 1 for layer in layers):
        raise ValueError(
            f"These are the weights of {len(layers[0])} texts, but a picture shows one text. Give "
            "[layer[:1] for layer in weights] to draw the first text."
        )
    layers = [layer[0] if layer.ndim == 4 else layer for layer in layers]
    shapes = sorted({layer.shape for layer in layers})
    if len(shapes) != 1 or len(shapes[0]) != 3:
        raise ValueError(
            "The grid takes layers of one shape [head, query, key], but these have the shapes "
            f"{', '.join(map(str, shapes)) or '()'}."
        )
    return layers


def as_array(weights: Any) -> np.ndarray:
    """Return an array from an array or a tensor, even one with gradients or in bfloat16 on a GPU.

    Raises ValueError for None, which transformers returns in place of weights by default.
    """
    if weights is None:
        raise ValueError(
            "There are no weights. In transformers load the model with "
            'attn_implementation="eager", and call it with output_attentions=True.'
        )
    is_bytes = str(getattr(weights, "dtype", "")).endswith("uint8")
    for step in ("detach", "cpu") if is_bytes else ("detach", "float", "cpu"):
        if hasattr(weights, step):
            weights = getattr(weights, step)()
    return np.asarray(weights)


def check_known(weights: np.ndarray) -> None:
    """Raise ValueError if some weights are NaN, or below 0."""
    least = weights.min(initial=0)  # NaN if any weight is NaN
    if np.isnan(least):
        raise ValueError(
            "Some weights are NaN, as those of a query with every key masked: give "
            "np.nan_to_num(weights), or torch.nan_to_num(weights), which draws them as 0."
        )
    check_sign(least)


def check_sign(least: float) -> None:
    """Raise ValueError if the least weight is below 0: colours that begin at 0 would hide it."""
    if least < 0:
        raise ValueError(
            f"Some weights are below 0, down to {least:.3g}, as without a softmax: draw a head by "
            "attention_heatmap(..., diverging=True), or all heads by their sizes, np.abs(weights)."
        )


def in_bytes(weights: np.ndarray) -> bool:
    """Return whether weights are stored as levels: bytes in which 255 means 1."""
    return weights.dtype == np.uint8


def as_floats(weights: np.ndarray) -> np.ndarray:
    """Return weights from 0 to 1; levels are divided by 255, floats returned unchanged."""
    return weights / np.float32(LEVELS) if in_bytes(weights) else weights


def as_levels(weights: np.ndarray) -> np.ndarray:
    """Return weights as levels, bytes from 0 to 255; weights above 1 count as 1."""
    if in_bytes(weights):
        return weights
    return np.rint(np.clip(weights, 0, 1) * LEVELS).astype(np.uint8)
