"""What a head adds to the residual stream, in models of the transformers library."""

from __future__ import annotations

from torch import Tensor, nn

# The layer that reads the heads side by side, in the module that attends or beside it as in BERT.
NAMES = ("o_proj", "out_proj", "c_proj", "out_lin", "Wo", "o", "dense")
BESIDE = "output.dense"
BETWEEN = ("attn_sub_norm", "sub_norm", "gate_proj", "g_proj")  # changes heads before it


def heads_to_stream(model: nn.Module, module: nn.Module, heads: int) -> Tensor | None:
    """Return the output projection of a module that attends, split by heads: (H, D, d_model).

    What a head adds is its output (Q, D) times its part; the projection's bias belongs to none.
    None if the projection has a name or a shape that is not known.
    """
    projection = output_projection(model, module)
    if projection is None or any(hasattr(module, name) for name in BETWEEN):
        return None
    # transformers' Conv1D, of GPT-2, holds its weight the other way round.
    weight = projection.weight.T if isinstance(projection, nn.Linear) else projection.weight
    return None if weight.size(0) % heads else weight.detach().unflatten(0, (heads, -1))


def projection_bias(model: nn.Module, module: nn.Module) -> Tensor | None:
    """Return the bias of a module's output projection (d_model,), if it has one."""
    bias = getattr(output_projection(model, module), "bias", None)
    return None if bias is None else bias.detach()


def output_projection(model: nn.Module, module: nn.Module) -> nn.Module | None:
    """Return the layer that reads the heads of a module, if it has a known name."""
    found = [getattr(module, name) for name in NAMES if hasattr(module, name)]
    if not found:
        place = next(name for name, part in model.named_modules() if part is module)
        parent = model.get_submodule(place.rpartition(".")[0])
        found = [part for name, part in parent.named_modules() if name == BESIDE]
    return next((part for part in found if getattr(part, "weight", None) is not None), None)
