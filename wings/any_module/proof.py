"""Finds by experiment which axes of scores are texts, heads, queries and keys.

Attention written by hand can have its heads anywhere: in an axis of their own, or in one axis with
the texts, before or after them. So each module is called again with one position changed: that may
change only one query and one key, in all heads alike. And the model is called again with some texts
changed: that may change only the maps of these texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from headlight.model.library.flow import CLOSED, Heads, Mixing, Origin, Scores
from headlight.model.library.fused import Projected
from headlight.model.library.layouts import Changes, Layout, differing, fitting, possible
from headlight.model.library.meeting import meeting
from headlight.model.library.running import RUNNING, Running
from headlight.model.transformer.trace import Site
from headlight.wings.any_module.again import Entered, copied
from headlight.wings.any_module.changes import changeable, changed, is_of_texts

UNPROVEN = (
    "In {name}, it cannot be told which axes of the scores {shape} are texts, heads, queries and "
    "keys: {why}. Nothing is shown rather than something wrong. Attend by "
    "scaled_dot_product_attention or by scores (texts, heads, queries, keys), a product of queries "
    "and keys, in a module of its own that is called with the states (texts, tokens, features)."
)
NO_POSITION = (
    "no change of one position of its inputs moves one query and one key, in every head alike"
)
NO_TEXT = "a change of one text of the inputs does not move the maps of this text alone"
AT = (0.0, 0.5, 1.0)  # the positions to change one by one, as shares of the length of an axis


# For a module, and the number of its attention within a call: the layout, which says what axes are
# texts, heads, queries and keys, and the number of heads, both proven by earlier calls.
Known = dict[tuple[nn.Module, int], tuple[Layout, int]]


class ReachedError(Exception):
    """Raised to end the call of a module once the attention that a trial looks for is reached."""


@dataclass
class Attended:
    """One attention in a trial call, and its scores.

    `layouts` has, for each assumed number of texts, what the axes of the scores can mean.
    """

    module: nn.Module
    scores: Tensor
    layouts: dict[int, list[Layout]]


@dataclass
class Trial:
    """Records the scores of a model's call, and changes nothing; used in place of a `CodeCall`.

    `rows` are possible numbers of texts. If there are any, each module is called again with one
    position changed, until it attends, unless the layout of its scores is `known`. The call ends
    after `stops` scores.
    """

    rows: Sequence[int] = ()
    stops: int | None = None
    known: Known = field(default_factory=dict)
    attended: list[Attended] = field(default_factory=list)
    passed: tuple[nn.Module, tuple[int, ...]] | None = None
    closed: int = 0  # how many scores a mask hides

    site: Site | None = None  # layer and kind of attention are not known in a trial
    running: list[Running] = field(init=False)

    def __post_init__(self) -> None:
        self.running = Entered() if self.rows else []

    def keep(self) -> None:
        """Do nothing; a `CodeCall` records the attention here."""

    def join(self, heads: Sequence[Heads]) -> None:
        """Do nothing; a `CodeCall` notes here which heads are joined."""

    def fused(
        self, running: Running, fixed: Layout | None, parts: Projected
    ) -> tuple[Tensor, Tensor]:
        query, key, value = parts.query, parts.key, parts.value
        if query.dim() > 3 and query.size(-3) != key.size(-3):
            groups = query.size(-3) // key.size(-3)
            key, value = (part.repeat_interleave(groups, -3) for part in (key, value))
        scores = query @ key.transpose(-2, -1) * parts.scale
        self.meet(running, scores, (-2,), fixed)
        scores = scores if parts.bias is None else scores + parts.bias
        scores = scores if parts.added is None else scores + parts.added(scores)
        if parts.visible is not None:
            scores = scores.masked_fill(~parts.visible, -torch.inf)
        self.count(scores)
        weights = scores.softmax(dim=-1).nan_to_num(0.0)
        return weights @ value, weights

    def softmax(
        self,
        running: Running,
        given: Tensor,
        softmax: Callable[[Tensor], Tensor],
        origin: Origin | None,
    ) -> tuple[Tensor, Mixing]:
        self.meet(running, given, origin.queries if isinstance(origin, Scores) else ())
        self.count(given)
        return softmax(given), Mixing(lambda *parts: None)

    def count(self, masked_scores: Tensor) -> None:
        """Count the scores that a mask hides; NaN counts too."""
        self.closed += int((~(masked_scores > CLOSED)).sum())

    def meet(
        self,
        running: Running,
        scores: Tensor,
        queries: tuple[int, ...],
        fixed: Layout | None = None,
    ) -> None:
        """Record scores, with the possible layouts of their axes."""
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
        """Change one position in the inputs of a module; keep the layouts that fit the new scores.

        All running modules are tried in turn, the outermost first, until some layout fits.
        """
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
    """Yield for each input of a module the scores after changes of that input at some positions."""
    given: list[Any] = [*outer.inputs, *outer.options.values()]
    count = len(outer.inputs)
    for n, rank in (changeable(given, 2) or changeable(given, 1, whole=True)).items():
        others: list[Tensor] = []
        for at in AT:
            called = [copied(part) for part in given]
            index = tuple(int(at * (size - 1)) for size in given[n].shape[:rank])
            called[n] = changed(given[n], index)
            trial = Trial(stops=outer.attended + 1)
            # The call ends with ReachedError, or with any error of the model's own code.
            with suppress(Exception), meeting(trial):
                outer.module(
                    *called[:count], **dict(zip(outer.options, called[count:], strict=True))
                )
            after = [attention.scores for attention in trial.attended[outer.attended :]]
            if not after or after[0].shape != scores.shape:
                return
            others.append(after[0])
        yield others


def find_layouts(
    call: Callable[[Sequence[Any]], object],
    inputs: Sequence[Any],
    names: dict[nn.Module, str],
    known: Known | None = None,
) -> tuple[list[Layout], tuple[nn.Module, tuple[int, ...]] | None]:
    """Return the layout of each attention in a call, and a softmax outside attention, if any.

    A layout says which axes of scores are texts, heads, queries and keys. `call` runs the model,
    which has the hooks of `prepare`, on inputs of the same shapes. Layouts are added to `known`.
    Raises ValueError with a sentence if one cannot be proven.
    """
    known = {} if known is None else known
    several = [part for part in inputs if isinstance(part, Tensor) and part.dim() > 1]
    sizes = [*several[0].shape[:2]] if several else [1]
    if several and several[0].dim() >= 4:
        sizes = sizes[:1]  # with fewer axes, the texts may be the second axis, after time
    trial = tried(call, inputs, Trial([*{*sizes}], known=known))
    for attention in trial.attended:
        if not any(attention.layouts.values()):
            raise ValueError(unproven(attention, names, NO_POSITION))
    failed = []
    for axis, rows in enumerate(sizes):
        layouts = by_texts(call, inputs, trial, axis, rows)
        first = next((n for n, each in enumerate(layouts) if len(each) != 1), None)
        if first is None:
            found = [each for (each,) in layouts]
            times: Counter[nn.Module] = Counter()
            for attention, layout in zip(trial.attended, found, strict=True):
                heads = heads_of(layout, attention.scores)
                known[attention.module, times[attention.module]] = layout, heads
                times[attention.module] += 1
            return found, trial.passed
        failed.append(first)
    raise ValueError(unproven(trial.attended[max(failed)], names, NO_TEXT))


def heads_of(layout: Layout, scores: Tensor) -> int:
    return layout.maps(scores).size(1)


def tried(call: Callable, inputs: Sequence[Any], trial: Trial) -> Trial:
    with torch.no_grad(), meeting(trial):
        call(inputs)
    return trial


def by_texts(
    call: Callable, inputs: Sequence[Any], trial: Trial, axis: int, rows: int
) -> list[list[Layout]]:
    """Return the layouts of each attention that stay possible if `axis` of the inputs is the texts.

    For each bit of their numbers, the texts with a 0 are changed alone, then those with a 1.
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


def is_of(layout: Layout, before: Tensor, after: Tensor, half: Tensor) -> bool:
    """Return whether the scores changed for exactly the texts in `half`, and in all their heads."""
    maps = layout.maps(differing(before, after)).flatten(2).any(dim=2).cpu()  # (B, H)
    return torch.equal(maps, half[:, None].expand_as(maps)) if len(maps) == len(half) else False


def unproven(attention: Attended, names: dict[nn.Module, str], why: str) -> str:
    name = names.get(attention.module) or type(attention.module).__name__
    return UNPROVEN.format(name=name, shape=tuple(attention.scores.shape), why=why)
