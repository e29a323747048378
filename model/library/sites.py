"""The sites of a model whose attention was observed over a trial: their kinds, layers and heads."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from headlight.model.library.observing import Observed
from headlight.model.library.own_code import MISSING, CodeSites, IncompleteError
from headlight.model.reader import Ability
from headlight.model.trace import KINDS, AttentionRecord, Kind, Site

NEAR = 1e-2  # of a row's sum to 1, in 16 bits too


def find_sites(
    observed: Observed,
    two_sided: bool,
    source: int,
    target: int,
    told: Mapping[nn.Module, Kind] = {},
) -> tuple[CodeSites, dict[Kind, tuple[int, int]]]:
    """Return the sites of a model, and the layers and heads of each kind of attention.

    The trial had `source` and `target` tokens, of other numbers; a model that is not `two_sided`
    reads the source only, as a decoder if no query sees a later key. `told` has the kinds of
    modules that the shapes do not show. Raises IncompleteError if a module attends to anything but
    these tokens, or layers of a kind have different heads.
    """
    sizes = {(source, source): "encoder"}
    if two_sided:
        sizes |= {(target, target): "decoder", (target, source): "cross"}
    causal = not two_sided and not any(record.weights.triu(1).any() for record in observed.records)
    modules: dict[nn.Module, list[Site]] = defaultdict(list)
    heads: dict[Kind, int] = {}
    counts: Counter[Kind] = Counter()
    for module, record in zip(observed.modules, observed.records, strict=True):
        kind = told.get(module) or sizes.get(tuple(record.weights.shape[2:]))
        if kind is None or not is_of_texts(record.weights, observed.rows):
            raise IncompleteError
        kind = "decoder" if causal else kind
        if heads.setdefault(kind, record.weights.size(1)) != record.weights.size(1):
            raise IncompleteError
        modules[module].append(Site(kind, counts[kind]))
        counts[kind] += 1
    sites = CodeSites(dict(modules), heads, kept_back(observed.records), observed.call.most)
    return sites, {kind: (counts[kind], heads[kind]) for kind in KINDS if kind in heads}


def is_of_texts(weights: Tensor, rows: int) -> bool:
    """Return whether weights (B, H, Q, K) belong to the texts of a batch, and sum to 1."""
    sums = weights.sum(dim=-1)
    return len(weights) == rows and torch.allclose(sums, torch.ones_like(sums), atol=NEAR)


def kept_back(records: list[AttentionRecord]) -> dict[Ability, str]:
    """Return the abilities that a model lacks whose code keeps some stages to itself, and why."""
    missing: dict[Ability, str] = {}
    if any(record.scores is None for record in records):
        missing["open cells"] = MISSING["open cells"]
    parts = [part for record in records for part in (record.query, record.key, record.value)]
    if any(part is None for part in parts):
        missing["take apart"] = MISSING["take apart"]
    return missing
