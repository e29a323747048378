"""How this process runs models beside many visitors' sessions."""

from __future__ import annotations

import gc
import sys

import torch

from pages.shared.runs import limits
from pages.shared.runs.housekeeping import share_arenas

# Each operation of a model releases Python's lock (the GIL), and gets it back only after another
# thread's turn: with many visitors a call of a model spent most of its time waiting for turns.
TURN = 0.0005  # seconds of a thread at most while others wait; Python's default is 0.005


def tune() -> None:
    """Set up threads and memory for model calls of many sessions; call it before the first."""
    torch.set_num_threads(limits.THREADS)
    share_arenas()
    sys.setswitchinterval(TURN)


def freeze() -> None:
    """Spare what is loaded for good from later collections of garbage."""
    gc.collect()
    gc.freeze()
