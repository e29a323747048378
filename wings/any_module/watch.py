"""Records the attention of any model in memory while it is called as usual."""

from __future__ import annotations

from collections import Counter
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
from headlight.model.library.running import RUNNING
from headlight.model.transformer.trace import AttentionRecord
from headlight.wings.any_module.again import copied, overheard, unpacked, unwatched
from headlight.wings.any_module.generation import Generation
from headlight.wings.any_module.proof import Known, find_layouts

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
    """The attention of a model's last call: a sequence of weights (B, H, Q, K) by module.

    If several calls write one text, as in generate(), it is the attention of the whole text, and
    each token's row is from the call that read the token. With beams, it has the rows of the beams
    that generate() returned, or otherwise those of the last call. `difference` is the largest
    difference between the recorded outputs and those of the same calls without recording.
    """

    run: Generation = field(default_factory=Generation)
    told: Mapping[str, SeenKind] = field(default_factory=dict)
    difference: float = float("nan")

    @property
    def attention(self) -> dict[str, AttentionRecord]:
        """The records of attention by the module's name, in the order of the calls.

        If a module attends twice in one call, its second record has the name "name #2".
        """
        return self.run.joined()

    @property
    def steps(self) -> list[dict[str, AttentionRecord]]:
        """The records of each call that wrote the text, with the rows of its new tokens only."""
        return [step.attention for step in self.run.steps]

    @property
    def kinds(self) -> dict[str, SeenKind]:
        """The kind of each attention: as given to `watch`, or else as calls and weights show."""
        return {
            name: self.told.get(name.partition(" #")[0]) or self.run.kind(name) or kind_of(record)
            for name, record in self.attention.items()
        }

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
class Watching:
    """A model whose calls are recorded; a part of it can also be called alone."""

    names: dict[nn.Module, str]
    seen: Seen
    observed: Observed
    known: Known = field(default_factory=dict)
    called: nn.Module | None = None  # the module whose call is recorded now
    inputs: tuple[tuple, dict] = ((), {})  # the arguments of that call
    trying: bool = False  # True while the model is called again as a test
    passed: tuple[nn.Module, tuple[int, ...]] | None = None  # a softmax outside attention
    differences: list[Differences] = field(default_factory=list)

    def begin(self, module: nn.Module, args: tuple, options: dict) -> None:
        """Before an outermost call, find which axes of scores are texts, heads, queries, keys."""
        running = RUNNING.get() or []
        if self.trying or len(running) != 1 or running[0].module is not module:
            return
        self.called, self.inputs = module, copied((args, options))
        flat, form = tree_flatten((args, options))

        def call(inputs: Sequence[object]) -> None:
            args, options = copied(tree_unflatten(inputs, form))
            module(*args, **options)

        with self.trial():
            layouts, passed = find_layouts(call, flat, self.names, self.known)
        self.passed = passed or self.passed
        self.observed.begin(layouts)

    def end(self, module: nn.Module, args: tuple, options: dict, output: object) -> None:
        """Keep the attention of a call, and compare its output with that of a plain call."""
        if self.trying or module is not self.called or RUNNING.get():
            return
        self.called = None
        records = named(self.observed, self.names)
        if not records:
            return
        self.seen.run.take(records, ids_of(*self.inputs))
        args, options = self.inputs
        with self.trial(), unwatched():
            self.differences.append(Differences.between(output, module(*args, **options)))

    @contextmanager
    def trial(self) -> Iterator[None]:
        self.trying = True
        try:
            yield
        finally:
            self.trying = False


@contextmanager
def watch(
    model: nn.Module, kinds: Mapping[str, SeenKind] | None = None, *, known: Known | None = None
) -> Iterator[Seen]:
    """Record the attention of a model's calls in this block, wherever its modules attend.

        with watch(model) as seen:
            model(x)  # or model.generate(x)
        seen.attention["blocks.0.attention"].weights  # (B, H, Q, K)

    It records nn.MultiheadAttention, scaled_dot_product_attention, flex_attention, and every
    softmax of a product of queries and keys. `kinds` gives, by the name of a module, the kind of
    attention if shapes do not show it. `known` has the axes of scores that an earlier `watch` of
    this model has proven, and saves time. Each call is made a second time without recording. Raises
    ValueError after the block if outputs differ, if the model was not called or has no attention,
    or if it is unknown which beams generate() kept. Raises ValueError before the block for a model
    that is in training mode, compiled, quantized or without weights.
    """
    check_openable(model)
    name = type(model).__name__
    names = {module: path or name for path, module in model.named_modules()}
    dtype = next((part.dtype for part in model.parameters()), torch.float32)
    seen = Seen(Generation(dtype), kinds or {})
    with observing(rows=1) as observed, unpacked(), overheard(model, seen.run.keep):
        watching = Watching(names, seen, observed, {} if known is None else known)
        handles = prepare(model)
        for module in model.modules():
            handles.append(module.register_forward_pre_hook(watching.begin, with_kwargs=True))
            handles.append(module.register_forward_hook(watching.end, with_kwargs=True))
        try:
            yield seen
        finally:
            for handle in handles:
                handle.remove()
    if not watching.inputs[0] and not watching.inputs[1]:
        raise ValueError(NOT_CALLED)
    if not seen:
        raise ValueError(nowhere(name, watching.passed, names))
    seen.difference = max(each.checked(name) for each in watching.differences)
    if seen.run.unknown:
        raise ValueError(seen.run.unknown)


def nowhere(
    name: str, passed: tuple[nn.Module, tuple[int, ...]] | None, names: Mapping[nn.Module, str]
) -> str:
    """Return an error sentence on a model without attention, and on its other softmax, if any."""
    if passed is None:
        return NOWHERE.format(name=name)
    part, shape = passed
    return PASSED.format(name=name, part=names.get(part) or type(part).__name__, shape=shape)


def named(observed: Observed, names: Mapping[nn.Module, str]) -> dict[str, AttentionRecord]:
    """Return the records of a call by the names of the modules that attended.

    Raises ValueError if weights are not numbers.
    """
    records: dict[str, AttentionRecord] = {}
    times: Counter[str] = Counter()
    for numbers in observed.layers:
        name = name_of_layer([names[observed.modules[n]] for n in numbers])
        times[name] += 1
        key = f"{name} #{times[name]}" if times[name] > 1 else name
        records[key] = join_heads([observed.records[n] for n in numbers])
        if records[key].weights.isnan().any():
            raise ValueError(NO_NUMBERS.format(name=key))
    return records


def ids_of(args: tuple, options: Mapping[str, object]) -> Tensor | None:
    """Return the ids (B, T) that a model was called with; of an encoder-decoder, the decoder's."""
    several = (options.get("decoder_input_ids"), options.get("input_ids"), *args)
    found = [part for part in several if isinstance(part, Tensor) and part.dim() == 2]
    return next((part for part in found if not part.is_floating_point()), None)


def name_of_layer(heads: Sequence[str]) -> str:
    """Return the name of the attending module, or of the module around the modules of its heads."""
    parts = [name.split(".") for name in heads]
    if len({*heads}) == 1:
        return heads[0]
    return (
        ".".join(each[0] for each in takewhile(lambda x: len({*x}) == 1, zip(*parts, strict=False)))
        or heads[0]
    )


def kind_of(record: AttentionRecord) -> SeenKind:
    """Return the kind of attention of a record, judged by the shape and the zeros of its weights.

    With a sink in the softmax, as in GPT-OSS, the weights have one more key, the last.
    """
    queries, keys = record.weights.shape[2:]
    if keys not in (queries, queries + 1):
        return "cross"
    masked = is_masked(record)
    return "masked" if masked else "self" if keys == queries else "cross"
