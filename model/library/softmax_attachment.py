"""Whether a model that attends in code of its own can be watched at its softmax, and where.

It reads a trial text. Its length differs from the target's, so that the shape of the weights tells
the kind of attention; there are two of it, which tells heads in the batch from heads beside it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from model.library.attachment import (
    LARGEST_DIFFERENCE,
    Attachment,
    Parity,
    difference,
    expected_layers,
    weights_by_kind,
)
from model.library.attention_blocks import join_blocks
from model.library.hub import LoadingError
from model.library.watched_softmax import MISSING, Running, SoftmaxSites, enter, leave, replacing
from model.reader import Ability
from model.trace import KINDS, Kind, Run, Site, Trace

if TYPE_CHECKING:
    from transformers import PreTrainedModel

TEXTS, SOURCE, TARGET = 2, 37, 23  # texts and tokens of the trial
SIZES: dict[tuple[int, int], Kind] = {
    (SOURCE, SOURCE): "encoder", (TARGET, TARGET): "decoder", (TARGET, SOURCE): "cross"
}  # fmt: skip


@dataclass(frozen=True)
class SoftmaxAttachment(Attachment):
    """How a model attends that is watched at its softmax."""

    sites: SoftmaxSites

    @property
    def missing(self) -> Mapping[Ability, str]:
        """What cannot be done with a model that attends so, each with one sentence why."""
        return MISSING

    def watching(self, run: Run, *, first_query: int = 0) -> AbstractContextManager[None]:
        """Let calls of the model record and change; see `SoftmaxSites.watching`."""
        return self.sites.watching(run, first_query=first_query)

    def heads_to_stream(self, model: nn.Module, site: Site) -> None:
        """Return None: what a head adds to the stream is not known."""


@torch.inference_mode()
def attach_softmax(
    model: PreTrainedModel, inputs: Mapping[str, Tensor], name: str
) -> SoftmaxAttachment:
    """Make a model, loaded with eager attention, ready to be watched at its softmax.

    `inputs` are of a short text. Raises LoadingError if not all of its layers attend so.
    """
    model.set_attn_implementation("eager")
    if model.config.is_encoder_decoder:
        model.config.use_cache = False  # with a cache, FSMT's decoder looks ahead
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
        raise LoadingError(
            f"{name} is of the type {model.config.model_type}, and not all of its layers attend in "
            "a way that can be recorded. Choose a model whose layers all do, such as "
            "openai-community/gpt2."
        )
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
    parity = parity_of(model, sites, inputs)
    if not max(parity.outputs, parity.weights) <= LARGEST_DIFFERENCE:
        raise LoadingError(
            f"{name} is of the type {model.config.model_type}, whose attention differs from what "
            f"is known here by {max(parity.outputs, parity.weights):.2g}. Choose another model."
        )
    return SoftmaxAttachment(sites, kinds, parity)


def try_out(model: PreTrainedModel, name: str) -> dict[nn.Module, list[Tensor]]:
    """Run a model once; return the weights (TEXTS, H, Q, K) that each attention module computed.

    Those that fit in no such shape stay as they are. Raises LoadingError if it reads no tokens.
    """
    computed: dict[nn.Module, list[Tensor]] = defaultdict(list)

    def note(running: Running, given: Tensor, softmax: Callable[[Tensor], Tensor]) -> Tensor:
        weights = softmax(given)
        heads = given.size(0) // TEXTS  # if they are in the batch
        computed[running.module].append(running.as_map(weights, heads, outside=0.0))
        return weights

    ids = (5 + torch.arange(SOURCE, device=model.device) % 27).expand(TEXTS, -1)
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = ids[:, :TARGET]
    try:
        with replacing(note):
            model(**inputs)
    except Exception as error:  # of many kinds: other inputs, other shapes
        raise LoadingError(
            f"{name} is of the type {model.config.model_type}, which cannot read a text of "
            f"{SOURCE} tokens: {error} Choose another model."
        ) from error
    return computed


def kind_of(computed: list[Tensor]) -> Kind | None:
    """Return the kind of attention of a module by what it computed in the trial.

    None unless that are weights (TEXTS, H, Q, K), once, which sum to 1 over the tokens.
    """
    weights, *more = computed
    if more or weights.dim() != 4 or weights.size(0) != TEXTS:
        return None
    sums = weights.sum(dim=-1)
    sum_to_1 = torch.allclose(sums, torch.ones_like(sums), atol=1e-2)
    return SIZES.get(tuple(weights.shape[2:])) if sum_to_1 else None


def parity_of(model: PreTrainedModel, sites: SoftmaxSites, inputs: Mapping[str, Tensor]) -> Parity:
    """Compare what is recorded over a text with what the library itself returns."""
    expected = model(**inputs, output_attentions=True)
    trace = Trace()
    with sites.watching(Run(trace=trace)):
        outputs = model(**inputs)
    ours = [trace.weights(kind) for kind in KINDS if kind in sites.heads]
    theirs = weights_by_kind(expected).values()
    return Parity(
        outputs=difference(outputs[0], expected[0]),
        weights=max(
            difference(weights, torch.cat([as_maps(layer, weights.size(-1)) for layer in layers]))
            for weights, layers in zip(ours, theirs, strict=True)
        ),
    )


def as_maps(weights: Tensor, tokens: int) -> Tensor:
    """Return the library's weights of a layer as (B, H, Q, K), also if they are in blocks."""
    return join_blocks(weights, tokens, outside=0.0) if weights.dim() == 5 else weights
