"""Which processor a model runs on."""

from __future__ import annotations

import torch


def best_device() -> torch.device:
    """Return the GPU if there is one, else the processor."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
