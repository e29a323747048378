"""python -m bench.bert: this project's BERT of the base size, against transformers' BertModel.

Both sides have the same random weights and ids. `traced` records every head in full, against eager
attention that returns its weights; `plain` records nothing, against fused attention (sdpa). Both
run on one thread, since several threads wait for each other on a machine with other work to do, and
both keep freed memory, as the app does.
"""

from __future__ import annotations

import torch
from transformers import BertConfig, BertModel

from bench.performance import meaning, page_options, publish
from bench.report import compare_times
from headlight.model.library.bert import Bert, our_config
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run
from headlight.pages.shared.runs.housekeeping import keep_freed_memory

TOKENS = (16, 32, 64, 128, 256, 512)


def main() -> None:
    """Measure and report."""
    options = page_options().parse_args()
    torch.set_num_threads(1)
    keep_freed_memory()
    torch.manual_seed(0)
    eager = BertModel(BertConfig(), add_pooling_layer=False).eval()
    eager.set_attn_implementation("eager")
    fused = BertModel(BertConfig(), add_pooling_layer=False).eval()
    fused.set_attn_implementation("sdpa")
    fused.load_state_dict(eager.state_dict())
    ours = Bert(eager, our_config(eager.config), head=None).eval()
    cases = []
    with torch.inference_mode():
        for tokens in TOKENS:
            ids = torch.randint(1_000, 30_000, (1, tokens))
            segments = torch.zeros_like(ids)

            def traced(ids: torch.Tensor = ids, segments: torch.Tensor = segments) -> Trace:
                trace = Trace()
                ours(ids, segments, Run(trace=trace))
                return trace

            rounds = max(8, 640 // tokens)
            cases.append(
                compare_times(
                    f"traced {tokens}",
                    traced,
                    lambda ids=ids: eager(ids, output_attentions=True),
                    rounds,
                )
            )
            cases.append(
                compare_times(
                    f"plain {tokens}",
                    lambda ids=ids, segments=segments: ours(ids, segments),
                    lambda ids=ids: fused(ids),
                    rounds,
                )
            )
    publish(cases, options, "BERT", meaning(__doc__))


if __name__ == "__main__":
    main()
