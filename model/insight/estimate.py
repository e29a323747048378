"""The effect of a head or a cell estimated by one backward pass, and its gap to the true effect."""

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

MOST_WEIGHTS = 2**26  # of all heads; a backward pass keeps them all
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

    The first three sum to the true effect minus the estimated one.
    """

    output: float  # the curvature of the output's softmax
    attention: float  # the part that vanishes if the weights of all heads are held
    rest: float  # norms and feed-forward layers
    sharpness: float  # the largest weight of the head's rows, in the mean: 1 for one key each


@dataclass
class Looks(Trace):
    """The weights of a run, without the other stages."""

    looks: dict[Site, Tensor] = field(default_factory=dict)  # (H, Q, K)

    def record(self, site: Site, record: AttentionRecord) -> None:
        self.looks[site] = record.weights[0]


def estimated_removals(
    reader: Reader,
    trace: Trace,
    edits: RunEdits | None = None,
    objective: Objective | None = None,
) -> dict[Site, Tensor]:
    """Return the change of an objective without each head (H,), in nats, estimated by its slope.

    One backward pass serves all heads: the change of a head's gate to 0, times the objective's
    gradient for the gate. `head_removals` measures the true change, with the same arguments and
    errors. Also raises ValueError for a model or a text without gradients.

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
    """Return the change of an objective with each cell of a site closed (H, Q, K), by its slope.

    A closed cell's weight goes to the other keys of its row. The estimate is the exact change of
    the whole row times the objective's gradient for the weights, summed. (The gradient for the
    score, times a change to −∞, would be no estimate.) Closed cells are NaN. `cell_removals`
    measures the true change. Raises ValueError as `estimated_removals` does.
    """
    objective, edits = asked(reader, trace, objective), edits or {}
    edit, kept = edits.get(site, AS_TRAINED), Trace(full=[site])
    with torch.inference_mode():
        reader.rerun(trace, Run(edits, kept))
    record = kept.attention[site]
    closed = record.masked_scores[0].isneginf()
    if edit.weights is not None:  # they do not come from scores that could be closed
        return torch.zeros_like(record.weights[0]).masked_fill(closed, torch.nan)
    with differentiating():
        weights = record.weights[0].detach().clone().requires_grad_()
        changed = {**edits, site: replace(edit, weights=weights)}
        score = log_probability(reader, trace, objective, Run(changed)).sum()
        (slope,) = gradients(score, [weights])
    return closing_each(record, slope.detach()).masked_fill(closed, torch.nan)


def closing_each(record: AttentionRecord, slope: Tensor) -> Tensor:
    """Return the slope (H, Q, K) times the change of a row when each of its cells is closed.

    Without a key of weight w the others are 1 / (1 - w) times as large. If the largest weight is
    too near to 1 for that division, the softmax of the other scores is computed instead.
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


@torch.inference_mode(False)  # held tensors take part in gradients
@torch.no_grad()
def gaps(
    reader: Reader,
    trace: Trace,
    heads: Sequence[tuple[Site, int]],
    edits: RunEdits | None = None,
    objective: Objective | None = None,
) -> list[Gap]:
    """Return where the true removal of each of some heads differs from its estimate.

    Each head is removed twice: once to see how the logits would change the objective if the
    log-probability were linear in them, and once with the weights of all heads held as they were,
    so that only norms and feed-forward layers change. Raises ValueError as `estimated_removals`
    does.
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
    """Return the change of an objective without a head, and its linear estimate from the logits.

    `logits` (N, V) are those of the objective's rows with the head.
    """
    without = reader.rerun(trace, Run(without_each_head(edits, [head], reader.shape)))
    ids = torch.tensor(objective.ids, device=logits.device)[:, None]  # (N, 1)
    before = logits.log_softmax(dim=-1)
    after = rows_of(without, objective)
    change = (after - logits).nan_to_num(nan=0.0)  # of tokens that can never be written
    straight = change.gather(-1, ids).sum()
    if objective.is_score:  # no softmax follows
        return straight.item(), straight.item()
    true = (after.log_softmax(dim=-1) - before).gather(-1, ids).sum()
    straight = straight - (before.exp() * change).sum()
    return true.item(), straight.item()


def rows_of(logits: Tensor, objective: Objective) -> Tensor:
    """Return an objective's rows (N, V) of logits (1, T, V), in double precision."""
    return precise(logits[0, list(objective.rows)])


def asked(reader: Reader, trace: Trace, objective: Objective | None) -> Objective:
    """Return the objective of estimates; raises ValueError if none, or if runs are too large."""
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
    """Enable gradients; raises ValueError with a sentence if a model does not support them."""
    try:
        with torch.inference_mode(False), torch.enable_grad():
            yield
    except RuntimeError as error:
        raise ValueError(NO_GRADIENT.format(why=first_line(error))) from error


def gradients(score: Tensor, of: list[Tensor], *, again: bool = False) -> Sequence[Tensor]:
    """Return the gradients of a score; raises ValueError unless they are numbers.

    Those of another score of the same run can be taken `again`.
    """
    slopes = torch.autograd.grad(
        score, of, retain_graph=again, allow_unused=True, materialize_grads=True
    )
    if not all(gradient.isfinite().all() for gradient in slopes):
        raise ValueError(NO_GRADIENT.format(why="it is not finite on this text."))
    return slopes
