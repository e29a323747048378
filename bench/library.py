"""python -m bench.library: transformers models with every head recorded, against eager attention.

The models have 12 layers with 12 heads and random weights, and read 128 tokens; the encoder-decoder
has 6 layers on each side. `traced` records queries, keys, values, scores and weights of every
attention layer, against the same model with eager attention that returns its weights. `write`
writes 40 tokens and keeps every step, against the library's own `generate`, which keeps none. Both
run on one thread, since several threads wait for each other on a machine with other work to do.
"""

from __future__ import annotations

from copy import deepcopy

import torch
from torch import Tensor
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedConfig,
    PreTrainedModel,
)

from bench.library_writing import writing_cases
from bench.report import Case, compare_times, json_option, report
from headlight.model.library.attachment import attach
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run

TOKENS, ROUNDS = 128, 12


def main() -> None:
    path = json_option()
    torch.set_num_threads(1)
    report([*traced_cases(), *writing_cases()], path)


def traced_cases() -> list[Case]:
    """Return a case for each kind of model: one pass over 128 tokens with every head recorded."""
    ids = torch.randint(1_000, 30_000, (1, TOKENS), generator=torch.Generator().manual_seed(0))
    both = {"input_ids": ids, "decoder_input_ids": ids}
    bart = BartConfig(
        d_model=768, encoder_layers=6, decoder_layers=6, encoder_attention_heads=12,
        decoder_attention_heads=12, encoder_ffn_dim=3072, decoder_ffn_dim=3072,
    )  # fmt: skip
    return [
        traced_case("decoder", GPT2LMHeadModel, GPT2Config(), {"input_ids": ids}),
        traced_case("encoder", BertForMaskedLM, BertConfig(), {"input_ids": ids}),
        traced_case("encoder-decoder", BartForConditionalGeneration, bart, both),
    ]


def traced_case(
    name: str, kind: type[PreTrainedModel], config: PreTrainedConfig, inputs: dict[str, Tensor]
) -> Case:
    """Compare the time of a recorded pass with that of eager attention that returns its weights."""
    torch.manual_seed(0)
    # Each model gets a config of its own, because the config decides how attention is computed.
    eager, ours = (kind(deepcopy(config)).eval() for _ in range(2))
    ours.load_state_dict(eager.state_dict())
    for model in (eager, ours):
        model.set_attn_implementation("eager")
    attached = attach(ours, inputs, name)

    def traced() -> Trace:
        trace = Trace()
        with attached.watching(Run(trace=trace)):
            trace.logits = ours(**inputs).logits
        return trace

    with torch.inference_mode():
        return compare_times(
            f"traced {name}", traced, lambda: eager(**inputs, output_attentions=True), ROUNDS
        )


if __name__ == "__main__":
    main()
