"""Weights as people have them: arrays, tensors, or the tuples that transformers returns."""

from __future__ import annotations

from typing import Any

import numpy as np


def head_weights(weights: Any) -> np.ndarray:
    """One head's weights [query, key] as an array, whatever library holds them.

    Raises ValueError if there are other axes, such as those of all heads.
    """
    array = as_array(weights)
    if array.ndim != 2:
        raise ValueError(
            f"This picture takes one head's weights [query, key], but these have the shape "
            f"{array.shape}. Of what transformers returns take attentions[layer][0, head]."
        )
    return array


def layer_weights(weights: Any) -> np.ndarray:
    """The weights of all heads [layer, head, query, key] as an array.

    They may also be the attentions that transformers returns for one text: a tuple with a tensor
    [1, head, query, key] a layer. Raises ValueError if they are neither.
    """
    if isinstance(weights, list | tuple):
        if any(isinstance(layer, list | tuple) for layer in weights):
            raise ValueError(
                "These seem to be the attentions of generate(), one tuple a step. Call the model "
                "itself on the generated ids, with output_attentions=True."
            )
        layers = [as_array(layer) for layer in weights]
        if any(layer.ndim == 4 and len(layer) != 1 for layer in layers):
            raise ValueError(
                f"These are the attentions of {len(layers[0])} texts, and one can be drawn. Take "
                "it with [layer[i : i + 1] for layer in attentions]."
            )
        weights = np.stack([layer[0] if layer.ndim == 4 else layer for layer in layers])
    array = as_array(weights)
    if array.ndim != 4:
        raise ValueError(
            f"The grid takes weights [layer, head, query, key], but these have the shape "
            f"{array.shape}."
        )
    return array


def as_array(weights: Any) -> np.ndarray:
    """An array of an array or tensor; a tensor may need gradients, or be of bfloat16 on a GPU."""
    if weights is None:
        raise ValueError(
            "There are no weights. In transformers load the model with "
            'attn_implementation="eager", and call it with output_attentions=True.'
        )
    for step in ("detach", "float", "cpu"):
        if hasattr(weights, step):
            weights = getattr(weights, step)()
    return np.asarray(weights)
