"""The configuration of a Transformer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class TransformerConfig:
    """All options that decide a Transformer's parameters and computation.

    `max_positions` is the most tokens of one sentence, special tokens included. With
    `tie_embeddings`, the source embedding, the target embedding and the output layer are one matrix
    ("Attention Is All You Need", section 3.4), which needs one shared vocabulary. Without
    `look_ahead_mask`, the decoder sees the tokens that it should predict, which shows why the mask
    is needed. Without encoder layers, the model is only a decoder and reads no source.
    """

    source_vocab_size: int
    target_vocab_size: int
    d_model: int = 256
    heads: int = 8
    encoder_layers: int = 3
    decoder_layers: int = 3
    d_ff: int = 1024
    dropout: float = 0.1
    norm: Literal["pre", "post"] = "pre"
    norm_epsilon: float = 1e-5
    activation: Literal["relu", "gelu"] = "relu"
    positions: Literal["sinusoidal", "learned", "none"] = "sinusoidal"
    max_positions: int = 256
    tie_embeddings: bool = True
    look_ahead_mask: bool = True
    pad_id: int = 0
