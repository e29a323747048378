"""Log-probabilities that a model gives to a target or an objective, also with edits."""

from collections.abc import Sequence
from math import nan

import torch
from torch import Tensor
from torch.nn import functional as F

from headlight.model.edits.positions import PositionEdit
from headlight.model.questions import Objective
from headlight.model.reader import Reader
from headlight.model.tokens import END_ID, PAD_ID
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run

NUMBERS_AT_ONCE = 2**26  # the most numbers in a tensor of a batch of runs: some 256 MB


def next_log_probabilities(logits: Tensor, target_ids: Tensor) -> Tensor:
    """Return the log-probability (B, T), in nats, of the token after each token of the target.

    `logits` is (B, T, V). `target_ids` (T,) are the tokens that the decoder read, the start token
    first; the end token follows the last one.
    """
    following = torch.cat([target_ids[1:], target_ids.new_tensor([END_ID])])
    rows = logits.flatten(0, 1)  # (B * T, V)
    losses = F.cross_entropy(rows, following.repeat(logits.size(0)), reduction="none")
    return -losses.unflatten(0, logits.shape[:2])


def trace_log_probabilities(trace: Trace) -> Tensor:
    """Return the log-probability, in nats, of each token of a trace's target, without padding.

    The first is that of the token after the start token; the last is that of the end token if the
    target has ended.
    """
    read = [token.id for token in trace.target_tokens if token.id != PAD_ID]
    ids = torch.tensor(read, device=trace.logits.device)
    following = next_log_probabilities(trace.logits[:, : len(read)], ids)[0]
    return following if trace.finished else following[:-1]


@torch.inference_mode()
def scores_by_shift(
    reader: Reader, trace: Trace, objective: Objective, shifts: Sequence[int]
) -> list[float]:
    """Return the objective after shifting all positions by each of `shifts`.

    It is given as the mean log-probability per id in nats, or the mean score; NaN if the model
    lacks positions that far.
    """
    scores = []
    for shift in shifts:
        edit = PositionEdit(shift=shift)
        run = Run({"encoder": edit, "decoder": edit})
        try:
            score = log_probability(reader, trace, objective, run).item()
            scores.append(score / len(objective.ids))
        except ValueError:
            scores.append(nan)
    return scores


def log_probability(reader: Reader, trace: Trace, objective: Objective, run: Run) -> Tensor:
    """Run again over the tokens of a trace; return the objective (B,), in its unit.

    B is the batch size of the run's edits.
    """
    return log_probabilities(reader.rerun(trace, run), objective).sum(dim=-1)


def log_probabilities(logits: Tensor, objective: Objective) -> Tensor:
    """Return the log-probability (B, N), in nats, of each id of an objective in its row.

    `logits` is (B, T, V). If the objective is a score, return the ids' logits instead.
    """
    if objective.rows != tuple(range(logits.size(1))):
        logits = logits[:, list(objective.rows)]
    ids = torch.tensor(objective.ids, device=logits.device)
    ids = ids[None, :, None].expand(len(logits), -1, 1)  # (B, N, 1)
    measured = logits if objective.is_score else logits.log_softmax(dim=-1)
    return measured.gather(-1, ids)[..., 0]


def rows_at_once(trace: Trace, most: int) -> int:
    """Return how many runs over a trace's tokens fit into one batch: 1 to `most`."""
    logits = 0 if trace.logits is None else trace.logits.numel()
    weights = max(trace.site_weights(site).numel() for site in {*trace.attention, *trace.overview})
    return max(1, min(most, NUMBERS_AT_ONCE // max(logits, weights)))
