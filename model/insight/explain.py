"""Five ways to see how much a head's query takes from each key."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from headlight.model.insight.ablation import cell_removals
from headlight.model.insight.anatomy import Weight
from headlight.model.insight.scoring import log_probability
from headlight.model.questions import Objective
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Kind, Run, Site

NOTES = {
    "weights": "The share of this key's value in what the head takes; it does not say how large "
    "this value is, or whether anything later uses it.",
    "value_norms": "The length of the vector that this key adds to the stream, its weight times "
    "its value after the output projection; it does not say whether the vectors of several keys "
    "or heads cancel out, or whether anything later uses them.",
    "gradient_times_attention": "How fast the measured number would change with this weight, times "
    "the weight; it holds for small changes of only this weight, not for removing it.",
    "rollout": "How much of each token would have been mixed in so far if every layer were half "
    "mean attention and half residual stream; it is the same for every head, and ignores values, "
    "feed-forward layers and the output.",
    "removals": "How the measured number changes if this cell is closed and the other keys get its "
    "weight; cells also act together, so the changes do not add up.",
}


@dataclass(frozen=True)
class Explanation:
    """How much one query takes from each key, in five ways, each (K,); NOTES has their limits.

    `gradient_times_attention` and `removals` are in the unit of the objective; `weights` and
    `rollout` are shares of 1; `value_norms` are lengths in the residual stream. A field is None if
    it was not asked for, or if it needs an objective or an output projection that is missing.
    """

    weights: Tensor
    value_norms: Tensor | None
    gradient_times_attention: Tensor | None
    rollout: Tensor
    removals: Tensor | None
    objective: Objective | None


def explain(weight: Weight, objective: Objective | None, *, close: bool = True) -> Explanation:
    """Return how much a query takes from each key, in five ways.

    Gradients and removals need an objective. Removals are only measured with `close`, because each
    key takes a run in which its cell is closed.
    """
    vectors = contributions(weight)
    return Explanation(
        weights=weight.row,
        value_norms=None if vectors is None else vectors.norm(dim=-1),
        gradient_times_attention=(
            None if objective is None else gradient_times_attention(weight, objective)
        ),
        rollout=rollout(weight.run.trace(), weight.site)[weight.query],
        removals=removals(weight, objective) if objective and close else None,
        objective=objective,
    )


@torch.inference_mode()
def contributions(weight: Weight) -> Tensor | None:
    """Return what each key adds to the query's residual stream through one head: (K, d_model).

    This is gate · weight · value, multiplied by the head's slice of the output projection; None if
    values or projection are not known. The sum over all keys and heads, plus the projection's bias,
    is the block's output.
    Source: Kobayashi et al. 2020, "Attention is Not Only a Weight", section 3.
    """
    parts = weight.run.reader.heads_to_stream(weight.site)  # (H, D, d_model)
    if parts is None or weight.record.value is None:
        return None
    value = weight.record.value[0, weight.head]  # (K, D)
    return weight.gate * weight.row[:, None] * (value @ parts[weight.head])


def gradient_times_attention(weight: Weight, objective: Objective) -> Tensor | None:
    """Return the objective's gradient for each weight, times the weight: (K,), in nats.

    A head's output is gate · weights @ value, so the gradient for a weight is the gate times the
    dot product of the output's gradient with the key's value. The run is repeated with gradients.
    The gradient is that of one weight alone, while the other weights stay as they are. None if the
    model shows no values.
    """
    reader, trace, changes = weight.run.reader, weight.run.trace(), weight.run.changes()
    if weight.record.value is None:
        return None
    with torch.inference_mode(False), torch.enable_grad():
        # The gate requires a gradient, so that the head's output has one even if no parameter does.
        gates = weight.gates.clone().requires_grad_()
        again = Trace(full=[weight.site])
        run = Run({**changes, weight.site: replace(weight.edit, gate=gates)}, again)
        result = log_probability(reader, trace, objective, run).sum()
        record = again.attention[weight.site]
        (gradient,) = torch.autograd.grad(result, record.heads)  # (1, H, Q, D)
    toward = record.value[0, weight.head].detach() @ gradient[0, weight.head, weight.query]  # (K,)
    return weight.gate * toward * weight.row


@torch.inference_mode()
def rollout(trace: Trace, site: Site) -> Tensor:
    """Return the attention rollout up to an attention block: (Q, K), rows sum to 1.

    The matrix of a layer is half its weights, averaged over heads, and half the identity, for the
    residual connection. For self-attention, the rollout is the product of these matrices from the
    first layer to this one; the decoder's leaves cross-attention out. For cross-attention, it is
    this layer's mean weights times the rollout of the whole encoder, so that its columns are the
    source's tokens; the row of a query that sees no key is 0. Gates of heads are ignored.
    Source: Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3.
    """
    if trace.kind_at(site) == "cross":
        return trace.site_weights(site).mean(dim=0) @ rolled_out(trace, "encoder")
    return rolled_out(trace, site.kind, site.layer + 1)


def rolled_out(trace: Trace, kind: Kind, layers: int | None = None) -> Tensor:
    """Return the rollout (T, T) of the first `layers` layers of a kind, or of all layers."""
    sites = sorted(site for site in {*trace.attention, *trace.overview} if site.kind == kind)
    # the mean weights of each layer: (T, T)
    weights = [trace.site_weights(site).mean(dim=0) for site in sites[:layers]]
    mixed = torch.eye(len(weights[0]), device=weights[0].device)
    for layer in weights:
        mixed = mixed_half(layer) @ mixed
    return mixed


def mixed_half(weights: Tensor) -> Tensor:
    """Return half the weights (T, T) plus half the identity, scaled so that rows sum to 1."""
    step = 0.5 * weights + 0.5 * torch.eye(len(weights), device=weights.device)
    # The scaling turns the row of a query that sees no key into that of the identity.
    return step / step.sum(dim=-1, keepdim=True)


@torch.inference_mode()
def removals(weight: Weight, objective: Objective) -> Tensor:
    """Return how the objective changes if one cell of the query is closed: (K,), in nats.

    The cell is closed before the softmax, so the other keys of the row get its weight. A change
    below 0 means that the cell helped. Cells that are already closed are exactly 0.
    """
    visible = weight.record.masked_scores[0, weight.head, weight.query].isfinite().nonzero()[:, 0]
    effects = torch.zeros_like(weight.row)
    run, cells = weight.run, [(weight.query, key) for key in visible.tolist()]
    parts = cell_removals(
        run.reader, run.trace(), weight.site, weight.head, cells, objective, run.changes()
    )
    effects[visible] = torch.cat([effects[:0], *parts])
    return effects
