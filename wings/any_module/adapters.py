"""Recognise models with adapters, such as those of the library peft, and merge the adapters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

ROWS_AT_ONCE = 1_024  # how many rows of an identity matrix a layer reads at once
NEAR = {torch.float16: 1e-2, torch.bfloat16: 5e-2}  # allowed error, divided by the largest output
MERGE = "Merge the adapters first, with model = model.merge_and_unload(), and open that."


def held_model(model: nn.Module) -> nn.Module:
    """Return the model inside a PeftModel; return any other model unchanged.

    Raises ValueError for a PeftModel with learned prompts, because the model inside lacks them.
    """
    if not callable(get := getattr(model, "get_base_model", None)):
        return model
    held: Any = get()
    children = model.named_children()
    beside = [name for name, part in children if name != "base_model" and has_weights(part)]
    if beside:
        raise ValueError(
            f"{type(model).__name__} learned prompts beside the model that it holds ({beside[0]}), "
            "and they cannot be shown. Open a model with adapters in its layers, such as LoRA's."
        )
    return held


def has_weights(part: nn.Module) -> bool:
    """Return whether a module has weights."""
    return next(part.parameters(), None) is not None


def merge_adapters(model: nn.Module) -> nn.Module:
    """Replace each layer with adapters by one linear layer of the same outputs; return the model.

    All other layers keep their weights. Raises ValueError if a layer with adapters or the adapters
    themselves are not linear.
    """
    for name, part in [*adapted_layers(model)]:
        model.set_submodule(name, merged(part, name))
    return model


def adapted_layers(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Yield the name and the module of each layer that has adapters around its `base_layer`."""
    inside: tuple[str, ...] = ()
    for name, part in model.named_modules():
        if isinstance(getattr(part, "base_layer", None), nn.Module) and not name.startswith(inside):
            inside = (*inside, f"{name}.")
            yield name, part


@torch.no_grad()
def merged(part: nn.Module, name: str) -> nn.Linear:
    """Return one linear layer that computes the same as a layer with its adapters.

    Raises ValueError if the layer or its adapters are not linear.
    """
    base: Any = part
    while isinstance(getattr(base, "base_layer", None), nn.Module):  # adapters may be nested
        base = base.base_layer
    is_linear = issubclass(type(base), nn.Linear)
    if not is_linear and type(base).__name__ != "Conv1D":
        raise ValueError(f"The layer {name}, a {type(base).__name__}, has adapters. {MERGE}")
    size, made = base.weight.shape if not is_linear else base.weight.shape[::-1]
    like = {"device": base.weight.device, "dtype": base.weight.dtype}
    bias = base.bias
    if bias is not None:  # no bias meanwhile: small weights added to it would be rounded away
        base.bias = nn.Parameter(torch.zeros_like(bias), requires_grad=False)
    rows = [part(identity_rows(first, size, **like)) for first in range(0, size, ROWS_AT_ONCE)]
    base.bias = bias
    layer: Any = nn.Linear(size, made, bias=False, device="meta")
    layer.weight = nn.Parameter(torch.cat(rows).T.contiguous(), requires_grad=False)
    layer.bias = bias
    numbers = torch.randn(4, size, generator=torch.Generator().manual_seed(0)).to(**like)
    expected, found = part(numbers), layer(numbers)
    bound = NEAR.get(like["dtype"], 1e-4) * expected.abs().max()
    if not (expected - found).abs().max() <= bound:
        raise ValueError(f"The adapters of the layer {name} are not linear. {MERGE}")
    return layer


def identity_rows(first: int, size: int, **like: Any) -> Tensor:
    """Return up to ROWS_AT_ONCE rows of an identity matrix: (rows, size)."""
    rows = torch.zeros(min(ROWS_AT_ONCE, size - first), size, **like)
    rows[:, first:].fill_diagonal_(1)
    return rows
