"""Why one weight is what it is: five views of what one query of one head takes from its keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F

from model.attention import fit_cells
from model.insight.weight import Weight
from model.library.bert import Bert
from model.sequences import token_ids
from model.tokens import END_ID, SPECIAL_TOKENS, Token
from model.trace import Kind, Run, Site, Trace
from model.transformer import Transformer

NOTES = {
    "weights": "The share of this key's value in what the head takes; it does not say how large "
    "that value is, nor whether anything later uses it.",
    "value_norms": "The length of the vector that this key adds to the stream, its weight times "
    "its value after the output projection; it does not say whether the vectors of several keys "
    "or heads cancel, nor whether anything later uses them.",
    "gradient_times_attention": "How fast the log-probability would change with this weight, times "
    "the weight; it holds for small changes of the weight alone, not for taking it away.",
    "rollout": "How much of each token would be mixed in by now if every layer were half mean "
    "attention and half residual stream; it is the same for every head, and does not look at "
    "values, feed-forward layers or the output.",
    "removals": "The change of the log-probability with this cell closed, the other keys taking "
    "over its weight; it does not say what cells do together, so the changes do not add up.",
}
ROWS_AT_ONCE = 16  # bounds the memory that the removals take on long sentences


@dataclass(frozen=True)
class Objective:
    """The log-probability that an effect is measured on: of `tokens`, each after a decoder row."""

    rows: tuple[int, ...]  # (N,)
    tokens: tuple[Token, ...]  # (N,)
    description: str


@dataclass(frozen=True)
class Explanation:
    """One query's keys seen in five ways, each (K,); NOTES says what each does not say.

    `gradient_times_attention` and `removals` are in nats of the objective; `weights` and `rollout`
    are shares of 1; `value_norms` are lengths in the residual stream. What was not asked for, or
    has no objective, is None.
    """

    weights: Tensor
    value_norms: Tensor
    gradient_times_attention: Tensor | None
    rollout: Tensor
    removals: Tensor | None
    objective: Objective | None


def explain(weight: Weight, objective: Objective | None, *, close: bool = True) -> Explanation:
    """Return what a query takes from each key, in five ways.

    The effects are on an objective; without one there are none. Unless asked to `close` every cell
    in turn, which takes a run for each key, there are no removals.
    """
    return Explanation(
        weights=weight.row,
        value_norms=contributions(weight).norm(dim=-1),
        gradient_times_attention=gradient_times_attention(weight, objective) if objective else None,
        rollout=rollout(weight.run.trace, weight.site)[weight.query],
        removals=removals(weight, objective) if objective and close else None,
        objective=objective,
    )


def masked_words(trace: Trace, text: Sequence[Token]) -> Objective | None:
    """Return what to explain in a BERT: the tokens of a text that a trace read as [MASK].

    None if nothing was masked.
    """
    rows = [
        row
        for row, (read, written) in enumerate(zip(trace.source_tokens, text, strict=True))
        if read.id != written.id
    ]
    if not rows:
        return None
    tokens = tuple(text[row] for row in rows)
    return Objective(tuple(rows), tokens, "the log-probability of the masked words")


def choose_objective(trace: Trace, site: Site, query: int, target: int | None = None) -> Objective:
    """Return what to explain: the token written after decoder row `target`.

    Without one, it is the token written after the query, or the whole target if nothing is: for
    a query of the encoder or of padding. Raises ValueError for a row after which nothing is
    written.
    """
    following = trace.following_tokens(Token(END_ID, SPECIAL_TOKENS[END_ID], 0, 0))
    if target is None and (site.kind == "encoder" or query >= len(following)):
        return Objective(
            tuple(range(len(following))),
            tuple(following),
            "the log-probability of the whole target",
        )
    row = query if target is None else target
    if not 0 <= row < len(following):
        raise ValueError(
            f"No token is written after row {row} of {len(following)}; choose an earlier row."
        )
    description = (
        "the log-probability of the token written after this query"
        if target is None
        else f"the log-probability of token {row + 1} of the target"
    )
    return Objective((row,), (following[row],), description)


def log_probability(
    model: Transformer | Bert, trace: Trace, objective: Objective, run: Run
) -> Tensor:
    """Return the objective (B,), in nats, in another run over a trace's tokens.

    The batch is as wide as the run's edits make it.
    """
    logits = logits_at(model, trace, objective.rows, run)  # (B, N, V)
    chosen = torch.tensor([token.id for token in objective.tokens], device=logits.device)
    chosen = chosen[None, :, None].expand(len(logits), -1, 1)  # (B, N, 1)
    return logits.log_softmax(dim=-1).gather(-1, chosen).sum(dim=(1, 2))


def logits_at(model: Transformer | Bert, trace: Trace, rows: Sequence[int], run: Run) -> Tensor:
    """Return the logits (B, N, V) after these rows in a run over a trace's tokens."""
    if isinstance(model, Bert):
        return model.head(model(*model.inputs(trace.source_tokens), run)[:, list(rows)])
    source_ids = token_ids(trace.source_tokens, model.device)
    target_ids = token_ids(trace.target_tokens, model.device)
    memory = model.encode(source_ids, run)  # (B, S, d_model)
    states = model.decoder(
        target_ids, memory, model.target_mask(target_ids, run), model.source_mask(source_ids), run
    )  # (B, T, d_model)
    # Not by the output layer itself: one laid out for decoding has no gradient.
    return F.linear(states[:, list(rows)], model.output.weight)


@torch.inference_mode()
def contributions(weight: Weight) -> Tensor:
    """Return what each key adds to the query's residual stream through one head: (K, d_model).

    It is gate x weight x value, after the head's own slice of the output projection. Over all keys
    and heads, and with the projection's bias, these add up to what the block computed.
    Source: Kobayashi et al. 2020, "Attention is Not Only a Weight", section 3.
    """
    value = weight.record.value[0, weight.head]  # (K, D)
    columns = weight.attention.output.weight.split(value.size(-1), dim=1)[weight.head]
    return weight.gate * weight.row[:, None] * (value @ columns.T)  # (K, d_model)


def gradient_times_attention(weight: Weight, objective: Objective) -> Tensor:
    """Return the objective's gradient for each weight, times the weight: (K,), in nats.

    A head is gate x weights @ value, so the gradient of a weight is the gate times the product of
    the head's gradient and the key's value; the same run made again with gradients gives it. A
    weight moves on its own here: the others do not make up for it.
    """
    network, trace, changes = weight.run.network, weight.run.trace, weight.run.changes
    with torch.inference_mode(False), torch.enable_grad():
        # A gate that wants a gradient brings the head into the graph, whatever the parameters want.
        gates = weight.gates.clone().requires_grad_()
        again = Trace()
        run = Run({**changes, weight.site: replace(weight.edit, gate=gates)}, again)
        result = log_probability(network, trace, objective, run).sum()
        record = again.attention[weight.site]
        (gradient,) = torch.autograd.grad(result, record.heads)  # (1, H, Q, D)
    toward = record.value[0, weight.head].detach() @ gradient[0, weight.head, weight.query]  # (K,)
    return weight.gate * toward * weight.row


@torch.inference_mode()
def rollout(trace: Trace, site: Site) -> Tensor:
    """Return attention rollout up to a site, the layers' mixing multiplied: (Q, K), rows sum to 1.

    A layer mixes by half its weights, their mean over heads, and half the identity for the residual
    connection. At an encoder or decoder site these are multiplied from the first layer up to this
    one; the decoder's own leave its attention to the source out. At a cross site it is this
    layer's mean weights times the whole encoder's rollout, so that its columns are the source's
    tokens; a row that sees nothing stays 0. Gates of heads do not count.
    Source: Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3.
    """
    if site.kind == "cross":
        return trace.attention[site].weights[0].mean(dim=0) @ rolled_out(trace, "encoder")
    return rolled_out(trace, site.kind, site.layer + 1)


def rolled_out(trace: Trace, kind: Kind, layers: int | None = None) -> Tensor:
    """Return the first layers' mixing multiplied, or all layers': (T, T)."""
    sites = sorted(site for site in trace.attention if site.kind == kind)[:layers]
    weights = [trace.attention[site].weights[0].mean(dim=0) for site in sites]  # each (T, T)
    identity = torch.eye(len(weights[0]), device=weights[0].device)
    mixed = identity
    for layer in weights:
        step = 0.5 * layer + 0.5 * identity
        # The row of a query that sees nothing is the residual stream alone.
        mixed = step / step.sum(dim=-1, keepdim=True) @ mixed
    return mixed


@torch.inference_mode()
def removals(weight: Weight, objective: Objective) -> Tensor:
    """Return the objective's change with each cell of the query closed, alone: (K,), in nats.

    Closing comes before the softmax, so the row's other keys take over the weight; below 0 means
    that the cell helped. Cells that are closed already are exactly 0.
    """
    network, trace, changes = weight.run.network, weight.run.trace, weight.run.changes
    record, edit = weight.record, weight.edit
    _, heads, queries, keys = record.weights.shape
    closed = torch.zeros(heads, queries, keys, dtype=torch.bool)
    if edit.block is not None:
        closed = closed | fit_cells(edit.block.cpu(), 0, queries, keys)
    visible = record.masked_scores[0, weight.head, weight.query].isfinite().nonzero()[:, 0]
    effects = torch.zeros_like(weight.row)
    whole = log_probability(network, trace, objective, Run(changes))  # (1,)
    for start in range(0, len(visible), ROWS_AT_ONCE):
        chosen = visible[start : start + ROWS_AT_ONCE]
        block = closed.repeat(len(chosen), 1, 1, 1)  # (B, H, Q, K), a row for each key
        block[torch.arange(len(chosen)), weight.head, weight.query, chosen.cpu()] = True
        run = Run({**changes, weight.site: replace(edit, block=block)})
        effects[chosen] = log_probability(network, trace, objective, run) - whole
    return effects
