"""Change the inputs of a model, to find out which axes are texts, queries and keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from headlight.model.library.flow import CLOSED


def changeable(given: Sequence[object], axes: int, whole: bool = False) -> dict[int, int]:
    """Return the indices of the inputs to change, each with the number of axes before its features.

    These are states with at least `axes` axes, or ids if `whole`; ids have no features. Masks are
    left out.
    """
    return {
        n: part.dim() - (not whole)
        for n, part in enumerate(given)
        if isinstance(part, Tensor) and part.dim() >= axes and part.numel()
        and part.dtype != torch.bool and part.is_floating_point() != whole and not is_mask(part)
    }  # fmt: skip


def is_mask(part: Tensor) -> bool:
    return part.is_floating_point() and bool(((part == 0) | (part == 1) | (part < CLOSED)).all())


def changed(part: Tensor, index: Any) -> Tensor:
    """Return a copy of states or ids with other values at an index."""
    part = part.detach().clone()
    old = part[index]
    if part.is_floating_point():
        noise = torch.randn(old.shape, generator=torch.Generator().manual_seed(0))
        part[index] = old + noise.to(old) * (1 + old.abs().max())
    else:  # each id becomes the next larger id in these texts, and the largest the smallest
        known = part.unique()
        following = known.roll(-1)[torch.searchsorted(known, old.contiguous())]
        part[index] = following if len(known) > 1 else torch.where(old > 0, old - 1, 1)
    return part


def is_of_texts(part: object, axis: int, rows: int) -> bool:
    """Return whether an axis of an input has the length `rows` of the texts; False for a mask."""
    return (
        isinstance(part, Tensor) and part.dim() > max(1, axis) and part.size(axis) == rows
        and part.dtype != torch.bool and not is_mask(part)
    )  # fmt: skip
