"""Follows scores through a model's own code: from queries and keys to the softmax, and beyond.

Attention code multiplies queries and keys, scales the product, adds a bias, applies a mask, takes
the softmax, and multiplies it by the values. Each step is one function of torch, so a softmax can
be traced back to its queries, keys and unmasked scores, and forward to its values.
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

# Masks add or fill in -1e4 (in OpenAI's first GPT) or less; no score is that low.
CLOSED = -9e3
PRODUCTS = {"matmul", "bmm", "einsum", "baddbmm"}
SCALES = {"mul", "div", "multiply", "true_divide"}
FILLS = {"masked_fill", "where", "__setitem__"}
SAME = {"to", "float", "half", "double", "bfloat16", "type_as", "contiguous", "clone", "dropout"}
SHAPES = {"view", "reshape", "unflatten", "flatten", "squeeze", "unsqueeze"}
TURNS = {"transpose", "permute", "movedim", "moveaxis", "swapaxes", "swapdims", "__get__"}
CURVES = {
    "tanh",
    "clamp",
    "clip",
}  # scores, but not proportional to the product
OTHER_AXIS = (
    "A softmax over the last axis of scores of the shape {shape} is summed over another axis with "
    "its values, so its queries and keys cannot be told apart. Take the softmax over the keys."
)


@dataclass(frozen=True)
class Scores:
    """The origin of scores: `scale` times the product of query and key, plus a bias, if `biased`.

    `query` and `key` have the axes of the scores, with 1 key or 1 query, and one more for their
    features. `queries` are the axes of the query only, from the last; more than one if its heads
    share a key, and none if they are not known. `scale` is None if the scores are another function
    of the product. `unmasked` are the scores without a mask; None if these scores have none, or if
    the step that masked them is not known (`lost`).
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
    """The weights of a softmax on their way to the values.

    `mix` is called with the weights, the values and the heads. The last two have the axes of the
    weights, with 1 query or 1 key, and one more for their features. It may return other heads.
    """

    mix: Callable[[Tensor, Tensor, Tensor], Tensor | None]
    heads: Heads | None = None  # the origin of the heads


@dataclass(frozen=True)
class Heads:
    """The origin of heads: the site that computed them, and the modules that ran, innermost last.

    The site is None in a trial.
    """

    site: Site | None
    path: tuple[Running, ...]


Origin = Scores | Mixing | Heads


class Flow:
    """Follows scores and weights in one call of a model; what the model lets go of is forgotten."""

    def __init__(self) -> None:
        self.origins = WeakTensorKeyDictionary()  # of Scores, Mixing and Heads

    def origin(self, tensor: object) -> Origin | None:
        return self.origins.get(tensor) if isinstance(tensor, Tensor) else None

    def call(self, function: Callable, args: tuple, kwargs: dict) -> object:
        """Call a function of torch, and note where its result comes from."""
        name = getattr(function, "__name__", "")
        plain = name.removesuffix("_") if not name.startswith("__") else name
        if plain in PRODUCTS:
            return self.product(function, args, kwargs)
        followed = next((part for part in args if self.origin(part) is not None), None)
        if followed is None:
            return function(*args, **kwargs)
        origin = self.origin(followed)
        sets = name == "__setitem__"
        before = followed.clone() if sets or plain != name else followed  # changed in place
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
        """Return the origin of a step's result; `before` are the scores without a mask until it."""
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
        """Multiply: queries and keys become scores, and weights and values become heads."""
        result = function(*args, **kwargs)
        equation = args[0] if isinstance(args[0], str) else None
        if equation is not None and len(args) == 2:  # einsum also takes a list
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
            if mixed[1]:  # the values stand first
                first, second, letters = second, first, [letters[1], letters[0], letters[2]]
            return self.mixed(letters, first, second, result)
        output = letters[2]
        if output[-1] not in letters[1]:  # the keys stand first
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
        """Show weights, values and heads to the `mix` of the weights; return the heads after it."""
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
    """Return a tensor with the axes `have` as one with `want`; missing axes become 1.

    None if it has other axes.
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
    """Return a part with other axes before its last three, as scores of an `old` shape have now."""
    if [*old] == [*new]:
        return part
    return part.expand(*old[:-2], *part.shape[-3:]).reshape(*new[:-2], *part.shape[-3:])


def as_number(part: object) -> float | None:
    """Return a number, or a tensor with one element, as a float; None for anything else."""
    if isinstance(part, bool) or not isinstance(part, int | float | Tensor):
        return None
    if isinstance(part, Tensor):
        return part.item() if part.numel() == 1 and part.dtype != torch.bool else None
    return float(part)
