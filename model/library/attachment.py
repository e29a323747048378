"""Attach to a model of the transformers library, and find the modules in which it attends.

`set_attn_implementation` only warns if a model, or some layers of a hybrid, do not get attention by
its name. So the outputs with the library's own attention are compared with the outputs with ours.

A model with its own attention code is watched where it calls torch. It reads a trial batch whose
source and target have different lengths, so that the shape of weights shows the kind of attention.
The batch has two texts, so that the axes of texts and heads can be told apart.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from headlight.model.library.attention_interface import (
    NAME,
    AttentionSites,
    Watch,
    register,
    watched,
    watching,
)
from headlight.model.library.configuration import expected_layers
from headlight.model.library.decoder_modules import DecoderModules, find_modules, heads_to_stream
from headlight.model.library.foreign_code import CodeSites, IncompleteError
from headlight.model.library.hub import LoadingError
from headlight.model.library.measuring import Parity, call, measured, read_texts
from headlight.model.library.observing import Observed, find_sites, observing
from headlight.model.library.positions import capturing_rotary, find_rotary, let_move
from headlight.model.library.running import enter, leave
from headlight.model.rotary import Rotary
from headlight.model.shape import Ability
from headlight.model.trace import Trace
from headlight.model.transformer.trace import KINDS, Kind, MaybeNone, Run, Site

if TYPE_CHECKING:
    from transformers import PreTrainedModel

NO_PROJECTIONS: Mapping[Ability, str] = {
    "add up heads": (
        "This model's own code joins its heads before they can be read, so what each of them adds "
        "is not known."
    ),
}
CROSS = ("encoder_attn", "encdecattention", "crossattention", "cross_attn", "cross_attention")
# the trial batch: how many texts, and how many source and target tokens in each
TEXTS, SOURCE, TARGET = 2, 37, 23


class PartlyRecordedError(LoadingError):
    """Raised if not all layers of a model attend in a way that can be recorded."""

    def __init__(self, model: PreTrainedModel, name: str) -> None:
        super().__init__(
            f"{name} is of the type {model.config.model_type}, and not all of its layers attend in "
            "a way that can be recorded. Choose a model whose layers all do, such as "
            "openai-community/gpt2."
        )


@dataclass(frozen=True)
class Attachment:
    """A model's attention blocks (sites), layers and heads, and how exactly they are recorded."""

    sites: AttentionSites
    # the number of layers of each kind of attention, and of heads in a layer
    kinds: Mapping[Kind, tuple[int, int]]
    # the measured differences from the library; NaN until they are measured
    parity: Parity = Parity(math.nan, math.nan)
    writes: bool = True  # True if writing step by step gives the same as reading the whole text
    # the modules whose outputs sum to the decoder's stream; None if unknown
    decoder: DecoderModules | MaybeNone = None
    # how many heads share each key and value
    groups: Mapping[Kind, int] = field(default_factory=dict)
    # the rotary positions of each attention block that has them
    rotary: Mapping[Site, Rotary] = field(default_factory=dict)
    moves: bool = False  # True if tokens can be moved to other positions
    reference: str = "transformers' own classes"  # what `parity` compares with

    @property
    def missing(self) -> Mapping[Ability, str]:
        """The abilities that this model lacks, each with a sentence that says why."""
        return {}

    def watching(self, run: Run, *, first_query: int = 0) -> AbstractContextManager[None]:
        """Let calls of the model record and edit; see `attention_interface.watching`."""
        return watching(run, self.sites, first_query=first_query)

    def heads_to_stream(self, model: nn.Module, site: Site) -> Tensor | MaybeNone:
        """Return an attention block's output projection, split by heads."""
        module = next(part for part, sites in self.sites.modules.items() if site in sites)
        return heads_to_stream(model, module, self.kinds[site.kind][1])


@torch.inference_mode()
def attach(
    model: PreTrainedModel, inputs: Mapping[str, Tensor], name: str, *longer: Mapping[str, Tensor]
) -> Attachment:
    """Make a model, loaded with eager attention, use our attention function from now on.

    `inputs` are those of a short text of three tokens or more, `longer` those of longer texts.
    Raises LoadingError if some layers do not use our function, or if it changes the results.
    """
    texts = read_texts(model, [inputs, *longer], name)
    register()
    model.set_attn_implementation(NAME)
    names = {module: name_of_module for name_of_module, module in model.named_modules()}
    sites_of: dict[nn.Module, list[Site]] = defaultdict(list)
    counts: Counter[Kind] = Counter()

    def next_site(module: nn.Module) -> Site:
        kind = kind_of(names[module], model.config.is_encoder_decoder)
        sites_of[module].append(Site(kind, counts[kind]))
        counts[kind] += 1
        return sites_of[module][-1]

    trace = Trace()
    with capturing_rotary(model) as captured, watched(Watch(Run(trace=trace), next_site)):
        call(model, inputs)
    if counts != expected_layers(model.config):
        raise PartlyRecordedError(model, name)
    if "decoder" not in counts and all(is_causal(trace, site) for site in trace.attention):
        trace.attention = {
            Site("decoder", site.layer): record for site, record in trace.attention.items()
        }
        sites_of = {
            module: [Site("decoder", site.layer) for site in sites]
            for module, sites in sites_of.items()
        }
    sites = AttentionSites(dict(sites_of), is_rotated(model))
    decoder = decoder_of(model, inputs, sites, trace)
    rotary = find_rotary(model, captured, sites_of, trace.attention)
    table = decoder.table if decoder else None
    attached = Attachment(
        sites,
        kinds_of(trace),
        decoder=decoder,
        groups=groups_of(trace),
        rotary=rotary,
        moves="cross" not in counts and bool(rotary or table) and let_move(model, table),
    )
    return replace(attached, **measured(attached, model, texts, name)._asdict())


def decoder_of(
    model: PreTrainedModel, inputs: Mapping[str, Tensor], sites: AttentionSites, trace: Trace
) -> DecoderModules | None:
    """Return the modules whose outputs sum to the decoder's stream; None if they are unknown."""
    attending = {site: module for module, several in sites.modules.items() for site in several}
    records = {site: record for site, record in trace.attention.items() if site.kind != "encoder"}
    return find_modules(model, inputs, {site: attending[site] for site in records}, records)


def kind_of(name: str, encoder_decoder: bool) -> Kind:
    """Return the kind of attention of a module, by its name in the model.

    In a model with only a decoder it is "encoder" at first, until its weights prove to be causal.
    """
    if any(word in name.lower() for word in CROSS):
        return "cross"
    return "decoder" if encoder_decoder and "decoder" in name.split(".") else "encoder"


def is_causal(trace: Trace, site: Site) -> bool:
    return not trace.attention[site].weights.triu(diagonal=1).any()


def is_rotated(model: nn.Module) -> bool:
    """Return whether a model has rotary positions, judged by the names of its parts."""
    names = (name for part in model.modules() for name in (type(part).__name__, *vars(part)))
    return any(word in name.lower() for name in names for word in ("rotary", "rope"))


def kinds_of(trace: Trace) -> dict[Kind, tuple[int, int]]:
    """Return the number of layers of each kind of attention, and of heads in a layer."""
    heads: dict[Kind, list[int]] = {
        kind: [record.weights.size(1) for site, record in trace.attention.items()
               if site.kind == kind]
        for kind in KINDS
    }  # fmt: skip
    return {kind: (len(layers), layers[0]) for kind, layers in heads.items() if layers}


def groups_of(trace: Trace) -> dict[Kind, int]:
    """Return how many heads share each key and value, by kind, if all layers of a kind agree."""
    sizes: dict[Kind, set[int]] = defaultdict(set)
    for site, record in trace.attention.items():
        heads = record.weights.size(1)
        sizes[site.kind].add(heads // (record.key_heads or heads))
    return {kind: several.pop() for kind, several in sizes.items() if len(several) == 1}


@dataclass(frozen=True)
class CodeAttachment(Attachment):
    """The attention of a model that computes it in its own code."""

    sites: CodeSites
    projections: bool = False  # True if the output projections are known
    outputs: int = 0  # the width of the outputs of a module that was passed as an object

    @property
    def missing(self) -> Mapping[Ability, str]:
        return {**self.sites.missing, **({} if self.projections else NO_PROJECTIONS)}

    def watching(self, run: Run, *, first_query: int = 0) -> AbstractContextManager[None]:
        return self.sites.watching(run, first_query=first_query)

    def heads_to_stream(self, model: nn.Module, site: Site) -> Tensor | None:
        return super().heads_to_stream(model, site) if self.projections else None


@torch.inference_mode()
def attach_code(
    model: PreTrainedModel, inputs: Mapping[str, Tensor], name: str, *longer: Mapping[str, Tensor]
) -> CodeAttachment:
    """Make a model, loaded with eager attention, ready to be watched where it calls torch.

    `inputs` are those of a short text, `longer` those of longer texts. Raises LoadingError if some
    layers cannot be watched in this way.
    """
    model.set_attn_implementation("eager")
    for module in model.modules():
        if "Attention" in type(module).__name__:
            module.register_forward_pre_hook(enter, with_kwargs=True)
            module.register_forward_hook(leave, always_call=True)
    try:
        sites, kinds = find_sites(
            try_out(model, name), model.config.is_encoder_decoder, SOURCE, TARGET
        )
    except IncompleteError as error:
        raise PartlyRecordedError(model, name) from error
    expected = expected_layers(model.config)
    layers = {"encoder" if len(kinds) == 1 else kind: size[0] for kind, size in kinds.items()}
    if Counter(layers) != expected:
        raise PartlyRecordedError(model, name)
    texts = read_texts(model, [inputs, *longer], name)
    attached = CodeAttachment(replace(sites, rotated=is_rotated(model)), kinds)
    return replace(attached, **measured(attached, model, texts, name)._asdict())


def try_out(model: PreTrainedModel, name: str) -> Observed:
    """Run a model once over the trial batch; raise LoadingError if it cannot read tokens."""
    ids = (5 + torch.arange(SOURCE, device=model.device) % 27).expand(TEXTS, -1)
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = ids[:, :TARGET]
    try:
        with observing(TEXTS) as observed:
            call(model, inputs)
    except IncompleteError:
        raise
    except Exception as error:  # any error: the model may need other inputs or other shapes
        raise LoadingError(
            f"{name} is of the type {model.config.model_type}, which cannot read a text of "
            f"{SOURCE} tokens: {error} Choose another model."
        ) from error
    return observed
