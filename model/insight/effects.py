"""The effect of a change on an objective, measured in runs over the same tokens."""

import torch
from torch import Tensor

from model.reader import Objective, Reader
from model.trace import Run, Trace

NUMBERS_AT_ONCE = 2**26  # bounds the memory of runs in one batch to some 256 MB a tensor


def log_probability(reader: Reader, trace: Trace, objective: Objective, run: Run) -> Tensor:
    """Return the objective (B,), in nats, in another run over a trace's tokens.

    The batch size B is that of the run's edits.
    """
    return log_probabilities(reader.rerun(trace, run), objective).sum(dim=-1)


def log_probabilities(logits: Tensor, objective: Objective) -> Tensor:
    """Return the log-probability (B, N), in nats, of an objective's ids, from logits (B, T, V)."""
    if objective.rows != tuple(range(logits.size(1))):
        logits = logits[:, list(objective.rows)]
    ids = torch.tensor(objective.ids, device=logits.device)
    ids = ids[None, :, None].expand(len(logits), -1, 1)  # (B, N, 1)
    return logits.log_softmax(dim=-1).gather(-1, ids)[..., 0]


def rows_at_once(trace: Trace, most: int) -> int:
    """Return how many runs over a trace's tokens fit into one batch: 1 to `most`."""
    logits = 0 if trace.logits is None else trace.logits.numel()
    weights = max(trace.site_weights(site).numel() for site in {*trace.attention, *trace.overview})
    return max(1, min(most, NUMBERS_AT_ONCE // max(logits, weights)))
