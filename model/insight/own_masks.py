"""The masks that a model's layers had in a run, next to those that its configuration names."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from headlight.model.edits.masking import MASKS, NamedMask
from headlight.model.edits.masks import Cells
from headlight.model.insight.mask_costs import reach
from headlight.model.reader import Reader
from headlight.model.trace import Kind, Site, Trace

BY_NAME = {mask.name: mask for mask in MASKS}


@dataclass(frozen=True)
class OwnMask:
    """A mask that some layers of a kind had in a run."""

    kind: Kind
    layers: Sequence[int]
    visible: Tensor  # (Q, K), as the run had it
    configured: Sequence[NamedMask]
    differing: int  # cells that are not as configured
    idle: Sequence[str]  # the configured ones that close nothing of this text


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
