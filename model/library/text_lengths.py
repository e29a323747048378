"""The length of the texts that a model reads, and those that are compared at loading."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from model.library.piece_tokenizer import PieceTokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

LONGEST = 512  # tokens read if a model's config names no limit, or a larger one
SHORT_TEXT = "The cat sat on the mat because it was tired."  # that attention is compared on
BEYOND = 8  # tokens of a compared text that are beyond the largest window, chunk or block
# Entries of a config for the number of tokens that are taken together.
SPANS = re.compile(
    r"\w*(window|chunk_size|chunk_length|block_size|radius|compress_rate|local_attention)\w*"
)
NO_SPANS = re.compile(r"\w*(layers|pattern|feed_forward)\w*")


def longest_text(model: PreTrainedModel) -> int:
    """Return how many tokens of a text the model is given to read."""
    config = model.config.get_text_config()
    named = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", 0)
    for place, part in model.named_modules():
        # RoBERTa's positions begin after that of padding.
        if place.endswith("position_embeddings") and getattr(part, "padding_idx", None) is not None:
            named -= part.padding_idx + 1
    longest = min(named, LONGEST) if named > 0 else LONGEST  # XLNet names -1 for no limit
    return min(longest, dense_text(config) or LONGEST)


def dense_text(config: PreTrainedConfig) -> int | None:
    """Return the number of tokens up to which BigBird attends without blocks; None for others."""
    if not hasattr(config, "num_random_blocks"):
        return None
    return (5 + 2 * config.num_random_blocks) * config.block_size


def compared_texts(model: PreTrainedModel, tokens: PieceTokenizer) -> list[dict[str, Tensor]]:
    """Return the texts on which attention is compared, as a model's inputs.

    One is short; one is longer than the model's windows, chunks and blocks, if it can read such a
    text.
    """
    spans = spans_in(model.config.get_text_config().to_dict())
    met = [span for span in spans if 1 < span < tokens.max_tokens]
    texts = [inputs_of(model, tokens, SHORT_TEXT)]
    if met:
        length = min(max(met) + BEYOND, tokens.max_tokens)
        texts.append(inputs_of(model, tokens, " ".join([SHORT_TEXT] * length), length))
    return texts


def inputs_of(
    model: PreTrainedModel, tokens: PieceTokenizer, text: str, length: int | None = None
) -> dict[str, Tensor]:
    """Return `length` tokens of a text as a model's inputs, also for its decoder if it has both."""
    ids = [piece.id for piece in tokens.read(text)][:length]
    inputs = {"input_ids": torch.tensor([ids], device=model.device)}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = inputs["input_ids"]
    return inputs


def spans_in(value: object, counts: bool = False) -> Iterator[int]:
    """Yield the widths in tokens of all windows, chunks and blocks in a part of a config."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            spans = SPANS.fullmatch(str(name)) and not NO_SPANS.fullmatch(str(name))
            yield from spans_in(part, counts or bool(spans))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from spans_in(part, counts)
    elif counts and type(value) is int:
        yield value
