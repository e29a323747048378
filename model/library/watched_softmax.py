"""Attention of models that compute it in their own code, recorded and edited at its softmax.

DeBERTa, XLNet, Bloom, Falcon, GPT-J and others do not accept another attention function. But each
ends its scores in a softmax: its input is the scores after the mask, its output the weights, and a
`TorchFunctionMode`, which is bound to one thread, can replace both. A softmax belongs to attention
if it is called inside a module whose class has that in its name; all others, such as the softmax of
a router or of an output, pass untouched.

LongT5's encoder computes attention in blocks of queries that each see their own block of keys and
its two neighbours, in (B, blocks, H, L, 3 L) for blocks of L tokens, the last one padded.
Source: "LongT5: Efficient Text-To-Text Transformer for Long Sequences", section 3.1.1.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from headlight.model.attention import UNCHANGED, fit_bias, fit_cells, fit_weights
from headlight.model.library.attention_interface import Watch, from_position_0
from headlight.model.reader import Ability
from headlight.model.trace import AttentionEdit, AttentionRecord, Kind, PositionEdit, Run, Site

# Masks add or fill in -1e4 (in OpenAI's first GPT) or less; no score is that low.
CLOSED = -9e3
SOFTMAXES = {F.softmax, torch.softmax, Tensor.softmax, torch.special.softmax}

MISSING: Mapping[Ability, str] = {
    "open cells": (
        "This model's own code puts the mask into its scores before they can be read, so a closed "
        "cell cannot be opened."
    ),
    "take apart": (
        "This model's own code keeps queries, keys and values to itself: its masked scores and "
        "weights are recorded, and nothing before or after them."
    ),
    "add up heads": (
        "This model's own code joins its heads before they can be read, so what each of them adds "
        "is not known."
    ),
}
HALF = (
    "This model does not attend once in every layer over this text, so its attention cannot be "
    "shown whole. Try a text of another length, or choose another model."
)


@dataclass
class Running:
    """An attention module during its call, with its inputs."""

    module: nn.Module
    inputs: tuple[Any, ...]
    attended: bool = False

    def is_in_blocks(self, given: Tensor) -> bool:
        """Return whether it computes in blocks of queries, as LongT5's encoder does."""
        return given.dim() == 5 and given.size(-1) == 3 * given.size(-2) and bool(self.inputs)

    def as_map(self, given: Tensor, heads: int, outside: float) -> Tensor:
        """Return its scores or weights as (B, H, Q, K).

        Some models have the heads in the batch, (B * H, Q, K), and some compute in blocks; cells
        outside of all blocks become `outside`.
        """
        if given.dim() == 3:
            return given.unflatten(0, (-1, heads))
        if self.is_in_blocks(given):
            return join_blocks(given, self.inputs[0].size(1), outside)
        return given

    def as_given(self, cells: Tensor, given: Tensor, outside: float) -> Tensor:
        """Return (B, H, Q, K) in the shape of `given`, the inverse of `as_map`."""
        if self.is_in_blocks(given):
            return split_blocks(cells, given.size(-2), outside)
        return cells.reshape(given.shape).contiguous()


# The replacement of a softmax: it takes the module, the scores, and the softmax itself.
Replacement = Callable[[Running, Tensor, Callable[[Tensor], Tensor]], Tensor]

# The running attention modules of this thread, the innermost last; None if not watched.
RUNNING: ContextVar[list[Running] | None] = ContextVar("running attention", default=None)


class SoftmaxMode(TorchFunctionMode):
    """Calls a replacement instead of every softmax inside an attention module."""

    def __init__(self, replacement: Replacement) -> None:
        super().__init__()
        self.replacement = replacement

    def __torch_function__(
        self, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        running, kwargs = RUNNING.get(), kwargs or {}
        if function not in SOFTMAXES or not running:
            return function(*args, **kwargs)
        given, *rest = args
        return self.replacement(
            running[-1], given, lambda scores: function(scores, *rest, **kwargs)
        )


@contextmanager
def replacing(replacement: Replacement) -> Iterator[None]:
    token = RUNNING.set([])
    try:
        with SoftmaxMode(replacement):
            yield
    finally:
        RUNNING.reset(token)


def enter(module: nn.Module, inputs: tuple[Any, ...]) -> None:
    """Record that an attention module begins, if the thread is watched; a forward hook."""
    running = RUNNING.get()
    if running is not None:
        running.append(Running(module, inputs))


def leave(module: nn.Module, inputs: tuple[Any, ...], output: object) -> None:
    """Record that an attention module has ended, if the thread is watched; a forward hook."""
    running = RUNNING.get()
    if running is not None:
        running.pop()


@dataclass(frozen=True)
class SoftmaxSites:
    """The modules of a model that call a softmax, by site; it holds no state of a call."""

    modules: Mapping[nn.Module, Site]
    heads: Mapping[Kind, int]  # in each layer

    @contextmanager
    def watching(self, run: Run, *, first_query: int = 0) -> Iterator[None]:
        """Let a model call in this context and thread record into `run.trace`.

        The options are those of `attention_interface.watching`. A record holds masked scores and
        weights; all its other stages are None. Raises ValueError for edits that open cells or
        change the scale, and if a call does not attend once in every layer.
        """
        for edit in run.edits.values():
            check(edit)
        if run.trace is None and not run.edits:
            yield
            return
        watch = Watch(run, self.modules.__getitem__, first_query=first_query)
        call = SoftmaxCall(self, watch)
        with replacing(call.attend):
            yield
        call.check()


def check(edit: AttentionEdit | PositionEdit) -> None:
    """Raise ValueError for an edit that cannot be made at a softmax."""
    if isinstance(edit, PositionEdit):
        raise ValueError(
            "This model's own code gives its tokens their positions, which cannot be moved. Leave "
            "the positions as trained."
        )
    if edit.open is not None:
        raise ValueError(f"{MISSING['open cells']} Close cells instead.")
    if edit.steps is not None:
        raise ValueError(f"{MISSING['take apart']} Leave them as they are.")
    if edit.scale is not None:
        raise ValueError(
            "This model's own code scales its scores before they can be read. Leave the scale as "
            "trained."
        )


@dataclass
class SoftmaxCall:
    """One call of a model, or one generation, that is watched."""

    sites: SoftmaxSites
    watch: Watch
    counts: Counter[Site] = field(default_factory=Counter)  # of calls

    def attend(
        self, running: Running, given: Tensor, softmax: Callable[[Tensor], Tensor]
    ) -> Tensor:
        """Return the weights for the scores that a softmax was given, both in the model's shape."""
        if running.module not in self.sites.modules or running.attended:
            raise ValueError(HALF)
        running.attended = True
        site = self.watch.site_of(running.module)
        self.counts[site] += 1
        heads = self.sites.heads[site.kind]
        edit = self.watch.run.edits.get(site, UNCHANGED)
        scores = running.as_map(given, heads, outside=-torch.inf)  # (B, H, Q, K)
        if scores.dim() != 4 or scores.size(1) != heads:
            raise ValueError(HALF)
        queries, keys = scores.shape[-2:]
        first_query, first_key = self.watch.positions(site, queries, keys)
        masked_scores = scores.masked_fill(scores < CLOSED, -torch.inf)
        lowered = fit_bias(edit, first_query, scores, first_key)
        if edit.block is None and lowered is None:
            weights = running.as_map(softmax(given), heads, outside=0.0)
        else:
            if edit.block is not None:
                block = edit.block.to(scores.device)
                cells = fit_cells(block, first_query, queries, keys, first_key)
                masked_scores = masked_scores.masked_fill(cells, -torch.inf)
            if lowered is not None:
                masked_scores = masked_scores + lowered
            empty = masked_scores.isneginf().all(dim=-1, keepdim=True)
            filled = masked_scores.masked_fill(empty, 0.0)  # a row of -inf would become NaN
            weights = softmax(running.as_given(filled, given, outside=-torch.inf))
            weights = running.as_map(weights, heads, outside=0.0).masked_fill(empty, 0.0)
        if edit.weights is not None:
            weights = fit_weights(edit.weights, first_query, weights, first_key)
            weights = running.as_given(weights, given, outside=0.0)  # without cells in no block
            weights = running.as_map(weights, heads, outside=0.0)
        record = AttentionRecord(None, None, None, None, masked_scores, weights, None)
        self.watch.record(site, from_position_0(record, first_key))
        if edit.gate is not None:  # a head is linear in its weights
            weights = weights * edit.gate.to(weights)[..., None, None]
        return running.as_given(weights, given, outside=0.0)

    def check(self) -> None:
        """Raise ValueError unless all layers of a kind attended equally often."""
        kinds = {site.kind for site in self.counts}
        times = [
            {self.counts[site] for site in self.sites.modules.values() if site.kind == kind}
            for kind in kinds
        ]
        if not times or any(len(counts) > 1 for counts in times):
            raise ValueError(HALF)


def first_keys(queries: int, length: int, device: torch.device) -> Tensor:
    """Return the first key that each query's block sees, (queries, 1); negative before the text."""
    return (torch.arange(queries, device=device)[:, None] // length - 1) * length


def join_blocks(blocks: Tensor, tokens: int, outside: float) -> Tensor:
    """(B, blocks, H, L, 3 L) -> (B, H, tokens, tokens); cells in no block become `outside`."""
    length, width = blocks.shape[-2:]
    rows = blocks.transpose(1, 2).flatten(2, 3)[:, :, :tokens]  # (B, H, tokens, 3 L)
    keys = torch.arange(tokens, device=blocks.device)
    columns = keys - first_keys(tokens, length, blocks.device)  # (tokens, tokens)
    inside = (columns >= 0) & (columns < width)
    columns = columns.clamp(0, width - 1).expand(*rows.shape[:2], -1, -1)
    return rows.gather(-1, columns).where(inside, outside)


def split_blocks(cells: Tensor, length: int, outside: float) -> Tensor:
    """(B, H, tokens, tokens) -> (B, blocks, H, L, 3 L); keys beyond the text become `outside`.

    Queries beyond the text, whose results are cut off, have 0 for the keys in the text.
    """
    tokens = cells.size(-1)
    queries = -(-tokens // length) * length
    rows = F.pad(cells, (0, 0, 0, queries - tokens))  # (B, H, queries, tokens)
    keys = torch.arange(3 * length, device=cells.device)
    keys = keys + first_keys(queries, length, cells.device)  # (queries, 3 L)
    inside = (keys >= 0) & (keys < tokens)
    keys = keys.clamp(0, tokens - 1).expand(*rows.shape[:2], -1, -1)
    blocks = rows.gather(-1, keys).where(inside, outside)
    return blocks.unflatten(2, (-1, length)).transpose(1, 2).contiguous()
