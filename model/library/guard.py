"""What a model brought along is run so that it ends, and in a sentence if it goes wrong."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from torch import Tensor

from model.library.hub import first_line
from model.trace import Trace

PANIC = "PanicException"  # how Rust gives up; it is no Exception, and cannot be imported
TEMPLATE_SECONDS = 5.0
MOST_PER_CHARACTER = 100  # tokens; a character is at most 18 others of 4 bytes


class TokenizerError(ValueError):
    """A tokenizer gave up, instead of making tokens of a text."""


@contextmanager
def tokenizing() -> Iterator[None]:
    """Raise TokenizerError for whatever a tokenizer gives up with in this block."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != PANIC:
            raise
        raise TokenizerError(
            f"The tokenizer of this model cannot read this text: {first_line(error)} Change the "
            "text, or choose another model."
        ) from error


def check_ids(ids: Sequence[int], known: int, most: int) -> None:
    """Raise ValueError if a tokenizer gave ids that its model, which knows so many, does not have.

    Nor may there be more than `most` of them.
    """
    if len(ids) > most:
        raise ValueError(
            f"The tokenizer of this model makes {len(ids):,} tokens of this text, of which at most "
            f"{most:,} could be read. Change the text, or choose another model."
        )
    if ids and not 0 <= min(ids) <= max(ids) < known:
        raise ValueError(
            f"The tokenizer of this model makes the token {max(ids):,} of this text, but the model "
            f"knows {known:,}. Change the text, or choose another model."
        )


def most_tokens(texts: Sequence[str]) -> int:
    """Return how many tokens texts can have at most, with what stands around them."""
    return 1_000 + MOST_PER_CHARACTER * sum(map(len, texts))


def check_numbers(trace: Trace) -> None:
    """Raise ValueError if what a model made of a text is infinite or not a number."""
    states = trace.outputs.values()
    logits = trace.logits
    if not all(map(are_numbers, states)) or (
        # Minus infinity is how a model rules a token out.
        logits is not None and logits.numel() and not bool(logits.max() < math.inf)
    ):
        raise ValueError(
            "What this model computes of this text is infinite or not a number. Change the text, "
            "or choose another model."
        )


def are_numbers(numbers: Tensor) -> bool:
    """Return whether none of these is infinite or not a number, without a copy of them."""
    return not numbers.numel() or bool((numbers.max() - numbers.min()).isfinite())


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TimeoutError if the Python code called in this block takes longer.

    A line of it that does not end by itself is not interrupted.
    """
    end = time.monotonic() + seconds

    def watch(frame: FrameType, event: str, argument: object) -> object:
        if time.monotonic() > end:
            raise TimeoutError(f"It was not done after {seconds:g} seconds.")
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        yield
    finally:
        sys.settrace(before)
