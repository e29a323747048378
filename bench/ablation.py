"""python -m bench.ablation: all single-head removals against one traced forward."""

from __future__ import annotations

import torch

from bench.report import compare_times, json_option, report
from model import Run, Trace, load
from model.insight.ablation import head_removals

TOKENS = 20
SOURCE = (
    "My grandmother always says that the best bread in the whole town comes from the little "
    "bakery beside the old bridge."
)
TARGET = (
    "Ma grand-mère dit toujours que le meilleur pain de toute la ville vient de la petite "
    "boulangerie à côté du vieux pont."
)


def main() -> None:
    """Measure and report."""
    path = json_option()
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
    report([compare_times(case, removals, traced_forward)], path)


if __name__ == "__main__":
    main()
