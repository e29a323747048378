"""Norms before the sublayers or after the sums, with the same weights."""

from __future__ import annotations

import copy
from typing import Literal

import torch
from torch import Tensor, nn

from model.insight.lens import stream_norms
from model.layers import Residual
from model.library.bert import Bert
from model.sequences import token_ids
from model.trace import Run, RunEdits, Side, Trace
from model.transformer import Decoder, Encoder, Transformer

NORM_ORDER_NOTE = (
    "The weights were trained in one order only: the other shows what it does to the stream, "
    "not how a model trained for it would behave."
)
NormOrder = Literal["pre", "post"]


@torch.inference_mode()
def norm_orders(
    model: Transformer | Bert, trace: Trace, edits: RunEdits | None = None
) -> dict[NormOrder, dict[Side, list[tuple[str, Tensor]]]]:
    """Return `stream_norms` with the norm before each sublayer, and with the norm after it.

    The order the model was trained in comes first, and is the trace's. The other is a run of the
    same weights over the same tokens, for which NORM_ORDER_NOTE holds. `edits` are those the trace
    was made with. Source: Xiong et al. 2020, "On Layer Normalization in the Transformer
    Architecture".
    """
    trained = model.config.norm
    other: NormOrder = "post" if trained == "pre" else "pre"
    run = Run(edits or {}, Trace())
    run_in_order(model, trace, other, run)
    return {
        order: {side: stream_norms(made, side) for side in made.embedding}
        for order, made in ((trained, trace), (other, run.trace))
    }


def run_in_order(model: Transformer | Bert, trace: Trace, order: NormOrder, run: Run) -> None:
    """A run over a trace's tokens with the norms before the sublayers or after the sums."""
    if isinstance(model, Bert):
        twin_in_order(model, order)(*model.inputs(trace.source_tokens), run)
        return
    target_ids, memory, memory_mask = token_ids(trace.target_tokens, model.device), None, None
    if trace.source_tokens:
        source_ids = token_ids(trace.source_tokens, model.device)
        memory_mask = model.source_mask(source_ids)
        memory = in_order(model.encoder, order)(source_ids, memory_mask, run)
    decoder = in_order(model.decoder, order)
    decoder(target_ids, memory, model.target_mask(target_ids), memory_mask, run)


def in_order(stack: Encoder | Decoder, order: NormOrder) -> Encoder | Decoder:
    """Return a stack with the same weights, its norms before the sublayers or after the sums."""
    twin = twin_in_order(stack, order)
    # Pre-norm ends with a norm; weights that were trained without one get one without gain.
    embedding = twin.embedding.tokens.weight
    twin.norm = (
        nn.Identity()
        if order == "post"
        else nn.LayerNorm(embedding.size(1), device=embedding.device)
    )
    return twin


def twin_in_order(stack: nn.Module, order: NormOrder) -> nn.Module:
    """Return a copy with the same weights and the norms of its sublayers in this order.

    The modules are new, so that the model of all visitors stays as it is; the weights are shared.
    """
    shared = {id(tensor): tensor for tensor in (*stack.parameters(), *stack.buffers())}
    twin = copy.deepcopy(stack, shared)
    for module in twin.modules():
        if isinstance(module, Residual):
            module.norm_first = order == "pre"
    return twin
