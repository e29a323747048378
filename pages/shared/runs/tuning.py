"""How this process runs models beside many visitors' sessions."""

from __future__ import annotations

import sys

import torch

from pages.shared.runs import leaving, limits
from pages.shared.runs.housekeeping import share_arenas

# Each operation of a model releases Python's lock (the GIL), and gets it back only after another
# thread's turn: with many visitors a call of a model spent most of its time waiting for turns.
TURN = 0.0005  # seconds of a thread at most while others wait; Python's default is 0.005


def tune() -> None:
    """Set this process up for many sessions; call it before the first model call."""
    torch.set_num_threads(limits.THREADS)
    share_arenas()
    sys.setswitchinterval(TURN)
    leaving.watch()
