"""The masks that a model's layers had in a run, and what a mask leaves of a text of any length."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from headlight.model.edits import Mask, Setting
from headlight.model.edits.masking import MASKS, NamedMask
from headlight.model.edits.masks import Cells
from headlight.model.reader import Reader
from headlight.model.trace import Trace
from headlight.model.transformer.masks import softmax_of_visible
from headlight.model.transformer.trace import Kind, Site

Method = Literal["-inf", "large negative", "zero after"]
LARGE_NEGATIVE = -1e9
BY_NAME = {mask.name: mask for mask in MASKS}
CELLS_AT_ONCE = 2**22
REACH_WITHIN = 256  # tokens of the text over which reach is counted


@dataclass(frozen=True)
class OwnMask:
    """A mask that some layers of a kind had in a run."""

    kind: Kind
    layers: Sequence[int]
    visible: Tensor  # (Q, K), as the run had it
    configured: Sequence[NamedMask]
    differing: int  # cells that differ from the configuration
    idle: Sequence[str]  # configured masks that close nothing in this text


def own_masks(reader: Reader, trace: Trace) -> list[OwnMask]:
    """Return the masks of all layers in a run, each with the layers that share it."""
    groups: dict[tuple, list[Site]] = {}
    for site in reader.shape.sites:
        looks = site.kind, trace.visible(site).numpy(force=True).tobytes()
        groups.setdefault((*looks, reader.configured_masks(site)), []).append(site)
    return [own_mask(trace, sites, configured) for (*_, configured), sites in groups.items()]


def own_mask(trace: Trace, sites: Sequence[Site], configured: Sequence[NamedMask]) -> OwnMask:
    """Compare the mask of some layers with what their configuration says, padding left out."""
    site = sites[0]
    visible = trace.visible(site).cpu()
    queries, keys = map(torch.arange, visible.shape)
    cells = Cells(site, queries[:, None], keys, len(keys))
    left = {name: BY_NAME[name].visible(cells, *numbers) for name, numbers in configured}
    expected = torch.stack([~cells.none(), *left.values()]).all(dim=0)
    past = left.get("look-ahead", ~cells.none())
    return OwnMask(
        site.kind,
        [each.layer for each in sites],
        visible,
        configured,
        differing=int(((expected != visible) & unpadded(trace, site)).sum()),
        idle=[name for name, part in left.items() if name != "look-ahead" and part[past].all()],
    )


def unpadded(trace: Trace, site: Site) -> Tensor:
    """Return the cells (Q, K) of a site whose query and key are no padding."""
    query, key = (
        torch.tensor([not token.is_padding for token in tokens])
        for tokens in (trace.query_tokens(site), trace.key_tokens(site))
    )
    return query[:, None] & key


def reach_in(trace: Trace, kind: Kind, layers: int) -> int:
    """Return how many tokens one token draws on, at most, through the layers of a run."""
    return reach(trace.visible(Site(kind, layer)).cpu() for layer in range(layers))


@dataclass(frozen=True)
class MaskCost:
    """What a mask leaves of a text, compared with the same text without the mask.

    A cell takes 2 · D multiplications in each head: D for its score and D for its share of the
    values. `kept` are the keys that a decoder still needs at the step that needs most of them.
    """

    cells: int
    all_cells: int
    kept: int
    reach: int  # tokens that influence one token through all layers, for the token with the most


def cost(mask: Mask, setting: Setting, kind: Kind, positions: int, layers: int) -> MaskCost:
    """Count what a mask leaves of a text of `positions` tokens, in every layer of `layers`.

    A decoder's tokens see no later ones, but for those that the mask opens.
    """
    cells, last_query = 0, torch.full((positions,), -1)
    for queries, visible in rows(mask, setting, kind, positions):
        cells += int(visible.sum())
        seen = torch.where(visible, queries, -1).amax(dim=0)  # (K,)
        last_query = torch.maximum(last_query, seen)
    every = positions * (positions + 1) // 2 if kind == "decoder" else positions**2
    short = min(positions, REACH_WITHIN)
    parts = [visible for _, visible in rows(mask, setting, kind, short)]
    return MaskCost(cells, every, most_kept(last_query), reach([torch.cat(parts)] * layers))


def rows(
    mask: Mask, setting: Setting, kind: Kind, positions: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield queries (Q, 1) and what they see (Q, K), in blocks of queries."""
    keys = torch.arange(positions)
    for queries in keys[:, None].split(max(1, CELLS_AT_ONCE // positions)):
        block = Cells(Site(kind, 0), queries, keys, positions)
        visible = mask.visible(block, *setting) | block.none()
        if kind == "decoder":
            visible = visible & (keys <= queries)
        if mask.opened:
            visible = visible | mask.opened(block, *setting)
        yield queries, visible


def most_kept(last_query: Tensor) -> int:
    """Return the most keys that are needed at one step, from the last query (K,) that sees each.

    A key is written at its own step, and can be dropped after the last query that sees it.
    """
    steps = len(last_query)
    seen = last_query >= 0
    written = torch.minimum(torch.arange(steps), last_query)[seen]  # a prefix is seen before
    change = torch.zeros(steps + 1, dtype=torch.long)
    change.index_add_(0, written, torch.ones_like(written))
    change.index_add_(0, last_query[seen] + 1, -torch.ones_like(written))
    return int(change.cumsum(dim=0).max())


def reach(layers: Iterable[Tensor]) -> int:
    """Return how many tokens one token draws on, at most, through layers that each see (Q, K).

    The residual stream passes every token's own vector on.
    """
    reached = None
    for visible in layers:
        step = visible.float() + torch.eye(len(visible))
        reached = step if reached is None else (step @ reached).clamp(max=1)
    return 1 if reached is None else int((reached > 0).sum(dim=1).max())


def masked_softmax(scores: Tensor, visible: Tensor, method: Method) -> Tensor:
    """Return weights by three ways of blocking, to show why the model uses the first.

    `attend` uses "-inf". "large negative" adds -1e9 to blocked scores, as much code does: a fully
    blocked row then spreads its weight over the forbidden keys. "zero after" takes the softmax over
    all keys and zeroes blocked weights: the rows no longer sum to 1.
    """
    if method == "large negative":
        return torch.softmax(scores + LARGE_NEGATIVE * ~visible, dim=-1)
    if method == "zero after":
        return torch.softmax(scores, dim=-1) * visible
    return softmax_of_visible(scores.masked_fill(~visible, -torch.inf))
