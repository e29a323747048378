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

from headlight.model.attention import UNCHANGED, fit_weights
from headlight.model.library.attention_interface import Watch, attend, from_position_0, padded
from headlight.model.library.flow import Flow, Mixing, Scores
from headlight.model.library.fused import Projected, multi_head, scaled_dot_product
from headlight.model.library.running import RUNNING, Running
from headlight.model.library.stages import Stages, by_heads, like
from headlight.model.positions import PositionEdit
from headlight.model.reader import Ability
from headlight.model.trace import AttentionEdit, AttentionRecord, Kind, Run, Site

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


class IncompleteError(ValueError):
    """Some attention of a model has no place in the maps of its layers."""

    def __init__(self) -> None:
        super().__init__(HALF)


class AttentionMode(TorchFunctionMode):
    """Lets a `CodeCall` compute all attention in modules with the hooks `enter` and `leave`."""

    def __init__(self, call: CodeCall) -> None:
        super().__init__()
        self.call, self.flow = call, Flow()

    def __torch_function__(
        self, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        running, kwargs = RUNNING.get(), kwargs or {}
        if not running:
            return function(*args, **kwargs)
        if function is F.multi_head_attention_forward:
            return multi_head(partial(self.call.fused, running[-1]), *args, **kwargs)
        if function is F.scaled_dot_product_attention:
            return scaled_dot_product(partial(self.call.fused, running[-1]), *args, **kwargs)
        if getattr(function, "__name__", "") in SOFTMAXES and isinstance(args[0], Tensor):
            given, *rest = args
            origin = self.flow.origin(given)
            axis = kwargs.get("dim", rest[0] if rest else -1)
            known = isinstance(origin, Scores) or running[-1].is_attention
            if known and given.dim() > 2 and axis in (-1, given.dim() - 1):
                weights, mixing = self.call.softmax(
                    running[-1], given, lambda scores: function(scores, *rest, **kwargs), origin
                )
                self.flow.origins[weights] = mixing
                return weights
        return self.flow.call(function, args, kwargs)


@contextmanager
def meeting(call: CodeCall) -> Iterator[None]:
    """Let a call of a model in this context and thread compute its attention by a `CodeCall`."""
    token = RUNNING.set([])
    try:
        with AttentionMode(call):
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
    heads: Mapping[Kind, int]  # in each layer
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
        with meeting(CodeCall(watch, lambda site, _: self.heads[site.kind], self.most)):
            yield
        kinds = {site.kind for site in counts}
        sites = [site for several in self.modules.values() for site in several]
        times = [{counts[site] for site in sites if site.kind == kind} for kind in kinds]
        if not times or any(len(several) > 1 for several in times):
            raise IncompleteError

    def check(self, edit: AttentionEdit | PositionEdit) -> None:
        """Raise ValueError for an edit that this model's code does not let through."""
        if isinstance(edit, PositionEdit):
            raise ValueError(
                "This model's own code gives its tokens their positions, which cannot be moved. "
                "Leave the positions as trained."
            )
        if edit.open is not None and "open cells" in self.missing:
            raise ValueError(f"{self.missing['open cells']} Close cells instead.")
        if edit.steps is not None and "take apart" in self.missing:
            raise ValueError(f"{self.missing['take apart']} Leave them as they are.")
        if edit.scale is not None and "take apart" in self.missing:
            raise ValueError(
                "This model's own code scales its scores before they can be read. Leave the scale "
                "as trained."
            )


@dataclass
class CodeCall:
    """One call of a model, or one generation, that is watched.

    `heads_of` tells the heads of a site, for scores or queries that have them in the batch.
    """

    watch: Watch
    heads_of: Callable[[Site, Tensor], int]
    limit: int | None = None  # times that a module may attend in one call of it
    most: int = 0  # times that one has
    site: Site | None = None
    waiting: AttentionRecord | None = None  # of the site, until its values are known

    def begin(self, running: Running) -> AttentionEdit:
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

    def fused(self, running: Running, parts: Projected) -> AttentionRecord:
        """Attend in place of torch, with the edits of the module's next site, and record it."""
        edit = self.begin(running)
        heads = self.heads_of(self.site, parts.query)
        query, key, value = (by_heads(part, heads) for part in parts[:3])
        first_query, first_key = self.watch.positions(self.site, query.size(2), key.size(2))
        record = attend(
            query, key, value, parts.visible, edit, first_query, first_key,
            scale=parts.scale, bias=parts.bias,
        )  # fmt: skip
        self.waiting = from_position_0(record, first_key)
        self.keep()
        return record

    def softmax(
        self,
        running: Running,
        given: Tensor,
        softmax: Callable[[Tensor], Tensor],
        origin: Scores | Mixing | None,
    ) -> tuple[Tensor, Mixing]:
        """Return the weights for the scores that a softmax was given, in the shape of both.

        They come with what is to be done where they meet the values.
        """
        edit = self.begin(running)
        heads = self.heads_of(self.site, given)
        given_map = running.as_map(given, heads, outside=-torch.inf)  # (B, H, Q, K)
        if given_map.dim() != 4 or (given.dim() < 5 and given_map.size(1) != heads):
            raise IncompleteError
        first = self.watch.positions(self.site, *given_map.shape[-2:])
        stages = Stages.of(given, given_map, heads, origin).edited(edit, *first)
        if stages.changed:
            empty = stages.masked_scores.isneginf().all(dim=-1, keepdim=True)
            filled = stages.masked_scores.masked_fill(empty, 0.0)  # -inf would become NaN
            weights = softmax(running.as_given(filled, given, outside=-torch.inf))
            weights = running.as_map(weights, heads).masked_fill(empty, 0.0)
        else:
            weights = running.as_map(softmax(given), heads)
        if edit.weights is not None:
            weights = fit_weights(edit.weights, first[0], weights, first[1])
            weights = running.as_given(weights, given, outside=0.0)  # without cells in no block
            weights = running.as_map(weights, heads)
        self.waiting = record = from_position_0(stages.record(weights), first[1])
        gate = None if edit.gate is None else edit.gate.to(weights)[..., None, None]

        def mix(_: Tensor, value: Tensor, summed: Tensor) -> Tensor | None:
            """Record values and heads, if they have the known form; return those after `steps`."""
            value, result = like(weights, value, heads), like(weights, summed, heads)
            if value is None or result is None or self.waiting is not record:
                return None
            mixed = weights
            if edit.steps is not None:
                mixed, value = edit.steps.inputs(weights, value)
                result = edit.steps.heads(mixed, value)
                result = edit.steps.result(result if gate is None else result * gate)
            rows = padded(value, (0, 0, first[1], 0)) if first[1] else value
            shown = record.weights if mixed is weights else mixed
            self.waiting = replace(record, weights=shown, value=rows, heads=result)
            self.keep()
            return None if edit.steps is None else result.reshape(summed.shape)

        gated = weights if gate is None else weights * gate  # a head is linear in its weights
        return running.as_given(gated, given, outside=0.0), Mixing(mix)
