"""Whether a model of the transformers library can be watched, and where it attends.

`set_attn_implementation` only warns if a model does not ask for attention by name, and of hybrids
some layers do. So a model is called once with the library's own attention and once with ours.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from model.library.attention_interface import (
    NAME,
    AttentionSites,
    Watch,
    register,
    watched,
    watching,
)
from model.library.decoder_modules import DecoderModules, find_modules
from model.library.hub import LoadingError, first_line
from model.library.output_projections import heads_to_stream
from model.library.parity import Parity
from model.reader import Ability
from model.trace import KINDS, Kind, Run, Site, Trace

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

LARGEST_DIFFERENCE = 1e-3  # of a model that is shown; float32 leaves some 1e-6
CROSS = ("encoder_attn", "encdecattention", "crossattention", "cross_attn", "cross_attention")


@dataclass(frozen=True)
class Attachment:
    """How a model attends: where, with how many layers and heads, and how exactly we follow it."""

    sites: AttentionSites
    kinds: Mapping[Kind, tuple[int, int]]  # layers, and heads in each
    parity: Parity
    decoder: DecoderModules | None = None  # if its stream is known to be a sum

    @property
    def missing(self) -> Mapping[Ability, str]:
        """What cannot be done with a model that attends so, each with one sentence why."""
        return {}

    def watching(self, run: Run, *, first_query: int = 0) -> AbstractContextManager[None]:
        """Let calls of the model record and change; see `attention_interface.watching`."""
        return watching(run, self.sites, first_query=first_query)

    def heads_to_stream(self, model: nn.Module, site: Site) -> Tensor | None:
        """Return the output projection of a site by heads; see `output_projections`."""
        module = next(part for part, sites in self.sites.modules.items() if site in sites)
        return heads_to_stream(model, module, self.kinds[site.kind][1])


@torch.inference_mode()
def attach(model: PreTrainedModel, inputs: Mapping[str, Tensor], name: str) -> Attachment:
    """Let a model, loaded with eager attention, attend by our function from now on.

    `inputs` are of a short text, of three tokens or more. Raises LoadingError if not all of its
    layers attend so, or its results change.
    """
    try:
        expected = model(**inputs, output_attentions=True)
    except Exception as error:  # of a model for pictures or sound, or of a config that is not tried
        raise LoadingError(
            f"{name} cannot read a text: {first_line(error)} Choose another model."
        ) from error
    register()
    model.set_attn_implementation(NAME)
    names = {module: place for place, module in model.named_modules()}
    found: dict[nn.Module, list[Site]] = defaultdict(list)
    counts: Counter[Kind] = Counter()

    def next_site(module: nn.Module) -> Site:
        kind = kind_of(names[module], model.config.is_encoder_decoder)
        found[module].append(Site(kind, counts[kind]))
        counts[kind] += 1
        return found[module][-1]

    trace = Trace()
    with watched(Watch(Run(trace=trace), next_site)):
        outputs = model(**inputs)
    if counts != expected_layers(model.config):
        raise LoadingError(
            f"{name} is of the type {model.config.model_type}, and not all of its layers attend in "
            "a way that can be recorded. Choose a model whose layers all do, such as "
            "openai-community/gpt2."
        )
    parity = Parity(
        outputs=difference(outputs[0], expected[0]),
        weights=max(
            (
                difference(trace.weights(kind), torch.cat(layers))
                for kind, layers in weights_by_kind(expected).items()
            ),
            default=0.0,
        ),
    )
    if not max(parity.outputs, parity.weights) <= LARGEST_DIFFERENCE:
        raise LoadingError(
            f"{name} is of the type {model.config.model_type}, whose attention differs from what "
            f"is known here by {max(parity.outputs, parity.weights):.2g}. Choose another model."
        )
    if "decoder" not in counts and all(is_causal(trace, site) for site in trace.attention):
        trace.attention = {
            Site("decoder", site.layer): record for site, record in trace.attention.items()
        }
        found = {
            module: [Site("decoder", site.layer) for site in sites]
            for module, sites in found.items()
        }
    rotated = any("Rotary" in type(module).__name__ for module in model.modules())
    sites = AttentionSites(dict(found), rotated)
    return Attachment(sites, kinds_of(trace), parity, decoder_of(model, inputs, sites, trace))


def decoder_of(
    model: PreTrainedModel, inputs: Mapping[str, Tensor], sites: AttentionSites, trace: Trace
) -> DecoderModules | None:
    """Return what the decoder's stream is the sum of, if that is known; see `find_modules`."""
    attending = {site: module for module, found in sites.modules.items() for site in found}
    records = {site: record for site, record in trace.attention.items() if site.kind != "encoder"}
    return find_modules(model, inputs, {site: attending[site] for site in records}, records)


def kind_of(name: str, encoder_decoder: bool) -> Kind:
    """Return the kind of attention of a module by its place in the model.

    Without an encoder beside it this is taken for an encoder's, until its weights are known.
    """
    if any(word in name.lower() for word in CROSS):
        return "cross"
    return "decoder" if encoder_decoder and "decoder" in name.split(".") else "encoder"


def expected_layers(config: PreTrainedConfig) -> Counter[Kind]:
    """Return how many layers a model of this config has, with a decoder alone as an encoder."""
    if not config.is_encoder_decoder:
        return Counter({"encoder": getattr(config.get_text_config(), "num_hidden_layers", 0)})
    encoder = getattr(config.get_text_config(encoder=True), "num_hidden_layers", 0)
    decoder = config.get_text_config(decoder=True)
    layers = getattr(decoder, "num_decoder_layers", None) or decoder.num_hidden_layers
    return Counter({"encoder": encoder, "decoder": layers, "cross": layers})


def weights_by_kind(outputs: Mapping[str, tuple[Tensor, ...]]) -> dict[Kind, tuple[Tensor, ...]]:
    """Return the weights that the library itself gives, (1, H, Q, K) a layer."""
    names = {
        "attentions": "encoder",
        "encoder_attentions": "encoder",
        "decoder_attentions": "decoder",
        "cross_attentions": "cross",
    }
    return {kind: outputs[name] for name, kind in names.items() if outputs.get(name)}


def difference(ours: Tensor, theirs: Tensor) -> float:
    """Return the largest absolute difference of two tensors."""
    return (ours - theirs).abs().max().item()


def is_causal(trace: Trace, site: Site) -> bool:
    """Return whether no query looked at a later key."""
    return not trace.attention[site].weights.triu(diagonal=1).any()


def kinds_of(trace: Trace) -> dict[Kind, tuple[int, int]]:
    """Return the layers of each kind of attention in a trace, and the heads of each layer."""
    heads = {
        kind: [record.weights.size(1) for site, record in trace.attention.items()
               if site.kind == kind]
        for kind in KINDS
    }  # fmt: skip
    return {kind: (len(layers), layers[0]) for kind, layers in heads.items() if layers}
