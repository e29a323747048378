"""The heads of a BERT: it fills in masked words, chooses a class, or finds an answer."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from model.config import TransformerConfig
from model.layers import activation
from model.library.answers import OutputHead
from model.linear import Linear

if TYPE_CHECKING:
    from transformers import PreTrainedConfig


class MaskedWordHead(nn.Module):
    """Maps the last hidden state of a masked token to the logits of the hidden token."""

    def __init__(self, config: TransformerConfig, tokens: nn.Embedding) -> None:
        super().__init__()
        self.inner = Linear(config.d_model, config.d_model)
        self.activation = activation(config)
        self.norm = nn.LayerNorm(config.d_model, eps=config.norm_epsilon)
        self.output = Linear(config.d_model, config.target_vocab_size)
        if config.tie_embeddings:
            self.output.weight = tokens.weight

    def forward(self, states: Tensor) -> Tensor:
        """(..., d_model) -> (..., V)."""
        return self.output(self.norm(self.activation(self.inner(states))))


class ClassHead(nn.Module):
    """Maps the last hidden state of the first token, [CLS], to the logits of a text's classes."""

    def __init__(self, config: TransformerConfig, classes: int) -> None:
        super().__init__()
        self.inner = Linear(config.d_model, config.d_model)
        self.output = Linear(config.d_model, classes)

    def forward(self, states: Tensor) -> Tensor:
        """(B, S, d_model) -> one row (B, 1, classes)."""
        return self.output(torch.tanh(self.inner(states[:, :1])))


class AnswerHead(nn.Module):
    """Maps the last hidden states to the logits of an answer's first and last position."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.output = Linear(config.d_model, 2)

    def forward(self, states: Tensor) -> Tensor:
        """(B, S, d_model) -> two rows (B, 2, S)."""
        return self.output(states).transpose(1, 2)


# Names in a checkpoint and ours.
HEAD_NAMES: dict[OutputHead, dict[str, str]] = {
    "masked words": {
        r"^cls\.predictions\.transform\.dense\.": "head.inner.",
        r"^cls\.predictions\.transform\.LayerNorm\.": "head.norm.",
        r"^cls\.predictions\.decoder\.": "head.output.",
        r"^cls\.predictions\.bias$": "head.output.bias",
    },
    "class": {r"^pooler\.dense\.": "head.inner.", r"^classifier\.": "head.output."},
    "span": {r"^qa_outputs\.": "head.output."},
}


def head_of(config: PreTrainedConfig, names: Collection[str]) -> OutputHead | None:
    """Return the head of a checkpoint, by its config and the names of its tensors.

    A classifier of texts has the same tensors as one of tokens or of choices: only the config tells
    them apart.
    """
    if "cls.predictions.transform.dense.weight" in names:
        return "masked words"
    if "qa_outputs.weight" in names:
        return "span"
    pooled = any(name.endswith("pooler.dense.weight") for name in names)
    of_texts = set(config.architectures or ()) <= {"BertForSequenceClassification"}
    return "class" if "classifier.weight" in names and pooled and of_texts else None


def build_head(
    head: OutputHead | None, config: TransformerConfig, tokens: nn.Embedding, classes: int
) -> nn.Module | None:
    """Return a head of this kind; only the masked-word head shares the embedding of the tokens."""
    match head:
        case "masked words":
            return MaskedWordHead(config, tokens)
        case "class":
            return ClassHead(config, classes)
        case "span":
            return AnswerHead(config)
    return None
