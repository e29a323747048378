"""The cases `write` of bench.library: with and without keeping the attention of every step.

Models of transformers with random weights write equally many tokens with a key-value cache. Ours
keeps the weights of every head at every step, and makes the text and the tree of steps. The peer is
the library's own `generate` with fused attention (sdpa), which keeps nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tokenizers
import torch
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    MarianConfig,
    MarianMTModel,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from bench.report import Case, compare_times
from headlight.model.decoding.strategies import Strategy
from headlight.model.library.attachment import attach
from headlight.model.library.piece_tokenizer import PieceTokenizer
from headlight.model.library.writing import Writer
from headlight.model.questions import Request

VOCABULARY, NEW_TOKENS, BEAM = 32_000, 40, 4
TEXT = "The blue car is faster than the red car, because it is not as old."


def decoder() -> PreTrainedModel:
    return GPT2LMHeadModel(
        GPT2Config(vocab_size=VOCABULARY, n_layer=6, bos_token_id=0, eos_token_id=None)
    )


def encoder_decoder() -> PreTrainedModel:
    """Return an encoder-decoder of the size of common translators."""
    config = MarianConfig(
        vocab_size=VOCABULARY,
        d_model=512,
        encoder_layers=6,
        decoder_layers=6,
        encoder_attention_heads=8,
        decoder_attention_heads=8,
        encoder_ffn_dim=2_048,
        decoder_ffn_dim=2_048,
        pad_token_id=0,
        decoder_start_token_id=0,
        forced_eos_token_id=None,
    )
    return MarianMTModel(config)


MODELS = {"decoder": decoder, "encoder-decoder": encoder_decoder}


def byte_tokenizer() -> PieceTokenizer:
    """Return a tokenizer whose pieces are bytes, which is enough for random models."""
    pieces = ["<pad>", *sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())]
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    backend = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, []))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = tokenizers.decoders.ByteLevel()
    return PieceTokenizer(PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>"), 512)


def writing_cases() -> Iterator[Case]:
    """Yield a case each for greedy decoding and a beam, for both kinds of models."""
    for name, make in MODELS.items():
        torch.manual_seed(0)
        watched, fused = make().eval(), make().eval()
        fused.load_state_dict(watched.state_dict())
        for model in (watched, fused):
            model.generation_config.eos_token_id = None  # so that no token ends a text
        tokens = byte_tokenizer()
        ids = torch.tensor([[piece.id for piece in tokens.read(TEXT)]])
        inputs = {"input_ids": ids}
        if watched.config.is_encoder_decoder:
            inputs["decoder_input_ids"] = ids
        watched.set_attn_implementation("eager")
        writer = Writer(watched, tokens, attach(watched, inputs, name))

        for beams in (1, BEAM):
            strategy = Strategy("beam", beam_size=beams) if beams > 1 else Strategy()

            def ours(writer: Writer = writer, strategy: Strategy = strategy) -> None:
                decoding = writer.write(Request(TEXT), strategy, longest=NEW_TOKENS)
                assert len(decoding) == NEW_TOKENS

            def theirs(model: Any = fused, ids: torch.Tensor = ids, beams: int = beams) -> None:
                model.generate(
                    ids,
                    attention_mask=torch.ones_like(ids),
                    max_new_tokens=NEW_TOKENS,
                    num_beams=beams,
                    do_sample=False,
                )

            case = f"write {name}" if beams == 1 else f"write {name}, beam {beams}"
            yield compare_times(case, ours, theirs, rounds=10)
