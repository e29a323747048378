"""How a finished model's weights lie in memory, which changes nothing but its speed."""

from __future__ import annotations

from torch import Tensor, nn

from model.transformer import Transformer


def lay_out(model: Transformer) -> Transformer:
    """Turn a model's weights in memory for decoding; it can no longer be trained.

    Stored column by column, the product with one row or a few takes oneDNN a third of the time or
    less for wide layers. An output layer tied to the embedding becomes a copy of it.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear):
            weight = by_columns(module.weight)
            if module is model.output:  # tied or not, it is no parameter of its own
                del module.weight
                module.register_buffer("weight", weight, persistent=False)
            else:
                module.weight = nn.Parameter(weight, requires_grad=False)
    return model


def by_columns(weight: Tensor) -> Tensor:
    """The same matrix, stored column by column."""
    return weight.detach().t().contiguous().t()
