"""Records the attention of all modules in a model's call, and finds the attention blocks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from headlight.model.library.attention_interface import Watch
from headlight.model.library.foreign_code import (
    MISSING,
    CodeCall,
    CodeSites,
    IncompleteError,
)
from headlight.model.library.joined_heads import join_heads
from headlight.model.library.layouts import FIXED, Layout
from headlight.model.library.meeting import meeting
from headlight.model.library.running import enter, leave
from headlight.model.shape import Ability
from headlight.model.trace import Trace
from headlight.model.transformer.trace import KINDS, AttentionRecord, Kind, Run, Site

NEAR = 1e-2  # how far the sum of a row of weights may be from 1, also in half precision
OTHER_TOKENS = "they are not over the tokens of a text"
NOT_OF_TEXTS = "they are not those of each text, with rows that sum to 1"
OTHER_HEADS = "other layers of the kind {kind} have {heads} heads"


@dataclass
class Observed:
    """The attention of one call of a model: the modules that attended, and their records.

    `proven` are the layouts of the records in the order of the call. Without them, layouts are
    inferred from the number of texts.
    """

    rows: int  # the number of texts in the batch
    proven: Sequence[Layout] | None = None
    layouts: dict[Site, Layout] = field(default_factory=dict)
    modules: list[nn.Module] = field(default_factory=list)
    trace: Trace = field(default_factory=Trace)
    call: CodeCall = field(init=False)

    def __post_init__(self) -> None:
        watch = Watch(Run(trace=self.trace), self.site_of)
        self.call = CodeCall(watch, self.layout_of)

    def begin(self, proven: Sequence[Layout]) -> None:
        """Begin a new call with these layouts, and forget the records of the last call."""
        self.proven = proven
        self.call.joined.clear()
        self.modules.clear()
        self.trace.attention.clear()

    @property
    def records(self) -> list[AttentionRecord]:
        """The records in the order of the call, one for each of `modules`."""
        self.call.keep()
        return [self.trace.attention[Site("encoder", n)] for n in range(len(self.modules))]

    @property
    def layers(self) -> list[list[int]]:
        """The numbers of the records of each layer.

        A layer has several records if each of its heads is a module. Such records have one head
        each, and the same queries and keys.
        """
        records, first = self.records, {n: [n] for n in range(len(self.modules))}
        for sites in self.call.joined:
            numbers = [site.layer for site in sites]
            shapes = {records[n].weights.shape for n in numbers}
            if len(shapes) == 1 and shapes.pop()[1] == 1 and all(n in first for n in numbers):
                first |= {min(numbers): numbers}
                first = {
                    n: each for n, each in first.items() if n not in numbers or n == min(numbers)
                }
        return [*first.values()]

    def site_of(self, module: nn.Module) -> Site:
        self.modules.append(module)
        return Site("encoder", len(self.modules) - 1)

    def layout_of(self, site: Site, part: Tensor) -> Layout:
        """Return the layout of a block's scores; `part` has their shape, maybe without keys."""
        if self.proven is None:
            self.layouts[site] = Layout.assumed(part, self.rows)
        else:
            self.layouts[site] = self.proven[site.layer]
        return self.layouts[site]


@contextmanager
def observing(rows: int, proven: Sequence[Layout] | None = None) -> Iterator[Observed]:
    """In this context and thread, record the attention of modules with the hooks of `prepare`."""
    observed = Observed(rows, proven)
    with meeting(observed.call):
        yield observed


def prepare(model: nn.Module) -> list[RemovableHandle]:
    """Add the hooks that note which module is running; return them, for their removal.

    Small modules of torch, such as nn.Softmax, have none: what they compute counts as computed by
    the module around them.
    """
    handles: list[RemovableHandle] = []
    for module in model.modules():
        is_small = type(module).__module__.startswith("torch.nn.")
        if module is model or isinstance(module, nn.MultiheadAttention) or not is_small:
            handles.append(module.register_forward_pre_hook(enter, with_kwargs=True))
            handles.append(module.register_forward_hook(leave, always_call=True))
    return handles


def find_sites(
    observed: Observed,
    two_sided: bool,
    source: int,
    target: int,
    told: Mapping[nn.Module, Kind] = {},
) -> tuple[CodeSites, dict[Kind, tuple[int, int]]]:
    """Return a model's attention blocks, and the number of layers and heads of each kind.

    The trial had `source` and `target` tokens, two different numbers. A model that is not
    `two_sided` reads the source only, and is a decoder if no query sees a later key. `told` has the
    kind of attention of each module for which the caller knows it. Raises IncompleteError if a
    module attends to anything but these tokens, or if layers of a kind have different numbers of
    heads.
    """
    sizes: dict[tuple[int, ...], Kind] = {(source, source): "encoder"}
    if two_sided:
        sizes |= {(target, target): "decoder", (target, source): "cross"}
    causal = not two_sided and all(map(is_masked, observed.records))
    modules: dict[nn.Module, list[Site]] = defaultdict(list)
    layouts: dict[Site, Layout] = {}
    joined: dict[Site, list[Site]] = {}
    heads: dict[Kind, int] = {}
    # the number of records of each kind; a record may be of one head
    counts: Counter[Kind] = Counter()
    layers: Counter[Kind] = Counter()
    for numbers in observed.layers:
        module = observed.modules[numbers[0]]
        record = join_heads([observed.records[n] for n in numbers])
        kind = told.get(module) or sizes.get(tuple(record.weights.shape[2:]))
        if kind is None:
            raise IncompleteError(numbers, OTHER_TOKENS)
        if not is_of_texts(record, observed.rows):
            raise IncompleteError(numbers, NOT_OF_TEXTS)
        kind = "decoder" if causal else kind
        if heads.setdefault(kind, record.weights.size(1)) != record.weights.size(1):
            raise IncompleteError(numbers, OTHER_HEADS.format(kind=kind, heads=heads[kind]))
        layer = Site(kind, layers[kind])
        joined[layer] = []
        layers[kind] += 1
        for n in numbers:
            site = Site(kind, counts[kind])
            modules[observed.modules[n]].append(site)
            layouts[site] = observed.layouts.get(Site("encoder", n), FIXED)
            joined[layer].append(site)
            counts[kind] += 1
    sites = CodeSites(
        dict(modules),
        layouts,
        kept_back(observed.records),
        observed.call.most,
        joined=joined if counts != layers else {},
    )
    return sites, {kind: (layers[kind], heads[kind]) for kind in KINDS if kind in heads}


def is_of_texts(record: AttentionRecord, rows: int) -> bool:
    """Return whether weights (B, H, Q, K) are of `rows` texts, and their rows sum to 1.

    The row of a query that sees no key may have any sum.
    """
    sums = record.weights.sum(dim=-1)
    known = ((sums - 1).abs() <= NEAR) | record.masked_scores.isneginf().all(dim=-1)
    return len(sums) == rows and bool(known.all())


def is_masked(record: AttentionRecord) -> bool:
    """Return whether no query sees a later key; queries of padding may see any.

    A query that sees no key is of padding. So is one that sees later keys if its own key is hidden
    from all queries that see no later key, as with padding on the left.
    """
    empty = record.masked_scores.isneginf().all(dim=-1, keepdim=True)
    seen = ((record.weights != 0) & ~empty).any(dim=1)  # (B, Q, K)
    seen = seen[..., : seen.size(1)]  # leaves out a sink, which would count as the last key
    ahead = seen.triu(1).any(dim=-1)  # (B, Q)
    backward = seen & ~ahead[..., None]
    of_text = backward.any(dim=1)  # (B, Q): the tokens seen by a query that sees no later key
    looks_back = bool(backward.tril(-1).any()) or not ahead.any()
    return looks_back and not (ahead & of_text).any()


def kept_back(records: list[AttentionRecord]) -> dict[Ability, str]:
    """Return what cannot be done where a model's code does not show some stages, and why."""
    missing: dict[Ability, str] = {}
    if any(record.scores is None for record in records):
        missing["open cells"] = MISSING["open cells"]
    parts = [part for record in records for part in (record.query, record.key, record.value)]
    if any(part is None for part in parts):
        missing["take apart"] = MISSING["take apart"]
    return missing
