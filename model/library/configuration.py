"""Read layers, masks and rotary settings from a transformers model's configuration."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from headlight.model.edits.masking import NamedMask
from headlight.model.transformer.trace import Kind, Site

if TYPE_CHECKING:
    from transformers import PreTrainedConfig


def expected_layers(config: PreTrainedConfig) -> Counter[Kind]:
    """Return the number of layers of each kind of attention in a model of this config.

    The layers of a model with only a decoder count as an encoder's.
    """
    if not config.is_encoder_decoder:
        return Counter({"encoder": getattr(config.get_text_config(), "num_hidden_layers", 0)})
    # T5Gemma's config has an entry "encoder"
    encoder = getattr(config, "encoder", config.get_text_config(encoder=True))
    decoder = config.get_text_config(decoder=True)
    layers = getattr(decoder, "num_decoder_layers", None) or decoder.num_hidden_layers
    counts = getattr(encoder, "num_hidden_layers", 0), layers, layers
    return Counter(dict(zip(("encoder", "decoder", "cross"), counts, strict=True)))


def configured_masks(config: PreTrainedConfig, site: Site) -> tuple[NamedMask, ...]:
    """Return the masks that the configuration gives to an attention block, except padding.

    A decoder's layers have the look-ahead mask, and some also have a window or blocks.
    """
    if site.kind == "cross":
        return ()
    part = part_of(config, site)
    own: tuple[NamedMask, ...] = (("look-ahead", ()),) if site.kind == "decoder" else ()
    # the name of the window in most models, in GPT-Neo, and in LongT5
    names = "sliding_window", "window_size", "local_radius"
    window = next(filter(None, (getattr(part, name, None) for name in names)), None)
    chunk = getattr(part, "attention_chunk_size", None)
    kind = layer_type(part, site)
    if chunk and "chunked" in kind:
        return *own, ("blocks", (chunk,))
    if window and ("sliding" in kind or "local" in kind):
        # "behind" counts the token and the keys before it; "window", the keys on each side of it.
        return *own, ("behind" if site.kind == "decoder" else "window", (window,))
    return own


def part_of(config: PreTrainedConfig, site: Site) -> PreTrainedConfig:
    """Return the configuration that describes a layer: the model's, or that of one of its parts."""
    if config.is_encoder_decoder:
        part = getattr(config, site.kind, None) or config
    else:
        part = config.get_text_config()
    if getattr(part, "is_heterogeneous", False):
        return part.per_layer_config[site.layer]
    return part


def layer_type(part: PreTrainedConfig, site: Site) -> str:
    """Return the type of a layer, such as "sliding_attention"; "" if the configuration has none.

    Older configurations have one window for all layers, or none.
    """
    named = getattr(part, "layer_types", None) or getattr(part, "attention_layers", None)
    if named:
        return named[site.layer] if site.layer < len(named) else ""
    if site.kind == "encoder" and hasattr(part, "encoder_attention_type"):
        return part.encoder_attention_type
    windowed = getattr(part, "sliding_window", None) and getattr(part, "use_sliding_window", True)
    return "sliding" if windowed else ""


def rotary_settings(config: PreTrainedConfig, layer: int) -> dict[str, object]:
    """Return the settings of a layer's rotary positions, such as their base and their scaling."""
    config = config.get_text_config()
    named = getattr(config, "rope_parameters", None) or {}
    types = getattr(config, "layer_types", None) or []
    if layer < len(types) and types[layer] in named:
        named = named[types[layer]]
    return {name: value for name, value in named.items() if isinstance(value, int | float | str)}
