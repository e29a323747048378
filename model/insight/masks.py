"""The masks that a model's layers had in a run, and the cost of computing only a mask's cells."""

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
REACH_WITHIN = 256  # the reach of a mask is counted on at most this many tokens of a text


@dataclass(frozen=True)
class OwnMask:
    """A mask that some layers of a kind had in a run."""

    kind: Kind
    layers: Sequence[int]
    visible: Tensor  # (Q, K) bool, the cells that were visible in the run
    configured: Sequence[NamedMask]  # the masks that the model's configuration names
    differing: int  # the number of cells in which `visible` differs from these masks
    idle: Sequence[str]  # the names of configured masks that close nothing in this text


def own_masks(reader: Reader, trace: Trace) -> list[OwnMask]:
    """Return the different masks of a run, each with the layers that have this mask."""
    groups: dict[tuple, list[Site]] = {}
    for site in reader.shape.sites:
        looks = site.kind, trace.visible(site).numpy(force=True).tobytes()
        groups.setdefault((*looks, reader.configured_masks(site)), []).append(site)
    return [own_mask(trace, sites, configured) for (*_, configured), sites in groups.items()]


def own_mask(trace: Trace, sites: Sequence[Site], configured: Sequence[NamedMask]) -> OwnMask:
    """Compare the mask that some layers had with their configured mask, except at padding."""
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
    """Return which cells (Q, K) of an attention block have neither query nor key as padding."""
    query, key = (
        torch.tensor([not token.is_padding for token in tokens])
        for tokens in (trace.query_tokens(site), trace.key_tokens(site))
    )
    return query[:, None] & key


def reach_in(trace: Trace, kind: Kind, layers: int) -> int:
    """Return how many tokens can influence one token through the layers of a run, at most."""
    return reach(trace.visible(Site(kind, layer)).cpu() for layer in range(layers))


@dataclass(frozen=True)
class MaskCost:
    """The cost of attention with a mask, compared with the same text without the mask.

    A cell takes 2 · D multiplications in each head: D for its score and D for its share of the
    values.
    """

    cells: int  # the number of visible cells
    all_cells: int  # the number of visible cells without the mask
    kept: int  # the most keys that a decoder has to keep at one step
    reach: int  # the most tokens that can influence one token through all layers


def cost(mask: Mask, setting: Setting, kind: Kind, positions: int, layers: int) -> MaskCost:
    """Count the cost of a mask that all `layers` have, on a text of `positions` tokens.

    A decoder's tokens see no later ones, except where the mask opens cells.
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
    """Yield, in blocks, queries (Q, 1) and the cells (Q, K) that the mask leaves visible."""
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
    """Return the most keys that have to be kept at one step of decoding.

    `last_query` (K,) is the last query that sees each key. A key is computed at its own step, and
    can be dropped after its last query.
    """
    steps = len(last_query)
    seen = last_query >= 0
    # In a prefix, earlier queries see later keys. If only earlier queries see a key, the key counts
    # from the step of the last of these queries.
    written = torch.minimum(torch.arange(steps), last_query)[seen]
    change = torch.zeros(steps + 1, dtype=torch.long)
    change.index_add_(0, written, torch.ones_like(written))
    change.index_add_(0, last_query[seen] + 1, -torch.ones_like(written))
    return int(change.cumsum(dim=0).max())


def reach(layers: Iterable[Tensor]) -> int:
    """Return how many tokens can influence one token, at most, through all layers.

    `layers` has the visible cells (Q, K) of each layer. A token always influences itself, through
    the residual stream.
    """
    reached = None
    for visible in layers:
        step = visible.float() + torch.eye(len(visible))
        reached = step if reached is None else (step @ reached).clamp(max=1)
    return 1 if reached is None else int((reached > 0).sum(dim=1).max())


def masked_softmax(scores: Tensor, visible: Tensor, method: Method) -> Tensor:
    """Return the softmax of scores (..., Q, K) with cells blocked by one of three methods.

    `attend` uses "-inf". "large negative" adds -1e9 to blocked scores, as many programs do: a row
    that is wholly blocked then spreads its weight over the blocked keys. "zero after" takes the
    softmax over all keys and sets blocked weights to 0: the rows no longer sum to 1.
    """
    if method == "large negative":
        return torch.softmax(scores + LARGE_NEGATIVE * ~visible, dim=-1)
    if method == "zero after":
        return torch.softmax(scores, dim=-1) * visible
    return softmax_of_visible(scores.masked_fill(~visible, -torch.inf))
