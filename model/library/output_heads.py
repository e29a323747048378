"""The kinds of heads that map last states to logits, and what a classifier's logits mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

OutputHead = Literal["next token", "masked words", "class", "labels", "score", "tags", "span"]
OF_A_TEXT: tuple[OutputHead | None, ...] = ("class", "labels", "score")


def class_labels(config: PreTrainedConfig) -> list[str]:
    """Return the names that a config gives to its classes, labels or scores, by number."""
    labels: Any = config.id2label or {}
    return [labels[index] for index in range(len(labels))]


def classifier_head(config: PreTrainedConfig) -> OutputHead:
    """Return what a classifier of texts decides: one class, several labels, or scores."""
    if config.problem_type == "multi_label_classification":
        return "labels"
    is_score = config.problem_type == "regression" or config.num_labels == 1
    return "score" if is_score else "class"


def rows_by_text(head: OutputHead | None, logits: Tensor) -> Tensor:
    """Return the rows (B, N, V) of the logits (B, C) of a classifier of texts.

    Classes give one row (B, 1, C). Each label gives a row (B, C, 2) of 0 and the label's logit,
    because the softmax of these two is the sigmoid of the logit. Each score gives a row (B, C, 1).
    """
    if head == "labels":
        return torch.stack([torch.zeros_like(logits), logits], dim=-1)
    return logits[..., None] if head == "score" else logits[:, None]
