"""Estimates the effects of heads and cells by one backward pass, and the estimates' errors."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import torch
from torch import Tensor

from headlight.model.edits.attention import AS_TRAINED
from headlight.model.insight.ablation import NOTHING_TO_MEASURE, without_each_head
from headlight.model.insight.scoring import log_probability
from headlight.model.library.attention_interface import sink_softmax
from headlight.model.library.hub import first_line
from headlight.model.questions import Objective
from headlight.model.reader import Reader
from headlight.model.stream import precise
from headlight.model.trace import Trace
from headlight.model.transformer.trace import AttentionRecord, Run, RunEdits, Site

# the most attention weights of a run, because a backward pass keeps them all in memory
MOST_WEIGHTS = 2**26
TOO_LONG = (
    "A gradient keeps all of a run in memory, and this text is too long for that in so large a "
    "model. Shorten the text, or measure the removals themselves on the Heads page."
)
NO_GRADIENT = (
    "This model gives no gradient, so nothing can be estimated: {why} The removals themselves are "
    "measured on the Heads page."
)


class Gap(NamedTuple):
    """The gap between the true effect of a head's removal and its estimate, by cause, in nats.

    `output`, `attention` and `rest` sum to the true effect minus the estimated one.
    """

    output: float  # the part caused by the output's softmax, which is not linear
    attention: float  # the part that vanishes if the weights of all heads are held fixed
    rest: float  # the part caused by norms and feed-forward layers
    # the largest weight of a row, averaged over the head's rows; no part of the gap
    sharpness: float


@dataclass
class Looks(Trace):
    """A trace that keeps the weights of every attention block and nothing else."""

    looks: dict[Site, Tensor] = field(default_factory=dict)  # (H, Q, K)

    def record(self, site: Site, record: AttentionRecord) -> None:
        self.looks[site] = record.weights[0]


def estimated_removals(
    reader: Reader,
    trace: Trace,
    edits: RunEdits | None = None,
    objective: Objective | None = None,
) -> dict[Site, Tensor]:
    """Estimate, by its gradient, how an objective changes without each head: (H,), in nats.

    One backward pass is enough for all heads: the estimate is the change of a head's gate to 0,
    times the gradient for the gate. `head_removals` measures the true change, with the same
    arguments and errors. Also raises ValueError if the model gives no gradient, or if the text is
    too long for a backward pass.

    Sources: Michel et al. 2019, "Are Sixteen Heads Really Better than One?", section 2.3, without
    the absolute value; Nanda 2023, "Attribution Patching"; Syed et al. 2023, "Attribution Patching
    Outperforms Automated Circuit Discovery".
    """
    objective, edits = asked(reader, trace, objective), edits or {}
    with differentiating():
        gates, changed = {}, dict(edits)
        for site in reader.shape.sites:
            edit = edits.get(site, AS_TRAINED)
            gate = torch.ones(reader.shape.heads(site.kind)) if edit.gate is None else edit.gate
            gates[site] = gate.detach().float().clone().requires_grad_()
            changed[site] = replace(edit, gate=gates[site])
        score = log_probability(reader, trace, objective, Run(changed)).sum()
        slopes = gradients(score, list(gates.values()))
    pairs = zip(gates.items(), slopes, strict=True)
    return {site: -gate.detach() * slope for (site, gate), slope in pairs}


def estimated_closings(
    reader: Reader,
    trace: Trace,
    site: Site,
    edits: RunEdits | None = None,
    objective: Objective | None = None,
) -> Tensor:
    """Estimate, by its gradient, how an objective changes if a cell is closed: (H, Q, K), in nats.

    The weight of a closed cell goes to the other keys of its row. The estimate is the exact change
    of the row's weights times the gradient for them, summed. (The gradient for the score cannot
    serve: closing changes the score to −∞.) Cells that are already closed are NaN. `cell_removals`
    measures the true change. Raises ValueError as `estimated_removals` does.
    """
    objective, edits = asked(reader, trace, objective), edits or {}
    edit, kept = edits.get(site, AS_TRAINED), Trace(full=[site])
    with torch.inference_mode():
        reader.rerun(trace, Run(edits, kept))
    record = kept.attention[site]
    closed = record.masked_scores[0].isneginf()
    if edit.weights is not None:  # given weights do not depend on scores, so closing has no effect
        return torch.zeros_like(record.weights[0]).masked_fill(closed, torch.nan)
    with differentiating():
        weights = record.weights[0].detach().clone().requires_grad_()
        changed = {**edits, site: replace(edit, weights=weights)}
        score = log_probability(reader, trace, objective, Run(changed)).sum()
        (slope,) = gradients(score, [weights])
    return closing_each(record, slope.detach()).masked_fill(closed, torch.nan)


def closing_each(record: AttentionRecord, slope: Tensor) -> Tensor:
    """Return, for each cell, the sum of `slope` times the change of its row's weights if it closes.

    `slope` (H, Q, K) is the gradient for the weights. Without a key of weight w, the other weights
    are 1 / (1 - w) times as large. The largest weight of a row may be too close to 1 for this
    division, so for its key the softmax of the other scores is computed instead.
    """
    weights, scores = record.weights[0].float(), record.masked_scores[0].float()
    slope = slope.float()
    mean = (weights * slope).sum(dim=-1, keepdim=True)  # (H, Q, 1)
    top = scores.argmax(dim=-1, keepdim=True)
    small = weights.scatter(-1, top, 0.0)
    others = scores.scatter(-1, top, -torch.inf)
    rest = sink_softmax(record.sinks, others[None])[0]
    without_top = (rest * slope).sum(dim=-1, keepdim=True) - mean
    return (small / (1 - small) * (mean - slope)).scatter(-1, top, without_top)


@torch.inference_mode(False)  # the weights recorded here are later used in a backward pass
@torch.no_grad()
def gaps(
    reader: Reader,
    trace: Trace,
    heads: Sequence[tuple[Site, int]],
    edits: RunEdits | None = None,
    objective: Objective | None = None,
) -> list[Gap]:
    """Return, for each of these heads, why its true effect differs from the estimate.

    Each head is removed in two runs. In the second one the weights of all heads are held fixed, so
    that only norms and feed-forward layers can make a gap. From both runs, the objective is also
    computed as if it were linear in the logits, which leaves out the output's softmax. Raises
    ValueError as `estimated_removals` does.
    """
    objective, edits, whole = asked(reader, trace, objective), dict(edits or {}), Looks()
    logits = rows_of(reader.rerun(trace, Run(edits, whole)), objective)
    held = edits | {
        site: replace(edits.get(site, AS_TRAINED), weights=looks)
        for site, looks in whole.looks.items()
    }
    free, fixed = (estimated_removals(reader, trace, each, objective) for each in (edits, held))
    results = []
    for site, head in heads:
        true, straight = removed(reader, trace, (site, head), edits, objective, logits)
        _, bent = removed(reader, trace, (site, head), held, objective, logits)
        inside = straight - free[site][head].item()
        rest = bent - fixed[site][head].item()
        sharpness = whole.looks[site][head].amax(dim=-1).float().mean().item()
        results.append(Gap(true - straight, inside - rest, rest, sharpness))
    return results


def removed(
    reader: Reader,
    trace: Trace,
    head: tuple[Site, int],
    edits: RunEdits,
    objective: Objective,
    logits: Tensor,
) -> tuple[float, float]:
    """Return an objective's change without a head: the true one, and one linear in the logits.

    `logits` (N, V) are those of the objective's rows before the removal.
    """
    without = reader.rerun(trace, Run(without_each_head(edits, [head], reader.shape)))
    ids = torch.tensor(objective.ids, device=logits.device)[:, None]  # (N, 1)
    before = logits.log_softmax(dim=-1)
    after = rows_of(without, objective)
    # Tokens that can never be written have -inf before and after: they do not change.
    change = (after - logits).nan_to_num(nan=0.0)
    straight = change.gather(-1, ids).sum()
    if objective.is_score:  # the numbers in the rows themselves are measured, without a softmax
        return straight.item(), straight.item()
    true = (after.log_softmax(dim=-1) - before).gather(-1, ids).sum()
    straight = straight - (before.exp() * change).sum()
    return true.item(), straight.item()


def rows_of(logits: Tensor, objective: Objective) -> Tensor:
    """Return the rows (N, V) of logits (1, T, V) that an objective reads, in double precision."""
    return precise(logits[0, list(objective.rows)])


def asked(reader: Reader, trace: Trace, objective: Objective | None) -> Objective:
    """Return the given objective or the reader's own; raises ValueError without one.

    Also raises ValueError if a run over the trace's tokens is too large for a backward pass.
    """
    objective = objective or reader.objective(trace)
    if objective is None:
        raise ValueError(NOTHING_TO_MEASURE)
    heads = (reader.shape.heads(site.kind) for site in reader.shape.sites)
    sizes = (
        len(trace.query_tokens(site)) * len(trace.key_tokens(site)) for site in reader.shape.sites
    )
    if sum(map(int.__mul__, heads, sizes)) > MOST_WEIGHTS:
        raise ValueError(TOO_LONG)
    return objective


@contextmanager
def differentiating() -> Iterator[None]:
    """A context with gradients; it raises ValueError if the model does not support gradients."""
    try:
        with torch.inference_mode(False), torch.enable_grad():
            yield
    except RuntimeError as error:
        raise ValueError(NO_GRADIENT.format(why=first_line(error))) from error


def gradients(score: Tensor, of: list[Tensor], *, again: bool = False) -> Sequence[Tensor]:
    """Return the gradients of a score for the tensors `of`; raises ValueError if one is not finite.

    With `again`, the gradients of another score of the same run can be computed later.
    """
    slopes = torch.autograd.grad(
        score, of, retain_graph=again, allow_unused=True, materialize_grads=True
    )
    if not all(gradient.isfinite().all() for gradient in slopes):
        raise ValueError(NO_GRADIENT.format(why="it is not finite on this text."))
    return slopes
