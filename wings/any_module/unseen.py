"""Finds modules in which tokens see each other in a way that is not recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from headlight.model.edits.attention import AttentionEdit
from headlight.model.library.checks import tensors_in
from headlight.model.library.foreign_code import CodeSites
from headlight.model.transformer.trace import Kind, Run
from headlight.wings.any_module.called import Called

PARTLY = (
    "{title} would be shown in part only: tokens also see each other in {names}, in a way that "
    "is not recorded, such as attention without a softmax of queries and keys. `watch` shows the "
    "attention that can be recorded."
)


ModuleCall = tuple[nn.Module, list[Tensor], list[Tensor]]  # a module, its inputs and its outputs


def unseen_parts(
    called: Called,
    texts: Sequence[Tensor],
    sites: CodeSites,
    kinds: Mapping[Kind, tuple[int, int]],
    name_of: Mapping[nn.Module, str],
) -> set[str]:
    """Return the names of modules in which tokens see each other while all recorded heads are off.

    Each token except the first and the last is changed in turn. A module is named if each change
    also changes its outputs at other tokens. Modules of torch, such as convolutions, are left out.
    """
    off = {
        site: AttentionEdit(gate=torch.zeros(kinds[site.kind][1], device=called.device))
        for site in sites.sites
    }

    def outputs(texts: Sequence[Tensor]) -> list[ModuleCall]:
        calls: list[ModuleCall] = []

        def note(module: nn.Module, args: tuple, kwargs: dict, output: object) -> None:
            given = [part for part in (*args, *kwargs.values()) if isinstance(part, Tensor)]
            made = [part.clone() for part in tensors_in(output)]
            calls.append((module, [part.clone() for part in given], made))

        hooks = [
            part.register_forward_hook(note, with_kwargs=True) for part in called.model.modules()
        ]
        with sites.watching(Run(off)):
            called.logits(*texts)
        for hook in hooks:
            hook.remove()
        return calls

    mixing: set[nn.Module] = set()
    before = outputs(texts)
    for n, text in enumerate(texts):
        several = []
        for position in range(1, text.size(1) - 1):
            other = text.clone()
            other[:, position] = text[:, position + 1]
            after = outputs([*texts[:n], other, *texts[n + 1 :]])
            several.append(mixing_in(before, after, text.size(1)))
        mixing |= set.intersection(*several)
    return {
        name_of[part] or type(part).__name__
        for part in mixing
        if len(mixing & {*part.modules()}) == 1 and not type(part).__module__.startswith("torch.nn")
    }


def mixing_in(
    before: Sequence[ModuleCall], after: Sequence[ModuleCall], length: int
) -> set[nn.Module]:
    """Return the modules whose outputs differ at tokens at which their inputs do not."""
    mixing = set()
    for old, new in zip(before, after, strict=True):
        given, made = (
            {at for pair in zip(a, b, strict=True) for at in moved_tokens(*pair, length)}
            for a, b in zip(old[1:], new[1:], strict=True)
        )
        if given and made - given:
            mixing.add(old[0])
    return mixing


def moved_tokens(one: Tensor, other: Tensor, length: int) -> list[int]:
    """Return the indices of tokens at which two tensors differ, on the axis of size `length`."""
    axis = next(
        (axis for axis in (1, 0, 2) if one.dim() > max(1, axis) and one.size(axis) == length), None
    )
    if axis is None or one.shape != other.shape:
        return []
    return (one != other).movedim(axis, 0).flatten(1).any(dim=1).nonzero().flatten().tolist()
