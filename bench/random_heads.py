"""Attention without a model: the random weights that all benches of pictures draw."""

from __future__ import annotations

import numpy as np

LAYERS, HEADS = 12, 12


def random_weights(tokens: int) -> np.ndarray:
    """Return random weights, always the same: (LAYERS, HEADS, tokens, tokens), rows sum to 1."""
    shape = (LAYERS, HEADS, tokens, tokens)
    weights = np.exp(2 * np.random.default_rng(0).standard_normal(shape, dtype=np.float32))
    return weights / weights.sum(axis=-1, keepdims=True)


def names(tokens: int) -> list[str]:
    return [f"token{index}" for index in range(tokens)]
