"""The masks that the configuration of a transformers model names for each of its layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headlight.model.edits.masking import NamedMask
from headlight.model.trace import Kind, Site

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

LOCAL = ("sliding_attention", "local")  # the names of a layer's type: of most models, of GPT-Neo


def configured_masks(config: PreTrainedConfig, site: Site) -> tuple[NamedMask, ...]:
    """Return the masks of a site by its model's configuration, padding apart.

    A decoder's layers have the look-ahead mask, and some have a window or blocks besides.
    """
    if site.kind == "cross":
        return ()
    part = part_of(config, site.kind)
    own: tuple[NamedMask, ...] = (("look-ahead", ()),) if site.kind == "decoder" else ()
    window = getattr(part, "sliding_window", None) or getattr(part, "window_size", None)
    chunk = getattr(part, "attention_chunk_size", None)
    layer_type = types_of(part)[site.layer :][:1]
    if layer_type == ["chunked_attention"] and chunk:
        return *own, ("blocks", (chunk,))
    if layer_type and layer_type[0] in LOCAL and window:
        # A window behind counts the token itself; one to both sides is as wide on either.
        return *own, ("behind" if site.kind == "decoder" else "window", (window,))
    return own


def part_of(config: PreTrainedConfig, kind: Kind) -> PreTrainedConfig:
    """Return the configuration of a model's encoder or decoder, which may be that of the whole."""
    if not config.is_encoder_decoder:
        return config.get_text_config()
    return getattr(config, kind, None) or config


def types_of(config: PreTrainedConfig) -> Sequence[str]:
    """Return the type of each layer; older configurations have one window for all, or none."""
    named = getattr(config, "layer_types", None) or getattr(config, "attention_layers", None)
    if named:
        return list(named)
    windowed = getattr(config, "sliding_window", None) and getattr(
        config, "use_sliding_window", True
    )
    return ["sliding_attention" if windowed else "full_attention"] * config.num_hidden_layers
