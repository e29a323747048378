"""Record and edit attention in models of the transformers library as in our own layers.

Most of these models call a registered function with their projected query, key and value. The
registry belongs to the whole process. So our function looks up in a context variable what the
current call should record and edit, and threads can share a model.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from headlight.model.edits.attention import replaces_steps
from headlight.model.transformer.attention import UNCHANGED, Edit
from headlight.model.transformer.masks import look_ahead_mask, softmax_of_visible
from headlight.model.transformer.trace import AttentionRecord, Run, Site

MORE_KEYS = (
    "This model looks at keys that belong to no token of this text and cannot be shown. Try a "
    "shorter text, or choose another model."
)
NAME = "headlight"  # the library treats names with "sdpa", "flex" or "flash" in a special way


@dataclass(frozen=True)
class AttentionSites:
    """The modules of a model that attend, and their sites (the attention blocks they compute).

    A module that several layers share, as in ALBERT, has several sites, in the order of its calls.
    """

    modules: Mapping[nn.Module, Sequence[Site]]
    rotated: bool = False  # True if rotary positions have turned the recorded queries and keys


@dataclass
class Watch:
    """The record and the edits of one watched call of a model, or of one generation."""

    run: Run
    # returns the attention block that a module's next call computes
    site_of: Callable[[nn.Module], Site]
    rotated: bool = False
    first_query: int = 0  # the position of the first query of the first call
    # the number of queries of each attention block so far
    queries: Counter[Site] = field(default_factory=Counter)

    def positions(self, site: Site, queries: int, keys: int) -> tuple[int, int]:
        """Return the positions of the first query and the first key, and count the queries.

        The last key of a decoder is always at the position of the last query.
        """
        if site.kind == "encoder":
            return 0, 0
        first_query = self.first_query + self.queries[site]
        self.queries[site] += queries
        first_key = first_query + queries - keys if site.kind == "decoder" else 0
        if first_key < 0:
            raise ValueError(MORE_KEYS)
        return first_query, first_key

    def record(self, site: Site, record: AttentionRecord) -> None:
        if self.run.trace is not None:
            self.run.trace.record(site, in_float32(record))


WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watching(
    run: Run,
    sites: AttentionSites,
    *,
    first_query: int = 0,
) -> Iterator[None]:
    """Let calls of a model in this context and thread record into `run.trace`, under its edits.

    With a cache, `first_query` is the number of earlier positions; later calls in the same context,
    as in a generation, continue this count, and the trace keeps the last call. If there is nothing
    to record or to edit, the model is as fast as with its own attention.
    """
    if run.trace is None and not run.edits:
        yield
        return
    next_sites = {module: cycle(several) for module, several in sites.modules.items()}
    with watched(Watch(run, lambda module: next(next_sites[module]), sites.rotated, first_query)):
        yield


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    token = WATCH.set(watch)
    try:
        yield
    finally:
        WATCH.reset(token)


def register() -> None:
    """Register our attention with the transformers library; repeated calls change nothing.

    A mask function must be registered under the same name, or models would get no mask.
    """
    from transformers import AttentionInterface, AttentionMaskInterface

    AttentionInterface.register(NAME, attention)
    AttentionMaskInterface.register(NAME, visible_keys)


def visible_keys(*arguments: Any, **options: Any) -> Tensor | None:
    """Return the mask of a model's call as booleans (B, 1, Q, K), or None if nothing is hidden.

    Outside of `watching`, None may also mean the look-ahead mask, which fused attention applies
    itself.
    """
    from transformers.masking_utils import sdpa_mask

    if WATCH.get() is not None:
        options["allow_is_causal_skip"] = False
    return sdpa_mask(*arguments, **options)


def attention(
    module: nn.Module,
    query: Tensor,  # (B, H, Q, D)
    key: Tensor,  # (B, key heads, K, D), as is value
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    softcap: float | None = None,  # the limit on scores, in Gemma 2
    position_bias: Tensor | None = None,  # the bias for relative positions, in T5
    s_aux: Tensor | None = None,  # the attention sinks, in GPT-OSS
    **options: Any,
) -> tuple[Tensor, Tensor | None]:
    """Attend like the library's eager attention; return heads (B, Q, H, D), weights (B, H, Q, K).

    The library calls this function. Outside of `watching`, nothing is recorded or edited, and the
    weights are None if fused attention can be used.
    """
    watch = WATCH.get()
    site = None if watch is None else watch.site_of(module)
    edit = UNCHANGED if watch is None else watch.run.edits.get(site, UNCHANGED)
    if watch is not None and watch.run.trace is None and edit is UNCHANGED:
        site = None  # without a site, nothing is recorded or edited
    if site is None and softcap is None and s_aux is None:
        from transformers.integrations.sdpa_attention import sdpa_attention_forward

        is_causal = options.get("is_causal") if watch is None else False
        return sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling,
            is_causal=is_causal, position_bias=position_bias,
        )  # fmt: skip
    if attention_mask is None and watch is None and getattr(module, "is_causal", False):
        attention_mask = look_ahead_mask(
            query.size(2), key.size(2) - query.size(2), device=query.device
        )
    first_query, first_key = 0, 0
    if watch is not None and site is not None:
        first_query, first_key = watch.positions(site, query.size(2), key.size(2))
    dtype = query.dtype
    # edits of any step, and gradients, use the recorded numbers, which are float32
    if replaces_steps(edit) or torch.is_grad_enabled():
        query, key, value = query.float(), key.float(), value.float()
    record = attend(
        query, key, value, as_visible(attention_mask, key.size(2)), edit.at(first_query, first_key),
        scale=query.size(-1) ** -0.5 if scaling is None else scaling,
        scaled_before=getattr(module, "scaling", 1.0) if scaling == 1.0 else 1.0,
        bias=position_bias, softcap=softcap, sinks=s_aux,
    )  # fmt: skip
    if watch is not None and site is not None:
        rotated = watch.rotated and site.kind != "cross" and getattr(module, "use_rope", True)
        watch.record(site, replace(from_position_0(record, first_key), rotated=rotated))
    return record.heads.transpose(1, 2).contiguous().to(dtype), record.weights


def as_visible(mask: Tensor | None, keys: int) -> Tensor | None:
    """Return a mask as booleans for `keys` keys; float masks hide keys by the lowest number."""
    if mask is None:
        return None
    mask = mask[..., :keys]
    return mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    visible: Tensor | None,
    edit: Edit,
    *,
    scale: float,
    scaled_before: float = 1.0,
    bias: Tensor | None = None,
    softcap: float | None = None,
    sinks: Tensor | None = None,
) -> AttentionRecord:
    """Attend and record every stage, like `attend` of model/transformer/attention.py.

    Shapes: query (B, H, Q, D), key and value (B, key heads, K, D); `visible` broadcasts to
    (B, H, Q, K). Unlike that function, it also takes a `bias`, a `softcap`, `sinks`, and a query
    that was already `scaled_before`, as in OPT. The record has the query without this scaling.
    """
    group = query.size(1) // key.size(1)
    key_heads = key.size(1) if group > 1 else None
    if group > 1:
        key, value = (part.repeat_interleave(group, dim=1) for part in (key, value))
    if edit.scale is not None:
        scale = edit.scale / scaled_before
    scores = edit.score(query, key, scale)  # (B, H, Q, K)
    added = edit.bias_of(scores)
    if added is not None:
        bias = added if bias is None else bias + added
    if bias is not None:
        scores = scores + bias
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    masked_scores = edit.mask(scores, visible)
    weights = edit.reweigh(sink_softmax(sinks, masked_scores).to(value.dtype))
    heads = edit.mix(weights, value)
    return AttentionRecord(
        query if scaled_before == 1 else query / scaled_before, key, value,
        scores, masked_scores, weights, heads,
        scale=scale * scaled_before, bias=bias, softcap=softcap, sinks=sinks, key_heads=key_heads,
    )  # fmt: skip


def sink_softmax(sinks: Tensor | None, masked_scores: Tensor) -> Tensor:
    """Return the weights (B, H, Q, K): the softmax over keys and each head's sink (H,), if any."""
    masked_scores = masked_scores.float()
    if sinks is not None:
        sink = sinks.float().view(1, -1, 1, 1).expand(*masked_scores.shape[:3], 1)
        return torch.cat([masked_scores, sink], dim=-1).softmax(dim=-1)[..., :-1]
    return softmax_of_visible(masked_scores)


def in_float32(record: AttentionRecord) -> AttentionRecord:
    """Return a record with all of its numbers as float32."""
    parts = {name: part for name, part in vars(record).items() if isinstance(part, Tensor)}
    return replace(record, **{name: part.float() for name, part in parts.items()})


def from_position_0(record: AttentionRecord, first_key: int) -> AttentionRecord:
    """Return a record with empty, hidden columns for the keys before `first_key`.

    A cache with a sliding window has dropped these keys.
    """
    if first_key == 0:
        return record
    columns, rows = (first_key, 0), (0, 0, first_key, 0)
    return replace(
        record,
        key=padded(record.key, rows),
        value=padded(record.value, rows),
        scores=padded(record.scores, columns),
        masked_scores=padded(record.masked_scores, columns, -torch.inf),
        weights=padded(record.weights, columns),
        bias=padded(record.bias, columns),
    )


def padded(part: Tensor | None, sides: tuple[int, ...], value: float = 0.0) -> Tensor | None:
    """Return a tensor with padding, or None for None; `sides` as in torch's `pad`."""
    return None if part is None else F.pad(part, sides, value=value)
