"""python -m bench.decoding: tokens per second against transformers, and what the cache saves.

Both decode the same number of tokens from a source of the same length, with models of the same
sizes and random weights. The end token is suppressed, and the attention of every step is returned.
A step of one text reads every weight of the decoder once. The peer's weights take 19 MB, and
reading them bounds its speed. Our weights take half of that: they are kept in half precision,
without loss as in the shipped models.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from transformers import MarianConfig, MarianMTModel

from bench.performance import meaning, page_options, publish
from bench.report import Case, compare_times
from headlight.model.decoding.prefixes import NEVER_WRITTEN
from headlight.model.decoding.search import Expansion, decode
from headlight.model.decoding.strategies import Strategy
from headlight.model.memory_layout import lay_out, pack
from headlight.model.tokens import END_ID, PAD_ID, START_ID
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.transformer import Transformer

VOCABULARY, D_MODEL, HEADS, LAYERS, D_FF = 8_000, 256, 8, 3, 1_024
SOURCE_TOKENS, NEW_TOKENS = 20, 40
BEAM = 4
# The end token is never written, so both models write equally many tokens.
SUPPRESSED = (*NEVER_WRITTEN, END_ID)


def our_model() -> Transformer:
    """Return a model of this project with random weights, laid out in memory as `load` does.

    As in the shipped models, the weights are numbers that half precision represents exactly.
    """
    sizes = (D_MODEL, HEADS, LAYERS, LAYERS, D_FF)
    model = Transformer(TransformerConfig(VOCABULARY, VOCABULARY, *sizes)).eval()
    return pack(lay_out(model.half().float()))


def their_model() -> MarianMTModel:
    """Return a transformers model of the same sizes as ours, with eager attention."""
    config = MarianConfig(
        vocab_size=VOCABULARY,
        d_model=D_MODEL,
        encoder_layers=LAYERS,
        decoder_layers=LAYERS,
        encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS,
        encoder_ffn_dim=D_FF,
        decoder_ffn_dim=D_FF,
        pad_token_id=PAD_ID,
        bos_token_id=START_ID,
        decoder_start_token_id=START_ID,
        eos_token_id=END_ID,
        forced_eos_token_id=None,
        attn_implementation="eager",  # pyright: ignore[reportCallIssue]
    )
    return MarianMTModel(config).eval()


def ours(model: Transformer, source_ids: torch.Tensor, beams: int) -> Callable[[], None]:
    """Return a function that decodes with this project and keeps the attention of every step."""
    strategy = Strategy("beam", beam_size=beams) if beams > 1 else Strategy()

    def run() -> None:
        steps: list[Expansion] = []
        (decoded,) = decode(
            model,
            source_ids,
            strategy,
            max_new_tokens=NEW_TOKENS,
            never_written=SUPPRESSED,
            record=steps,
        )
        assert len(decoded.ids) == NEW_TOKENS == len(steps)

    return run


def theirs(model: MarianMTModel, source_ids: torch.Tensor, beams: int) -> Callable[[], None]:
    """Return a function that decodes with transformers and keeps the attention of every step."""

    @torch.inference_mode()
    def run() -> None:
        written = model.generate(  # pyright: ignore[reportAttributeAccessIssue]
            source_ids,
            attention_mask=torch.ones_like(source_ids),
            num_beams=beams,
            do_sample=False,
            min_new_tokens=NEW_TOKENS,
            max_new_tokens=NEW_TOKENS,
            output_attentions=True,
            return_dict_in_generate=True,
        )
        assert written.sequences.size(1) == NEW_TOKENS + 1
        assert len(written.cross_attentions) == NEW_TOKENS

    return run


def without_cache(model: Transformer, source_ids: torch.Tensor) -> Callable[[], None]:
    """Return a function that decodes greedily and reads the whole text again for each token."""

    @torch.inference_mode()
    def run() -> None:
        memory, mask = model.encode(source_ids), model.source_mask(source_ids)
        ids = torch.full((1, 1), START_ID)
        for _ in range(NEW_TOKENS):
            logits = model.decode(ids, memory, mask)[:, -1]
            logits[:, SUPPRESSED] = -torch.inf
            ids = torch.cat([ids, logits.argmax(dim=-1, keepdim=True)], dim=1)

    return run


def speed(case: Case) -> Case:
    """Convert a case from milliseconds to tokens a second; more is better."""
    ours, peer = (1_000 * NEW_TOKENS / time for time in (case.ours, case.peer))
    return Case(case.case, ours, peer, "tokens/s", ours / peer)


def main() -> None:
    """Measure and report."""
    options = page_options().parse_args()
    torch.manual_seed(0)
    model, peer = our_model(), their_model()
    source_ids = torch.randint(len(SUPPRESSED), VOCABULARY, (1, SOURCE_TOKENS))
    cases = {
        "greedy": (ours(model, source_ids, 1), theirs(peer, source_ids, 1)),
        f"beam {BEAM}": (ours(model, source_ids, BEAM), theirs(peer, source_ids, BEAM)),
        "greedy, cache against none": (
            ours(model, source_ids, 1),
            without_cache(model, source_ids),
        ),
    }
    results = [speed(compare_times(name, *pair)) for name, pair in cases.items()]
    publish(results, options, "Writing", meaning(__doc__))


if __name__ == "__main__":
    main()
