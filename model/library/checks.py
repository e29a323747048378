"""Checks of a model's tokenizer and layers on a text, so that each fault becomes a sentence."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from torch import Tensor, nn

from headlight.model.library.hub import LoadingError, first_line
from headlight.model.trace import Trace

PANIC = "PanicException"  # Rust's panics; the class is no Exception, and cannot be imported


class TokenizerError(ValueError):
    """A tokenizer failed on a text."""


@contextmanager
def tokenizing() -> Iterator[None]:
    """Raise TokenizerError for any failure of a tokenizer in this block."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != PANIC:
            raise
        raise TokenizerError(
            f"The tokenizer of this model cannot read this text: {first_line(error)} Change the "
            "text, or choose another model."
        ) from error


def check_ids(ids: Sequence[int], known: int) -> None:
    """Raise ValueError if a tokenizer gave an id that a model of `known` tokens lacks."""
    if ids and not 0 <= min(ids) <= max(ids) < known:
        raise ValueError(
            f"The tokenizer of this model makes the token {max(ids):,} of this text, but the model "
            f"knows {known:,}. Change the text, or choose another model."
        )


def check_weights(model: nn.Module) -> None:
    """Raise LoadingError if a weight of a model is infinite or not a number."""
    for name, weight in model.named_parameters():
        if not are_numbers(weight):
            raise LoadingError(
                f"Weights of this model are infinite or not a number, such as {name}. Download or "
                "save it again, or choose another model."
            )


def check_numbers(trace: Trace) -> None:
    """Raise ValueError if a model's results on a text are infinite or not a number."""
    states = trace.outputs.values()
    logits = trace.logits
    if not all(map(are_numbers, states)) or (
        # A model rules tokens out by minus infinity.
        logits is not None and logits.numel() and not bool(logits.max() < math.inf)
    ):
        raise ValueError(
            "What this model computes of this text is infinite or not a number. Change the text, "
            "or choose another model."
        )


def are_numbers(numbers: Tensor) -> bool:
    """Return whether all numbers are finite, without making a copy of them."""
    return not numbers.numel() or bool((numbers.max() - numbers.min()).isfinite())
