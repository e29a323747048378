"""Records the attention of any model in memory while it is called as usual."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_unflatten

from headlight.model.library.checks import Differences, check_openable
from headlight.model.library.joined_heads import join_heads
from headlight.model.library.observing import Observed, is_masked, observing, prepare
from headlight.model.transformer.trace import AttentionRecord
from headlight.wings.any_module.proof import find_layouts

SeenKind = Literal["self", "masked", "cross"]
NOT_CALLED = "The model was not called in the block below `with watch(model)`: call it there."
NOWHERE = (
    "{name} attended nowhere: it called neither nn.MultiheadAttention, "
    "scaled_dot_product_attention nor flex_attention, and took no softmax of a product of queries "
    "and keys."
)
PASSED = (
    "{name} attended nowhere that is known here: {part} took a softmax of numbers of the shape "
    "{shape}, but not over the last axis of a product of queries and keys (texts, queries, keys), "
    "with an axis for heads or none. Write it so, or call scaled_dot_product_attention."
)

NO_NUMBERS = (
    "Weights are not a number (NaN) in {name}, so nothing is shown. A query whose every key is "
    "masked by minus infinity, as by a causal mask with padding on the left, makes its whole text "
    "so in the next layer. Let each query see a key, such as itself, or mask by -1e9."
)


@dataclass(repr=False)
class Seen(Sequence[Tensor]):
    """The attention of a model's last call; as a sequence, the weights (B, H, Q, K) of each.

    `attention` has the records by the name of the module, in the order of the call. A module that
    attended again has "name #2". `kinds` are found by the shapes of the weights, or given by the
    caller. `difference` is the largest one between the watched outputs and those of the same call
    unwatched.
    """

    attention: dict[str, AttentionRecord] = field(default_factory=dict)
    kinds: dict[str, SeenKind] = field(default_factory=dict)
    difference: float = float("nan")

    def __repr__(self) -> str:
        lines = [
            f"{name}: {self.kinds[name]}, {record.weights.size(1)} heads, "
            f"{record.weights.size(2)} queries, {record.weights.size(3)} keys"
            for name, record in self.attention.items()
        ]
        return "\n".join(lines)

    def __getitem__(self, index: Any) -> Any:
        return [record.weights for record in self.attention.values()][index]

    def __len__(self) -> int:
        return len(self.attention)

    def weights(self, kind: SeenKind) -> list[Tensor]:
        """Return the weights (B, H, Q, K) of one kind of attention, a tensor for each layer.

        Raises ValueError if there is no such kind.
        """
        if kind not in get_args(SeenKind):
            kinds = ", ".join(get_args(SeenKind))
            raise ValueError(f"There is no attention of the kind {kind!r}, but of {kinds}.")
        return [self.attention[name].weights for name, own in self.kinds.items() if own == kind]


@dataclass
class LastCall:
    """The inputs and the output of a model's last call."""

    inputs: tuple[tuple, dict] | None = None
    output: object = None
    trying: bool = False  # True while the model is called for a trial
    passed: tuple[nn.Module, tuple[int, ...]] | None = (
        None  # a softmax outside attention: its module, and the shape of its input
    )


@contextmanager
def watch(model: nn.Module, kinds: Mapping[str, SeenKind] | None = None) -> Iterator[Seen]:
    """Record the attention of a model's calls in this block, wherever its modules attend.

        with watch(model) as seen:
            model(x)
        seen.attention["blocks.0.attention"].weights  # (B, H, Q, K)

    It records nn.MultiheadAttention, scaled_dot_product_attention, flex_attention, and every
    softmax of a product of queries and keys. `kinds` gives kinds that shapes do not show, by the
    name of the module. After the block the last call is made once more without the watch. Raises
    ValueError if the outputs differ, if the model was not called or attended nowhere, and for a
    model that is in training mode, compiled, quantized or without weights.
    """
    check_openable(model)
    names = {module: name or type(model).__name__ for name, module in model.named_modules()}
    seen, last = Seen(), LastCall()
    with observing(rows=1) as observed:

        def begin(_: nn.Module, args: tuple, kwargs: dict) -> None:
            if last.trying:
                return
            flat, form = tree_flatten((args, kwargs))

            def call(inputs: Sequence[object]) -> None:
                args, kwargs = tree_unflatten(inputs, form)
                model(*args, **kwargs)

            last.inputs, last.trying = (args, kwargs), True
            try:
                layouts, last.passed = find_layouts(call, flat, names)
            finally:
                last.trying = False
            observed.begin(layouts)

        def end(_: nn.Module, args: tuple, kwargs: dict, output: object) -> None:
            if last.trying:
                return
            last.output = output
            collect(seen, observed, names, kinds or {})

        handles = [*prepare(model), model.register_forward_pre_hook(begin, with_kwargs=True)]
        handles.append(model.register_forward_hook(end, with_kwargs=True))
        try:
            yield seen
        finally:
            for handle in handles:
                handle.remove()
    if last.inputs is None:
        raise ValueError(NOT_CALLED)
    if not seen:
        raise ValueError(nowhere(type(model).__name__, last.passed, names))
    with torch.no_grad(), without_fast_path():
        args, kwargs = last.inputs
        differences = Differences.between(last.output, model(*args, **kwargs))
    seen.difference = differences.checked(type(model).__name__)


def nowhere(
    name: str, passed: tuple[nn.Module, tuple[int, ...]] | None, names: Mapping[nn.Module, str]
) -> str:
    """Return a sentence on a model without attention, or on its softmax outside attention."""
    if passed is None:
        return NOWHERE.format(name=name)
    part, shape = passed
    return PASSED.format(name=name, part=names.get(part) or type(part).__name__, shape=shape)


@contextmanager
def without_fast_path() -> Iterator[None]:
    """Turn off torch's shortcut for encoders, which writes 0 in place of padding."""
    enabled = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(enabled)


def collect(
    seen: Seen,
    observed: Observed,
    names: Mapping[nn.Module, str],
    kinds: Mapping[str, SeenKind],
) -> None:
    """Record the attention of a call, and the kind of each."""
    seen.attention.clear()
    seen.kinds.clear()
    for numbers in observed.layers:
        name = name_of_layer([names[observed.modules[n]] for n in numbers])
        again = sum(other.partition(" #")[0] == name for other in seen.attention)
        key = f"{name} #{again + 1}" if again else name
        record = join_heads([observed.records[n] for n in numbers])
        if record.weights.isnan().any():
            raise ValueError(NO_NUMBERS.format(name=key))
        seen.attention[key] = record
        seen.kinds[key] = kinds.get(name) or kind_of(record)


def name_of_layer(heads: Sequence[str]) -> str:
    """Return the name of the module that attends, or of the one around the heads' modules."""
    parts = [name.split(".") for name in heads]
    if len({*heads}) == 1:
        return heads[0]
    return (
        ".".join(each[0] for each in takewhile(lambda x: len({*x}) == 1, zip(*parts, strict=False)))
        or heads[0]
    )


def kind_of(record: AttentionRecord) -> SeenKind:
    """Return the kind of attention that a record shows by the shape and the zeros of its weights.

    A sink in the softmax, as in GPT-OSS, counts as one more key, the last.
    """
    queries, keys = record.weights.shape[2:]
    if keys not in (queries, queries + 1):
        return "cross"
    masked = is_masked(record)
    return "masked" if masked else "self" if keys == queries else "cross"
