"""The proof, by experiment, of which axes of scores are texts, heads, queries and keys.

Attention written by hand can have its heads anywhere: in an axis of their own, or in one with the
texts, before or after them. So each module is called again with one position changed, which may
only change one query and one key, in all heads alike. And the model is called again with some texts
changed, which may only change their own maps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from headlight.model.library.flow import CLOSED, Mixing, Scores
from headlight.model.library.foreign_code import meeting
from headlight.model.library.fused import Projected
from headlight.model.library.layouts import Changes, Layout, fitting, possible
from headlight.model.library.running import RUNNING, Running
from headlight.wings.any_module.again import copied

UNPROVEN = (
    "In {name}, which of the axes of its scores {shape} are texts, heads, queries and keys cannot "
    "be told: {why}. Nothing is shown rather than something wrong. Attend by "
    "scaled_dot_product_attention or by scores (texts, heads, queries, keys), a product of queries "
    "and keys, in a module of its own that is called with the states (texts, tokens, features)."
)
NO_POSITION = (
    "no change of one position of its inputs moves one query and one key, in every head alike"
)
NO_TEXT = "a change of one text of the inputs does not move the maps of this text alone"
AT = (0.0, 0.5, 1.0)  # where inputs are changed, as a share of each axis


# The layouts that earlier calls of a model have proven, with the number of heads, by the module and
# the number of its attention within a call.
Known = dict[tuple[nn.Module, int], tuple[Layout, int]]


class Entered(list[Running]):
    """The running modules, each with its inputs' lists and caches as they were when it began."""

    def append(self, running: Running) -> None:
        super().append(
            replace(
                running,
                inputs=tuple(map(at_entry, running.inputs)),
                options={name: at_entry(part) for name, part in running.options.items()},
            )
        )


def at_entry(part: Any) -> Any:
    """Return a copy of an input that the module can change, such as a cache; a tensor is kept."""
    return part if isinstance(part, Tensor) else copied(part)


class ReachedError(Exception):
    """Ends the call of a module where it attends."""


@dataclass
class Attended:
    """An attention of a model in a trial: its scores, and the layouts by the number of texts."""

    module: nn.Module
    scores: Tensor
    layouts: dict[int, list[Layout]]


@dataclass
class Trial:
    """A call of a model in place of a `CodeCall`: it records scores, and changes nothing.

    With numbers of texts, each module is called again, up to where it attends, with a position
    changed, unless its layout at its first, second, ... attention in a call is `known`. It `stops`
    after so many scores.
    """

    rows: Sequence[int] = ()
    stops: int | None = None
    known: Known = field(default_factory=dict)
    attended: list[Attended] = field(default_factory=list)
    passed: tuple[nn.Module, tuple[int, ...]] | None = None
    running: list[Running] = field(init=False)

    def __post_init__(self) -> None:
        self.running = Entered() if self.rows else []

    def keep(self) -> None:
        """Nothing waits here; see `CodeCall.keep`."""

    def fused(
        self, running: Running, fixed: Layout | None, parts: Projected
    ) -> tuple[Tensor, Tensor]:
        query, key, value = parts[:3]
        if query.dim() > 3 and query.size(-3) != key.size(-3):
            groups = query.size(-3) // key.size(-3)
            key, value = (part.repeat_interleave(groups, -3) for part in (key, value))
        scores = query @ key.transpose(-2, -1) * parts.scale
        self.meet(running, scores, (-2,), fixed)
        scores = scores if parts.bias is None else scores + parts.bias
        if parts.visible is not None:
            scores = scores.masked_fill(~parts.visible, -torch.inf)
        weights = scores.softmax(dim=-1).nan_to_num(0.0)
        return weights @ value, weights

    def softmax(
        self,
        running: Running,
        given: Tensor,
        softmax: Callable[[Tensor], Tensor],
        origin: Scores | Mixing | None,
    ) -> tuple[Tensor, Mixing]:
        self.meet(running, given, origin.queries if isinstance(origin, Scores) else ())
        return softmax(given), Mixing(lambda *parts: None)

    def meet(
        self,
        running: Running,
        scores: Tensor,
        queries: tuple[int, ...],
        fixed: Layout | None = None,
    ) -> None:
        """Record scores, and their possible layouts."""
        attention = Attended(running.module, scores.detach().clone(), {})
        times = sum(other.module is running.module for other in self.attended)
        known = self.known.get((running.module, times))
        self.attended.append(attention)
        if self.stops == len(self.attended):
            raise ReachedError
        for rows in self.rows:
            several = [fixed] if fixed else [*possible(scores.shape, queries, rows)]
            attention.layouts[rows] = several
        fits = {
            rows: [layout for layout in several if (layout, heads_of(layout, scores)) == known]
            for rows, several in attention.layouts.items()
        }
        if any(fits.values()):
            attention.layouts = fits
        elif not fixed and self.rows:
            self.try_positions(attention, bool(queries))
        for outer in RUNNING.get() or ():
            outer.attended += 1

    def try_positions(self, attention: Attended, known: bool) -> None:
        """Keep the layouts that calls with other positions allow, outermost module first."""
        for outer in RUNNING.get() or ():
            tries = [*moved(outer, attention.scores)]
            for shifts in (False, True):
                several = [
                    [Changes.between(attention.scores, after, shifts) for after in each]
                    for each in tries
                ]
                layouts = {
                    rows: fitting(those, several, known)
                    for rows, those in attention.layouts.items()
                }
                if any(layouts.values()):
                    attention.layouts = layouts
                    return
        attention.layouts = {}


def moved(outer: Running, scores: Tensor) -> Iterator[list[Tensor]]:
    """Yield, for each input of a module, its next scores after a change of it at a position."""
    given: list[Any] = [*outer.inputs, *outer.options.values()]
    count = len(outer.inputs)
    for n, rank in (changeable(given, 2) or changeable(given, 1, whole=True)).items():
        others: list[Tensor] = []
        for at in AT:
            called = [copied(part) for part in given]
            index = tuple(int(at * (size - 1)) for size in given[n].shape[:rank])
            called[n] = changed(given[n], index)
            trial = Trial(stops=outer.attended + 1)
            # It ends with ReachedError, or others of many kinds in somebody's own code.
            with suppress(Exception), meeting(trial):
                outer.module(
                    *called[:count], **dict(zip(outer.options, called[count:], strict=True))
                )
            after = [attention.scores for attention in trial.attended[outer.attended :]]
            if not after or after[0].shape != scores.shape:
                return
            others.append(after[0])
        yield others


def changeable(given: Sequence[object], axes: int, whole: bool = False) -> dict[int, int]:
    """Return which inputs can be changed at a position, and how many of their axes it has.

    These are states with at least that many axes, but no masks; or else ids, as a `whole`.
    """
    return {
        n: part.dim() - (not whole)
        for n, part in enumerate(given)
        if isinstance(part, Tensor) and part.dim() >= axes and part.numel()
        and part.dtype != torch.bool and part.is_floating_point() != whole and not is_mask(part)
    }  # fmt: skip


def is_mask(part: Tensor) -> bool:
    return part.is_floating_point() and bool(((part == 0) | (part == 1) | (part < CLOSED)).all())


def changed(part: Tensor, index: Any) -> Tensor:
    """Return states, or ids, with other values at an index."""
    part = part.detach().clone()
    old = part[index]
    if part.is_floating_point():
        noise = torch.randn(old.shape, generator=torch.Generator().manual_seed(0))
        part[index] = old + noise.to(old) * (1 + old.abs().max())
    else:
        part[index] = torch.where(old > 0, old - 1, 1)
    return part


def find_layouts(
    call: Callable[[Sequence[Any]], object],
    inputs: Sequence[Any],
    names: dict[nn.Module, str],
    known: Known | None = None,
) -> tuple[list[Layout], tuple[nn.Module, tuple[int, ...]] | None]:
    """Return the layout of each attention of a model's call, and a softmax that was skipped.

    `call` calls the model, with the hooks of `prepare`, on inputs of the same shapes. The layouts
    that it finds become `known`. Raises ValueError with a sentence if a layout is not proven.
    """
    known = {} if known is None else known
    several = [part for part in inputs if isinstance(part, Tensor) and part.dim() > 1]
    sizes = [*several[0].shape[:2]] if several else [1]
    sizes = sizes if not several or several[0].dim() < 4 else sizes[:1]  # texts, or time first
    trial = tried(call, inputs, Trial([*{*sizes}], known=known))
    for attention in trial.attended:
        if not any(attention.layouts.values()):
            raise ValueError(unproven(attention, names, NO_POSITION))
    for axis, rows in enumerate(sizes):
        layouts = by_texts(call, inputs, trial, axis, rows)
        failed = next((n for n, each in enumerate(layouts) if len(each) != 1), None)
        if failed is None:
            found = [each for (each,) in layouts]
            times: Counter[nn.Module] = Counter()
            for attention, layout in zip(trial.attended, found, strict=True):
                heads = heads_of(layout, attention.scores)
                known[attention.module, times[attention.module]] = layout, heads
                times[attention.module] += 1
            return found, trial.passed
    raise ValueError(unproven(trial.attended[failed], names, NO_TEXT))


def heads_of(layout: Layout, scores: Tensor) -> int:
    return layout.maps(scores).size(1)


def tried(call: Callable, inputs: Sequence[Any], trial: Trial) -> Trial:
    with torch.no_grad(), meeting(trial):
        call(inputs)
    return trial


def by_texts(
    call: Callable, inputs: Sequence[Any], trial: Trial, axis: int, rows: int
) -> list[list[Layout]]:
    """Return the layouts of each attention if the texts are in an axis of the inputs.

    Each half of the texts, by each bit of their numbers, is changed without the other.
    """
    layouts = [attention.layouts[rows] for attention in trial.attended]
    texts = torch.arange(rows)
    halves = [texts >> bit & 1 == side for bit in range((rows - 1).bit_length()) for side in (0, 1)]
    for half in halves:
        others = [
            changed(part, (slice(None),) * axis + (half.to(part.device),))
            if is_of_texts(part, axis, rows) else part
            for part in inputs
        ]  # fmt: skip
        again = tried(call, others, Trial()).attended
        if [attention.scores.shape for attention in again] != [
            x.scores.shape for x in trial.attended
        ]:
            return [[] for _ in layouts]
        layouts = [
            [layout for layout in each if is_of(layout, before.scores, after.scores, half)]
            for each, before, after in zip(layouts, trial.attended, again, strict=True)
        ]
    return layouts


def is_of_texts(part: object, axis: int, rows: int) -> bool:
    """Return whether an input has texts in an axis, and is no mask."""
    return (
        isinstance(part, Tensor) and part.dim() > max(1, axis) and part.size(axis) == rows
        and part.dtype != torch.bool and not is_mask(part)
    )  # fmt: skip


def is_of(layout: Layout, before: Tensor, after: Tensor, half: Tensor) -> bool:
    """Return whether the maps that changed are all those of a half of the texts."""
    maps = layout.maps(before != after).flatten(2).any(dim=2).cpu()  # (B, H)
    return torch.equal(maps, half[:, None].expand_as(maps)) if len(maps) == len(half) else False


def unproven(attention: Attended, names: dict[nn.Module, str], why: str) -> str:
    name = names.get(attention.module) or type(attention.module).__name__
    return UNPROVEN.format(name=name, shape=tuple(attention.scores.shape), why=why)
