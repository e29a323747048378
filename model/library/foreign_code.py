"""Attention of models that compute it in their own code, met at the functions of torch they call.

DeBERTa, XLNet, Bloom, Falcon and GPT-J do not accept another attention function, and neither does a
module that somebody wrote themselves. But each calls nn.MultiheadAttention, fused attention, or a
softmax of its scores, and a `TorchFunctionMode`, which is bound to one thread, meets all three. A
softmax belongs to attention if its scores are a product of queries and keys, or if it is called
inside a module whose class has attention in its name; all others, such as the softmax of a router
or of an output, pass untouched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import cycle
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from headlight.model.edits.attention import AttentionEdit, Further, replaces_steps
from headlight.model.edits.positions import PositionEdit
from headlight.model.library.attention_interface import Watch, attend, from_position_0, padded
from headlight.model.library.flow import Flow, Mixing, Scores, relead
from headlight.model.library.fused import Projected, multi_head, scaled_dot_product
from headlight.model.library.layouts import FIXED, Layout
from headlight.model.library.running import RUNNING, Running
from headlight.model.library.stages import Stages
from headlight.model.shape import Ability
from headlight.model.transformer.attention import UNCHANGED, Edit
from headlight.model.transformer.trace import AttentionRecord, Run, Site

SOFTMAXES = {"softmax", "special_softmax"}
MISSING: Mapping[Ability, str] = {
    "open cells": (
        "This model's own code puts the mask into its scores before they can be read, so a closed "
        "cell cannot be opened."
    ),
    "take apart": (
        "This model's own code keeps queries, keys and values to itself: its masked scores and "
        "weights are recorded, and nothing before or after them."
    ),
}
HALF = (
    "This model does not attend once in every layer over this text, so its attention cannot be "
    "shown whole. Try a text of another length, or choose another model."
)
NOT_LAST = (
    "{name} takes a softmax over axis {axis} of scores of the shape {shape}, which is not the last "
    "one, so which of them are queries and keys cannot be told. Let the keys be the last axis of "
    "the scores, and take the softmax over it."
)


class IncompleteError(ValueError):
    """Some attention of a model has no place in the maps of its layers."""

    def __init__(self) -> None:
        super().__init__(HALF)


class AttentionMode(TorchFunctionMode):
    """Lets a `CodeCall` compute all attention in modules with the hooks `enter` and `leave`."""

    def __init__(self, call: CodeCall, running: list[Running]) -> None:
        super().__init__()
        self.call, self.running, self.flow = call, running, Flow()

    def __torch_function__(
        self, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        running, kwargs = self.running, kwargs or {}
        if not running or RUNNING.get() is not running:  # as in a trial within a call
            return function(*args, **kwargs)
        if function is F.multi_head_attention_forward:
            return multi_head(partial(self.call.fused, running[-1], FIXED), *args, **kwargs)
        if function is F.scaled_dot_product_attention:
            return scaled_dot_product(partial(self.call.fused, running[-1], None), *args, **kwargs)
        if getattr(function, "__name__", "") in SOFTMAXES and isinstance(args[0], Tensor):
            given, *rest = args
            origin = self.flow.origin(given)
            axis = kwargs.get("dim", rest[0] if rest else -1)
            if isinstance(origin, Scores) and axis not in (-1, given.dim() - 1):
                name, shape = type(running[-1].module).__name__, tuple(given.shape)
                raise ValueError(NOT_LAST.format(name=name, axis=axis, shape=shape))
            known = isinstance(origin, Scores) or running[-1].is_attention
            if known and given.dim() > 2 and axis in (-1, given.dim() - 1):
                weights, mixing = self.call.softmax(
                    running[-1], given, lambda scores: function(scores, *rest, **kwargs), origin
                )
                self.flow.origins[weights] = mixing
                return weights
            self.call.passed = running[-1].module, tuple(given.shape)
        return self.flow.call(function, args, kwargs)


@contextmanager
def meeting(call: Any) -> Iterator[None]:
    """Let a call of a model in this context and thread compute its attention by a `CodeCall`.

    A trial, which has the same methods, can replace it, and have a list for the modules.
    """
    running: list[Running] = getattr(call, "running", [])
    token = RUNNING.set(running)
    try:
        with AttentionMode(call, running):
            yield
        call.keep()
    finally:
        RUNNING.reset(token)


@dataclass(frozen=True)
class CodeSites:
    """The modules of a model that attend in their own code, by site; no state of a call.

    A module that attends several times has several sites, in the order of its calls.
    """

    modules: Mapping[nn.Module, Sequence[Site]]
    layouts: Mapping[Site, Layout]
    missing: Mapping[Ability, str] = field(default_factory=lambda: MISSING)
    most: int = 1  # times that a module attends in one call of it
    rotated: bool = False  # see `AttentionSites`

    @contextmanager
    def watching(self, run: Run, *, first_query: int = 0) -> Iterator[None]:
        """Let a model call in this context and thread record into `run.trace`.

        The options are those of `attention_interface.watching`. A record lacks the stages that the
        code keeps to itself. Raises ValueError for edits of these stages, and if a call does not
        attend equally often in every layer.
        """
        for edit in run.edits.values():
            self.check(edit)
        if run.trace is None and not run.edits:
            yield
            return
        next_sites = {module: cycle(sites) for module, sites in self.modules.items()}
        counts: Counter[Site] = Counter()

        def site_of(module: nn.Module) -> Site:
            if module not in next_sites:
                raise IncompleteError
            site = next(next_sites[module])
            counts[site] += 1
            return site

        watch = Watch(run, site_of, self.rotated, first_query)
        with meeting(CodeCall(watch, lambda site, _: self.layouts[site], self.most)):
            yield
        kinds = {site.kind for site in counts}
        sites = [site for several in self.modules.values() for site in several]
        times = [{counts[site] for site in sites if site.kind == kind} for kind in kinds]
        if not times or any(len(several) > 1 for several in times):
            raise IncompleteError

    def check(self, edit: Edit | PositionEdit) -> None:
        """Raise ValueError for an edit that this model's code does not let through."""
        if isinstance(edit, PositionEdit):
            raise ValueError(
                "This model's own code gives its tokens their positions, which cannot be moved. "
                "Leave the positions as trained."
            )
        if replaces_steps(edit) and "take apart" in self.missing:
            raise ValueError(f"{self.missing['take apart']} They cannot be replaced.")
        kept = plain(edit)
        if kept is not None and kept.open is not None and "open cells" in self.missing:
            raise ValueError(f"{self.missing['open cells']} Close cells instead.")
        if edit.scale is not None and "take apart" in self.missing:
            raise ValueError(
                "This model's own code scales its scores before they can be read. Leave the scale "
                "as trained."
            )


def plain(edit: Edit) -> AttentionEdit | None:
    """Return the visitor's own edit, without what analyses have wrapped around it, or None."""
    while isinstance(edit, Further):
        edit = edit.edit
    return edit if isinstance(edit, AttentionEdit) else None


@dataclass
class CodeCall:
    """One call of a model, or one generation, that is watched.

    `layout_of` tells the axes of a site's scores.
    """

    watch: Watch
    layout_of: Callable[[Site, Tensor], Layout]
    limit: int | None = None  # times that a module may attend in one call of it
    most: int = 0  # times that one has
    passed: tuple[nn.Module, tuple[int, ...]] | None = (
        None  # a softmax that does not belong to attention
    )
    site: Site = field(init=False, repr=False)  # of the last module that attended
    waiting: AttentionRecord | None = None  # of the site, until its values are known

    def begin(self, running: Running) -> Edit:
        """Go on to the next site of a module, and return its edit."""
        self.keep()
        running.attended += 1
        self.most = max(self.most, running.attended)
        if self.limit is not None and self.most > self.limit:
            raise IncompleteError
        self.site = self.watch.site_of(running.module)
        return self.watch.run.edits.get(self.site, UNCHANGED)

    def keep(self) -> None:
        """Record a site that waits for its values."""
        waiting, self.waiting = self.waiting, None
        if waiting is not None:
            turned = self.watch.rotated and self.site.kind != "cross" and waiting.bias is None
            self.watch.record(self.site, replace(waiting, rotated=turned))

    def fused(
        self, running: Running, fixed: Layout | None, parts: Projected
    ) -> tuple[Tensor, Tensor]:
        """Attend in place of torch, with the edits of the module's next site, and record it."""
        edit = self.begin(running)
        layout = self.layout_of(self.site, parts.query) if fixed is None else fixed
        query, key, value = (layout.maps(part) for part in parts[:3])
        visible, bias = (
            part if part is None or part.dim() < 3
            else layout.maps(part.expand(*parts.query.shape[:-2], -1, -1))
            for part in (parts.visible, parts.bias)
        )  # fmt: skip
        first_query, first_key = self.watch.positions(self.site, query.size(2), key.size(2))
        record = attend(
            query, key, value, visible, edit.at(first_query, first_key),
            scale=parts.scale, bias=bias,
        )  # fmt: skip
        self.waiting = from_position_0(record, first_key)
        self.keep()
        sizes = *parts.query.shape[:-1], parts.value.size(-1)
        return layout.given(record.heads, sizes), record.weights

    def softmax(
        self,
        running: Running,
        given: Tensor,
        softmax: Callable[[Tensor], Tensor],
        origin: Scores | Mixing | None,
    ) -> tuple[Tensor, Mixing]:
        """Return the weights for a softmax's scores, in the shape of both.

        Also returns what to do with the weights when they meet the values.
        """
        edit = self.begin(running)
        layout = self.layout_of(self.site, given)
        given_map = running.as_map(given, layout, outside=-torch.inf)  # (B, H, Q, K)
        first = self.watch.positions(self.site, *given_map.shape[-2:])
        edit = edit.at(*first)
        stages = Stages.of(given, given_map, layout, origin).edited(edit)
        if stages.changed:
            empty = stages.masked_scores.isneginf().all(dim=-1, keepdim=True)
            filled = stages.masked_scores.masked_fill(empty, 0.0)  # -inf would become NaN
            weights = softmax(running.as_given(filled, given, layout, outside=-torch.inf))
            weights = running.as_map(weights, layout).masked_fill(empty, 0.0)
        else:
            weights = running.as_map(softmax(given), layout)
        replaced = edit.reweigh(weights)
        if replaced is not weights:
            # Cells in no block are 0.
            weights = running.as_given(replaced, given, layout, outside=0.0)
            weights = running.as_map(weights, layout)
        self.waiting = record = from_position_0(stages.record(weights), first[1])
        own, mixes = plain(edit), replaces_steps(edit)

        def mix(used: Tensor, value: Tensor, summed: Tensor) -> Tensor | None:
            """Record values and heads, if they have the known form; return an edit's own heads."""
            same = used.shape[-2:] == given.shape[-2:] and given_map.numel() == given.numel()
            if not same or self.waiting is not record:
                return None
            value = layout.keys(relead(value, used.shape, given.shape), given.shape)
            result = layout.queries(relead(summed, used.shape, given.shape), given.shape)
            if mixes:
                result = edit.mix(weights, value)
            rows = padded(value, (0, 0, first[1], 0)) if first[1] else value
            self.waiting = replace(record, value=rows, heads=result)
            self.keep()
            if not mixes:
                return None
            sizes = *given.shape[:-1], result.size(-1)
            return layout.given(result, sizes).reshape(summed.shape)

        # A head is linear in its weights.
        gate = None if own is None else own.gate
        gated = weights if gate is None else weights * gate.to(weights)[..., None, None]
        return running.as_given(gated, given, layout, outside=0.0), Mixing(mix)
