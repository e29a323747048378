"""Attention of models that compute it in their own code, recorded and edited.

DeBERTa, XLNet, Bloom, Falcon and GPT-J do not accept another attention function, and neither does a
module that somebody wrote themselves. `meeting.py` intercepts the functions of torch that they
call; this file computes their attention, with edits, and records it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import cycle

import torch
from torch import Tensor, nn

from headlight.model.edits.attention import AttentionEdit, Further, replaces_steps
from headlight.model.edits.positions import PositionEdit
from headlight.model.library.attention_interface import Watch, attend, from_position_0, padded
from headlight.model.library.flow import Heads, Mixing, Origin, relead
from headlight.model.library.fused import Projected, Scored
from headlight.model.library.joined_heads import Joined, by_head, read_the_same
from headlight.model.library.layouts import Layout
from headlight.model.library.meeting import meeting
from headlight.model.library.running import Running
from headlight.model.library.stages import Stages
from headlight.model.shape import Ability
from headlight.model.transformer.attention import UNCHANGED, Edit
from headlight.model.transformer.trace import AttentionRecord, Run, Site

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
    """Raised if some attention of a model has no place in the maps of its layers.

    `numbers` are the numbers of its records in the order of the call, and `why` is the end of a
    sentence that gives the reason.
    """

    def __init__(self, numbers: Sequence[int] = (), why: str = "") -> None:
        super().__init__(HALF)
        self.numbers, self.why = numbers, why


@dataclass(frozen=True)
class CodeSites:
    """The modules of a model that attend in their own code, and their attention blocks (sites).

    A module that attends several times has several sites, in the order of its calls. This object
    keeps no state of a call. If modules are one head each, `joined` has the sites of the heads of
    each layer.
    """

    modules: Mapping[nn.Module, Sequence[Site]]
    layouts: Mapping[Site, Layout]
    missing: Mapping[Ability, str] = field(default_factory=lambda: MISSING)
    most: int = 1  # the most times that one module attends in a single call of this module
    rotated: bool = False  # True if rotary positions have turned the recorded queries and keys
    joined: Joined = field(default_factory=dict)

    @property
    def sites(self) -> list[Site]:
        """The attention blocks of all layers; heads that are joined are one attention block."""
        return [*self.joined] or [site for several in self.modules.values() for site in several]

    @contextmanager
    def watching(self, run: Run, *, first_query: int = 0) -> Iterator[None]:
        """Let a model call in this context and thread record into `run.trace`.

        The options are those of `attention_interface.watching`. A record lacks the stages that the
        model's code does not show. Raises ValueError for edits of these stages, and if the model
        does not attend equally often in every layer.
        """
        for edit in run.edits.values():
            self.check(edit)
        if run.trace is None and not run.edits:
            yield
            return
        run = by_head(run, self.joined) if self.joined else run
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
        """Raise ValueError for an edit that cannot be made in this model's own code."""
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
    """Return the `AttentionEdit` inside the edits that wrap it; None if there is none."""
    while isinstance(edit, Further):
        edit = edit.edit
    return edit if isinstance(edit, AttentionEdit) else None


@dataclass
class CodeCall:
    """The record and the edits of one call of a model, or of one generation.

    `layout_of` returns the layout of an attention block's scores.
    """

    watch: Watch
    layout_of: Callable[[Site, Tensor], Layout]
    # the most times that one module may attend in a single call of this module
    limit: int | None = None
    most: int = 0  # the most times that one module has attended so far
    passed: tuple[nn.Module, tuple[int, ...]] | None = (
        None  # a softmax outside attention: its module, and the shape of its input
    )
    site: Site | None = None  # the attention block of the last module that attended
    waiting: AttentionRecord | None = None  # the record of `site`, until the values are known
    joined: list[Sequence[Site]] = field(
        default_factory=list
    )  # for each layer whose heads were joined, these heads

    def join(self, heads: Sequence[Heads]) -> None:
        """Note that the outputs of these heads are joined over their features."""
        sites = list(dict.fromkeys(head.site for head in heads if head.site is not None))
        if len(sites) > 1 and read_the_same(heads):
            self.joined.append(sites)

    def begin(self, running: Running) -> tuple[Site, Edit]:
        """Go on to the next attention block of a module; return its site and its edit."""
        self.keep()
        running.attended += 1
        self.most = max(self.most, running.attended)
        if self.limit is not None and self.most > self.limit:
            raise IncompleteError
        self.site = site = self.watch.site_of(running.module)
        return site, self.watch.run.edits.get(site, UNCHANGED)

    def keep(self) -> None:
        """Record the last attention block, if its record is still waiting for the values."""
        waiting, self.waiting = self.waiting, None
        if waiting is not None and self.site is not None:
            turned = self.watch.rotated and self.site.kind != "cross" and waiting.bias is None
            self.watch.record(self.site, replace(waiting, rotated=turned))

    def fused(
        self, running: Running, fixed: Layout | None, parts: Projected
    ) -> tuple[Tensor, Tensor]:
        """Attend in place of torch, with the edit of the module's next site, and record it."""
        site, edit = self.begin(running)
        layout = self.layout_of(site, parts.query) if fixed is None else fixed
        query, key, value = (layout.maps(part) for part in (parts.query, parts.key, parts.value))
        visible, bias = (
            part if part is None or part.dim() < 3
            else layout.maps(part.expand(*parts.query.shape[:-2], -1, -1))
            for part in (parts.visible, parts.bias)
        )  # fmt: skip
        first_query, first_key = self.watch.positions(site, query.size(2), key.size(2))
        edit = edit.at(first_query, first_key)
        if parts.added is not None:
            edit = Scored(edit, in_maps(parts.added, layout, parts))
        record = attend(query, key, value, visible, edit, scale=parts.scale, bias=bias)
        self.waiting = from_position_0(record, first_key)
        self.keep()
        sizes = *parts.query.shape[:-1], parts.value.size(-1)
        return layout.given(record.heads, sizes), record.weights

    def softmax(
        self,
        running: Running,
        given: Tensor,
        softmax: Callable[[Tensor], Tensor],
        origin: Origin | None,
    ) -> tuple[Tensor, Mixing]:
        """Return the weights of `given` scores in their own axes, and a `Mixing`.

        The `Mixing` records the values and the heads when the weights are multiplied by the values.
        """
        site, edit = self.begin(running)
        layout = self.layout_of(site, given)
        given_map = running.as_map(given, layout, outside=-torch.inf)  # (B, H, Q, K)
        first = self.watch.positions(site, *given_map.shape[-2:])
        edit = edit.at(*first)
        stages = Stages.of(given, given_map, layout, origin).edited(edit)
        if stages.changed:
            empty = stages.masked_scores.isneginf().all(dim=-1, keepdim=True)
            # the softmax of a row with only -inf would be NaN
            filled = stages.masked_scores.masked_fill(empty, 0.0)
            weights = softmax(running.as_given(filled, given, layout, outside=-torch.inf))
            weights = running.as_map(weights, layout).masked_fill(empty, 0.0)
        else:
            weights = running.as_map(softmax(given), layout)
        replaced = edit.reweigh(weights)
        if replaced is not weights:
            # cells that belong to no block get a weight of 0
            weights = running.as_given(replaced, given, layout, outside=0.0)
            weights = running.as_map(weights, layout)
        kept = weights
        if weights[..., :1].isnan().any():  # NaN is the softmax of a query that sees no key
            empty = stages.masked_scores.isneginf().all(dim=-1, keepdim=True)
            kept = weights.masked_fill(empty, 0.0)
        self.waiting = record = from_position_0(stages.record(kept), first[1])
        own, mixes = plain(edit), replaces_steps(edit)

        def mix(used: Tensor, value: Tensor, summed: Tensor) -> Tensor | None:
            """Record values and heads, if their axes are known; return an edit's new heads."""
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

        # a head is linear in its weights, so weights times the gate give the gated head
        gate = None if own is None else own.gate
        gated = weights if gate is None else weights * gate.to(weights)[..., None, None]
        return running.as_given(gated, given, layout, outside=0.0), Mixing(mix)


def in_maps(
    function: Callable[[Tensor], Tensor], layout: Layout, parts: Projected
) -> Callable[[Tensor], Tensor]:
    """Turn a function of scores in the model's own axes into one of scores (B, H, Q, K)."""
    shape = *parts.query.shape[:-1], parts.key.size(-2)
    return lambda scores: layout.maps(function(layout.given(scores, shape)))
