"""The residual stream from block to block: its length, and what it would already predict."""

from dataclasses import dataclass

import torch
from torch import Tensor

from model.trace import Block, Side, Trace
from model.transformer import Transformer

PARTS = {"self": "self-attention", "cross": "cross-attention", "feed_forward": "feed-forward"}


@dataclass(frozen=True)
class LensTable:
    """The output layer's predictions from the decoder's stream after the embedding and each layer.

    L counts the embedding and the layers; column t reads the target's token t and predicts the next
    one.
    """

    labels: tuple[str, ...]  # (L,)
    ids: Tensor  # (L, T, top): the most likely tokens, best first
    probabilities: Tensor  # (L, T, top)
    ranks: Tensor  # (L, T): from 1, of the token that is the most likely in the end


@torch.inference_mode()
def lens(model: Transformer, trace: Trace, top: int = 3) -> LensTable:
    """Return the logit lens: the decoder's final norm and output layer after every layer.

    The last row is what the trace recorded. Earlier layers were not trained to be read in this way:
    a row only shows what the stream holds in the output's directions.
    Source: nostalgebraist 2020, "interpreting GPT: the logit lens".
    """
    layers = range(model.config.decoder_layers)
    stream = [trace.embedding["decoder"].states] + [
        trace.residual[Block("decoder", layer, "feed_forward")].outputs for layer in layers
    ]
    earlier = [model.output(model.decoder.norm(states)) for states in stream[:-1]]
    logits = torch.cat([*earlier, trace.logits])  # (L, T, V)
    answers = logits[-1].argmax(dim=-1)  # (T,)
    of_answers = logits.gather(-1, answers.expand(len(logits), -1)[..., None])  # (L, T, 1)
    best = logits.softmax(dim=-1).topk(min(top, logits.size(-1)), dim=-1)
    return LensTable(
        labels=("embedding", *(f"layer {layer + 1}" for layer in layers)),
        ids=best.indices,
        probabilities=best.values,
        ranks=(logits > of_answers).sum(dim=-1) + 1,
    )


@torch.inference_mode()
def stream_norms(trace: Trace, side: Side) -> list[tuple[str, Tensor]]:
    """Return the lengths of the vectors in the residual stream, block by block: (T,) each."""
    norms = [("embedding", trace.embedding[side].states[0].norm(dim=-1))]
    for block, record in trace.residual.items():  # in the order computed
        if block.side == side:
            label = f"layer {block.layer + 1} {PARTS[block.part]}"
            norms.append((label, record.outputs[0].norm(dim=-1)))
    return norms
