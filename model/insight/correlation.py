"""Spearman's rank correlation: how similarly two rows of numbers are ordered."""

import numpy as np


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Return Spearman's rank correlation of two arrays; NaN if all values of one are equal."""
    first, second = ranks(first), ranks(second)
    if any(values.min() == values.max() for values in (first, second)):
        return float("nan")
    return float(np.corrcoef(first, second)[0, 1])


def ranks(values: np.ndarray) -> np.ndarray:
    """Return the rank of each number (N,), from 1; equal numbers share their mean rank."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (counts.cumsum() - (counts - 1) / 2)[which.ravel()]
