"""Attaching to a model with its own attention code at its softmax, and finding where it attends.

The model reads a trial text. Its length differs from the target's, so that the shape of the weights
shows the kind of attention. The batch has two texts, so that heads in the batch dimension can be
told from heads in their own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from model.library.attachment import Attachment, PartlyRecordedError, expected_layers
from model.library.hub import LoadingError
from model.library.measuring import call, measured, read_texts
from model.library.watched_softmax import MISSING, Running, SoftmaxSites, enter, leave, replacing
from model.reader import Ability
from model.trace import KINDS, Kind, Run, Site

if TYPE_CHECKING:
    from transformers import PreTrainedModel

TEXTS, SOURCE, TARGET = 2, 37, 23  # texts and tokens of the trial
SIZES: dict[tuple[int, int], Kind] = {
    (SOURCE, SOURCE): "encoder", (TARGET, TARGET): "decoder", (TARGET, SOURCE): "cross"
}  # fmt: skip


@dataclass(frozen=True)
class SoftmaxAttachment(Attachment):
    """The attention of a model that is watched at its softmax."""

    sites: SoftmaxSites

    @property
    def missing(self) -> Mapping[Ability, str]:
        """The abilities that such a model lacks, each with one sentence that says why."""
        return MISSING

    def watching(self, run: Run, *, first_query: int = 0) -> AbstractContextManager[None]:
        """Let calls of the model record and edit; see `SoftmaxSites.watching`."""
        return self.sites.watching(run, first_query=first_query)

    def heads_to_stream(self, model: nn.Module, site: Site) -> None:
        """Return None: the output projections are not known."""


@torch.inference_mode()
def attach_softmax(
    model: PreTrainedModel, inputs: Mapping[str, Tensor], name: str, *longer: Mapping[str, Tensor]
) -> SoftmaxAttachment:
    """Make a model, loaded with eager attention, ready to be watched at its softmax.

    `inputs` are those of a short text. Raises LoadingError if some layers cannot be watched in this
    way, over this text or a longer one.
    """
    model.set_attn_implementation("eager")
    for module in model.modules():
        if "Attention" in type(module).__name__:
            module.register_forward_pre_hook(enter)
            module.register_forward_hook(leave)
    computed = try_out(model, name)
    modules: dict[nn.Module, Site] = {}
    heads: dict[Kind, int] = {}
    counts: Counter[Kind] = Counter()
    for module, weights in computed.items():
        kind = kind_of(weights)
        if kind is not None and heads.setdefault(kind, weights[0].size(1)) == weights[0].size(1):
            modules[module] = Site(kind, counts[kind])
            counts[kind] += 1
    if counts != expected_layers(model.config) or len(modules) < len(computed):
        raise PartlyRecordedError(model, name)
    causal = not any(weights[0].triu(1).any() for weights in computed.values())
    if causal and not model.config.is_encoder_decoder:
        modules = {module: Site("decoder", site.layer) for module, site in modules.items()}
        heads = {"decoder": heads["encoder"]}
    sites = SoftmaxSites(modules, heads)
    kinds = {
        kind: (sum(site.kind == kind for site in modules.values()), heads[kind])
        for kind in KINDS
        if kind in heads
    }
    texts = read_texts(model, [inputs, *longer], name)
    attached = SoftmaxAttachment(sites, kinds)
    return replace(attached, **measured(attached, model, texts, name)._asdict())


def try_out(model: PreTrainedModel, name: str) -> dict[nn.Module, list[Tensor]]:
    """Run a model once; return the weights (TEXTS, H, Q, K) that each attention module computed.

    Results of other shapes are returned as they are. Raises LoadingError if it reads no tokens.
    """
    computed: dict[nn.Module, list[Tensor]] = defaultdict(list)

    def note(running: Running, given: Tensor, softmax: Callable[[Tensor], Tensor]) -> Tensor:
        weights = softmax(given)
        heads = given.size(0) // TEXTS  # if heads are in the batch
        computed[running.module].append(running.as_map(weights, heads, outside=0.0))
        return weights

    ids = (5 + torch.arange(SOURCE, device=model.device) % 27).expand(TEXTS, -1)
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = ids[:, :TARGET]
    try:
        with replacing(note):
            call(model, inputs)
    except Exception as error:  # of many kinds: other inputs, other shapes
        raise LoadingError(
            f"{name} is of the type {model.config.model_type}, which cannot read a text of "
            f"{SOURCE} tokens: {error} Choose another model."
        ) from error
    return computed


def kind_of(computed: list[Tensor]) -> Kind | None:
    """Return the kind of attention of a module by its results in the trial.

    None unless it computed weights (TEXTS, H, Q, K) once, which sum to 1 over the tokens.
    """
    weights, *more = computed
    if more or weights.dim() != 4 or weights.size(0) != TEXTS:
        return None
    sums = weights.sum(dim=-1)
    sum_to_1 = torch.allclose(sums, torch.ones_like(sums), atol=1e-2)
    return SIZES.get(tuple(weights.shape[2:])) if sum_to_1 else None
