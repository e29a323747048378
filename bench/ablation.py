"""python -m bench.ablation: all single-head removals against one traced forward."""

from __future__ import annotations

import torch

from bench.report import compare_times, json_option, report
from model import Run, Trace, load
from model.insight.ablation import head_removals
from model.sequences import pad
from model.tokens import END_ID, START_ID

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
    model = translator.model
    source, target = (
        [token.id for token in translator.tokenizer.encode(text)][: TOKENS - 1]
        for text in (SOURCE, TARGET)
    )
    source_ids = pad([[*source, END_ID]]).to(model.device)  # (1, TOKENS)
    target_ids = pad([[START_ID, *target]]).to(model.device)  # (1, TOKENS)
    heads = model.config.heads * (model.config.encoder_layers + 2 * model.config.decoder_layers)

    def removals() -> list:
        return [change.tolist() for _, change in head_removals(model, source_ids, target_ids)]

    @torch.inference_mode()
    def traced_forward() -> float:
        return model(source_ids, target_ids, Run(trace=Trace()))[0, 0, 0].item()

    case = f"{heads} removals {TOKENS} tokens"
    report([compare_times(case, removals, traced_forward)], path)


if __name__ == "__main__":
    main()
