"""Check a model, its tokenizer and their results on a text; each error is a sentence or two."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor, nn

from headlight.model.library.hub import LoadingError, first_line
from headlight.model.trace import Trace

# By dtype, the largest difference that a watched call's outputs may have from those of an unwatched
# call, as a share of the largest output.
LARGEST = {torch.float16: 1e-2, torch.bfloat16: 5e-2}
LARGEST_OF_OTHERS = 1e-4
PANIC = "PanicException"  # the class of a panic in Rust: it is no Exception, and cannot be imported


def check_openable(model: object) -> None:
    """Raise ValueError, with a message that says what to do, if a model cannot be recorded."""
    name = type(model).__name__
    if not isinstance(model, nn.Module):
        raise ValueError(f"{name} is not a torch.nn.Module: give the model itself.")
    if hasattr(model, "_orig_mod") or model._compiled_call_impl is not None:
        raise ValueError(
            f"{name} is compiled, so its steps cannot be watched: give the model as it was before "
            "torch.compile, such as model._orig_mod."
        )
    if model.training:
        raise ValueError(
            f"{name} is in training mode, in which dropout makes every call different: call "
            "model.eval() first."
        )
    weights = [*model.parameters(), *model.buffers()]
    if any(weight.is_meta for weight in weights):
        raise ValueError(
            f"{name} has no weights yet: some are on the device meta. Load them first."
        )
    if getattr(model, "is_quantized", False) or any(map(is_quantized, model.modules())):
        raise ValueError(
            f"{name} is quantized, and its layers compute in code that cannot be watched: give the "
            "model with weights of float32, float16 or bfloat16."
        )


def is_quantized(module: nn.Module) -> bool:
    """Return whether a module stores its weights in fewer bits than it computes with."""
    by_torch = ".quantized" in type(module).__module__
    return by_torch or any(
        not weight.is_floating_point() and not weight.is_complex()
        for weight in module.parameters(recurse=False)
    )


class Differences(NamedTuple):
    """The largest difference of two outputs, the largest output, and the type of their numbers.

    `masked` is True if the unwatched output is NaN where the watched output is not. This happens
    for a query whose every key is masked: a watched call gives it weights of 0.
    """

    largest: float
    size: float
    dtype: torch.dtype
    masked: bool = False

    @classmethod
    def between(cls, watched: object, unwatched: object) -> Differences:
        """Compare the tensors in two outputs; the difference is infinite if shapes differ."""
        ours, theirs = [*tensors_in(watched)], [*tensors_in(unwatched)]
        if [part.shape for part in ours] != [part.shape for part in theirs] or not ours:
            return cls(float("inf"), 0.0, torch.float32)
        largest, size, masked = 0.0, 0.0, False
        for one, other in zip(ours, theirs, strict=True):
            same = (one == other) | (one.isnan() & other.isnan())
            apart = (one.double() - other.double()).abs().masked_fill(same, 0.0)
            finite = other.masked_fill(~other.isfinite(), 0.0).abs()
            masked |= bool((other.isnan() & ~one.isnan()).any())
            if one.numel():
                largest = max(largest, apart.nan_to_num(torch.inf).max().item())
                size = max(size, finite.max().item())
        return cls(largest, size, ours[0].dtype, masked)

    def checked(self, name: str) -> float:
        """Return the largest difference; raise ValueError if it is more than a rounding error."""
        if self.largest <= LARGEST.get(self.dtype, LARGEST_OF_OTHERS) * max(1.0, self.size):
            return self.largest
        if self.masked:
            raise ValueError(
                f"What {name} computes is not a number (NaN) for queries whose every key is "
                "masked, as by a causal mask with padding on the left, so nothing is shown. Let "
                "each query see a key, such as itself, or pad on the right."
            )
        raise ValueError(
            f"What {name} computes while it is watched differs by {self.largest:.2g} from what it "
            "computes otherwise, so nothing is shown. This happens if a model draws random "
            "numbers, or keeps a state between calls."
        )


def tensors_in(output: object) -> Iterator[Tensor]:
    """Yield the tensors of floats in an output, also those in lists, tuples and mappings in it."""
    if isinstance(output, Tensor):
        if output.is_floating_point():
            yield output
    elif isinstance(output, Mapping):
        for part in output.values():
            yield from tensors_in(part)
    elif isinstance(output, list | tuple):
        for part in output:
            yield from tensors_in(part)


class TokenizerError(ValueError):
    """Raised if a tokenizer fails on a text."""


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
    """Raise ValueError if a tokenizer gave an id that its model, with `known` tokens, lacks."""
    if ids and not 0 <= min(ids) <= max(ids) < known:
        raise ValueError(
            f"The tokenizer of this model finds the token number {max(ids):,} in this text, but "
            f"the model knows only {known:,}. Change the text, or choose another model."
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
    """Raise ValueError if a model's outputs or logits on a text are infinite or not a number."""
    states = trace.outputs.values()
    logits = trace.logits
    if not all(map(are_numbers, states)) or (
        # Logits may be minus infinity, because this is how a model rules out tokens.
        logits is not None and logits.numel() and not bool(logits.max() < math.inf)
    ):
        raise ValueError(
            "This model's results on this text are infinite or not a number. Change the text, or "
            "choose another model."
        )


def are_numbers(numbers: Tensor) -> bool:
    """Return whether all numbers of a tensor are finite, without copying the tensor."""
    return not numbers.numel() or bool((numbers.max() - numbers.min()).isfinite())
