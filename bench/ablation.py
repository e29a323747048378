"""python -m bench.ablation: the time to remove every head in turn, against one traced run.

The shipped model reads 20 source tokens and 20 target tokens, and computes how likely the target is
without each of its heads. The peer is one run over the same tokens that records everything. The
note gives the arithmetic operations of the removals as a multiple of the peer's. More than half of
them are the output layer's: every removal changes all positions, and each position has a logit for
every entry of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from bench.performance import meaning, page_options, publish
from bench.report import compare_times
from headlight.model.insight.ablation import head_removals
from headlight.model.linear import PackedLinear
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run
from headlight.model.translator import load

TOKENS = 20
SOURCE = (
    "My grandmother always says that the best bread in the whole town comes from the little "
    "bakery beside the old bridge."
)
TARGET = (
    "Ma grand-mère dit toujours que le meilleur pain de toute la ville vient de la petite "
    "boulangerie à côté du vieux pont."
)


def operations(call: Callable[[], object]) -> int:
    """Return the number of multiplications and additions in one call of a model."""
    with FlopCounterMode(display=False) as counter:
        call()
    return counter.get_total_flops()


def main() -> None:
    """Measure and report."""
    options = page_options().parse_args()
    translator = load("en-fr")
    source, target = (
        text[: translator.tokenizer.encode(text)[TOKENS - 2].end] for text in (SOURCE, TARGET)
    )
    trace = translator.trace(source, target)
    assert len(trace.source_tokens) == len(trace.target_tokens) == TOKENS
    heads = sum(translator.shape.heads(site.kind) for site in translator.shape.sites)

    def removals() -> list:
        return [change.tolist() for _, change in head_removals(translator, trace)]

    @torch.inference_mode()
    def traced_forward() -> float:
        return translator.rerun(trace, Run(trace=Trace()))[0, 0, 0].item()

    case = f"{heads} removals {TOKENS} tokens"
    removing = compare_times(case, removals, traced_forward)
    for layer in translator.model.modules():
        if isinstance(layer, PackedLinear):  # torch counts nothing in packed layers
            vars(layer)["forward"] = partial(nn.Linear.forward, layer)
    more = operations(removals) / operations(traced_forward)
    removing = replace(removing, note=f"{more:.0f} times the peer's operations")
    publish([removing], options, "Removing every head", meaning(__doc__))


if __name__ == "__main__":
    main()
