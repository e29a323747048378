"""Follow scores through a model's own code, from queries and keys to the softmax and the values.

Attention code multiplies queries and keys, scales the product, adds a bias, applies a mask, takes
the softmax, and multiplies the weights by the values. Each step is a call of torch, so a softmax
can be traced back to its queries, keys and unmasked scores, and forward to its values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.utils.weak import WeakTensorKeyDictionary

from headlight.model.transformer.trace import Site

if TYPE_CHECKING:
    from headlight.model.library.running import Running

# Masks write or add -1e4 (OpenAI's first GPT) or less; no score without a mask is that low.
CLOSED = -9e3
PRODUCTS = {"matmul", "bmm", "einsum", "baddbmm"}
SCALES = {"mul", "div", "multiply", "true_divide"}
FILLS = {"masked_fill", "where", "__setitem__"}
SAME = {"to", "float", "half", "double", "bfloat16", "type_as", "contiguous", "clone", "dropout"}
SHAPES = {"view", "reshape", "unflatten", "flatten", "squeeze", "unsqueeze"}
TURNS = {"transpose", "permute", "movedim", "moveaxis", "swapaxes", "swapdims", "__get__"}
# Functions after which scores are no longer proportional to the product of queries and keys.
CURVES = {"tanh", "clamp", "clip"}
OTHER_AXIS = (
    "A softmax over the last axis of scores of the shape {shape} is summed over another axis with "
    "its values, so its queries and keys cannot be told apart. Take the softmax over the keys."
)


@dataclass(frozen=True)
class Scores:
    """The origin of scores: `scale` times the product of query and key, plus a bias if `biased`.

    `query` and `key` have the axes of the scores, the query with 1 key and the key with 1 query,
    and a last axis for their features. `queries` are the axes that only the query has, counted from
    the end: several if heads share a key, none if not known. `scale` is None if the scores are not
    proportional to the product. `unmasked` are the scores without a mask; None if they have no
    mask. `lost` is True after an unknown step, because it may have masked the scores.
    """

    query: Tensor
    key: Tensor
    queries: tuple[int, ...]
    scale: float | None = 1.0
    biased: bool = False
    unmasked: Tensor | None = None
    lost: bool = False


@dataclass(frozen=True)
class Mixing:
    """The function to call when the weights of a softmax are multiplied by the values.

    `mix` gets the weights, the values and the output of the heads. Values and heads have the axes
    of the weights, values with 1 query and heads with 1 key, and a last axis for their features.
    `mix` may return another output for the heads, or None.
    """

    mix: Callable[[Tensor, Tensor, Tensor], Tensor | None]
    heads: Heads | None = None  # the origin of the output of the heads


@dataclass(frozen=True)
class Heads:
    """The origin of heads: their attention block, and the modules that ran, innermost last.

    The attention block, `site`, is None in a trial.
    """

    site: Site | None
    path: tuple[Running, ...]


Origin = Scores | Mixing | Heads


class Flow:
    """Follows scores and weights in one call of a model; it keeps no tensor alive."""

    def __init__(self) -> None:
        # the origin of each tensor: Scores, Mixing or Heads
        self.origins = WeakTensorKeyDictionary()

    def origin(self, tensor: object) -> Origin | None:
        return self.origins.get(tensor) if isinstance(tensor, Tensor) else None

    def call(self, function: Callable, args: tuple, kwargs: dict) -> object:
        """Call a function of torch, and record the origin of its result."""
        name = getattr(function, "__name__", "")
        plain = name.removesuffix("_") if not name.startswith("__") else name
        if plain in PRODUCTS:
            return self.product(function, args, kwargs)
        followed = next((part for part in args if self.origin(part) is not None), None)
        if followed is None:
            return function(*args, **kwargs)
        origin = self.origin(followed)
        sets = name == "__setitem__"
        # the scores before the call: a copy, if the function changes them in place
        before = followed.clone() if sets or plain != name else followed
        result = function(*args, **kwargs)
        changed = followed if sets else result
        part = plain == "__getitem__" and changed.dim() == followed.dim()
        if isinstance(changed, Tensor) and (part or changed.numel() >= followed.numel()):
            if isinstance(origin, Scores):
                origin = self.step(plain, function, args, kwargs, followed, before, changed)
            elif plain not in SAME | SHAPES | FILLS:
                origin = None
            if origin is not None:
                self.origins[changed] = origin
            elif changed is followed:
                del self.origins[followed]
        return result

    def step(
        self,
        name: str,
        function: Callable,
        args: tuple,
        kwargs: dict,
        followed: Tensor,
        before: Tensor,
        result: Tensor,
    ) -> Scores | None:
        """Return the origin of a step's result; `before` are the scores from before the step."""
        origin = self.origins[followed]
        others = [part for part in (*args, *kwargs.values()) if part is not followed]
        number = next((value for part in others if (value := as_number(part)) is not None), None)
        masked = origin.unmasked

        def without_mask(changed: Callable[[Tensor], Tensor]) -> Tensor | None:
            return None if masked is None else changed(masked)

        if name in SCALES and number is not None:
            number = 1 / number if name in ("div", "true_divide") else number
            scale = None if origin.scale is None else origin.scale * number
            return replace(origin, scale=scale, unmasked=without_mask(lambda part: part * number))
        if name in FILLS and number is not None and number <= CLOSED:
            return replace(origin, unmasked=before if masked is None else masked)
        if name == "add" and others:
            other = others[0]
            if isinstance(other, Tensor) and other.dim() and bool((other <= CLOSED).any()):
                kept = other.masked_fill(other <= CLOSED, 0)
                bare = (before if masked is None else masked) + kept
                return replace(origin, unmasked=bare, biased=origin.biased or bool(kept.any()))
            added = without_mask(lambda part: part + other)
            return replace(origin, biased=True, unmasked=added)
        if name in SAME | CURVES or (
            name in SHAPES and origin.queries and result.shape[-2:] == followed.shape[-2:]
        ):
            scale = None if name in CURVES else origin.scale
            same = without_mask(lambda part: function(part, *args[1:], **kwargs))
            query, key = (
                relead(part, followed.shape, result.shape) for part in (origin.query, origin.key)
            )
            return replace(origin, scale=scale, unmasked=same, query=query, key=key)
        moved = name in SHAPES | TURNS or result.shape != followed.shape
        return replace(origin, lost=True, queries=() if moved else origin.queries)

    def product(self, function: Callable, args: tuple, kwargs: dict) -> object:
        """Call a product; note whether it multiplies queries and keys, or weights and values."""
        result = function(*args, **kwargs)
        equation = args[0] if isinstance(args[0], str) else None
        if equation is not None and len(args) == 2:  # einsum also takes its factors as one list
            args = (equation, *args[1]) if isinstance(args[1], list | tuple) else args
        first, second = [*args, *kwargs.values()][-2:] if len(args) > 1 else (None, None)
        if not (isinstance(first, Tensor) and isinstance(second, Tensor)):
            return result
        if equation is not None:
            inputs, _, output = equation.replace(" ", "").partition("->")
            letters = [*inputs.split(","), output]
        else:
            leading = "abcdefghijkl"[: max(result.dim() - 2, 0)]
            letters = [
                leading[len(leading) - part.dim() + 2 :] + ends
                for part, ends in ((first, "xy"), (second, "yz"), (result, "xz"))
            ]
        if min(map(len, letters)) < 3 or any("." in part for part in letters):
            return result
        mixed = [isinstance(self.origin(part), Mixing) for part in (first, second)]
        if any(mixed):
            if mixed[1]:  # the values are the first factor, the weights the second
                first, second, letters = second, first, [letters[1], letters[0], letters[2]]
            return self.mixed(letters, first, second, result)
        output = letters[2]
        if output[-1] not in letters[1]:  # the keys are the first factor, the queries the second
            first, second, letters = second, first, [letters[1], letters[0], output]
        summed = {*letters[0]} & {*letters[1]} - {*output}
        queries = [axis for axis in range(-len(output), 0) if output[axis] not in letters[1]]
        query, key = (
            arranged(part, have, [*output, *summed])
            for part, have in zip((first, second), letters, strict=False)
        )
        known = queries and output[-1] not in letters[0] and len(summed) == 1
        if known and not is_weight(second) and query is not None and key is not None:
            adds = function.__name__ == "baddbmm"
            self.origins[result] = Scores(query, key, tuple(queries), lost=adds)
        return result

    def mixed(
        self, letters: Sequence[str], weights: Tensor, value: Tensor, heads: Tensor
    ) -> Tensor:
        """Call the `mix` of the weights; return the output of the heads, perhaps changed by it.

        `letters` are the axes of the weights, the values and the heads. Raises ValueError if the
        weights are not summed over their last axis.
        """
        (*queries, key), output = letters[0], letters[2]
        (width, *more) = {*letters[1]} - {*letters[0]} or {""}
        if key not in letters[1] or key in output:
            raise ValueError(OTHER_AXIS.format(shape=tuple(weights.shape)))
        values = arranged(value, letters[1], [*letters[0], width])
        mixing = self.origins[weights]
        if not more and values is not None and {*queries, width} == {*output}:
            seen = arranged(heads, output, [*letters[0], width])
            other = mixing.mix(weights, values, seen)
            if other is not None:
                order = [[*queries, width].index(letter) for letter in output]
                heads = other.squeeze(-2).permute(order)
        if mixing.heads is not None:
            self.origins[heads] = mixing.heads
        return heads


def arranged(part: Tensor, have: str, want: Sequence[str]) -> Tensor | None:
    """Permute a tensor's axes from `have` to `want`; axes that it lacks get the size 1.

    Return None if `have` has an axis that is not in `want`.
    """
    if not {*have} <= {*want}:
        return None
    part = part.permute([have.index(letter) for letter in want if letter in have])
    for axis, letter in enumerate(want):
        if letter not in have:
            part = part.unsqueeze(axis)
    return part


def is_weight(part: Tensor) -> bool:
    return isinstance(part, nn.Parameter) or isinstance(part._base, nn.Parameter)


def relead(part: Tensor, old: Sequence[int], new: Sequence[int]) -> Tensor:
    """Give a query or a key the `new` leading axes of its scores, which had the shape `old`."""
    if [*old] == [*new]:
        return part
    return part.expand(*old[:-2], *part.shape[-3:]).reshape(*new[:-2], *part.shape[-3:])


def as_number(part: object) -> float | None:
    """Return a number, or a tensor of one number, as a float; None for anything else."""
    if isinstance(part, bool) or not isinstance(part, int | float | Tensor):
        return None
    if isinstance(part, Tensor):
        return part.item() if part.numel() == 1 and part.dtype != torch.bool else None
    return float(part)
