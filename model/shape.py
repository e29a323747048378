"""The shape of a model: how many layers and heads it has of each kind of attention."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.trace import Kind, Side, Site

CHOICES = {
    "norm": ("pre", "post"),
    "activation": ("relu", "gelu"),
    "positions": ("sinusoidal", "learned", "none"),
}
Ability = Literal[
    "write",  # the model writes a translation, or continues a prompt
    "read a pair",  # the model reads a second text after the first
    "mask words",  # the model predicts masked words
    "pad",  # the model pads a text to a length
    "open cells",  # the model can open cells that its mask closes
    "take apart",  # the model records query, key and value, from which a weight is computed
    "add up heads",  # the model knows what each head adds to the residual stream
    "add up logits",  # the model, which is pre-norm, knows each decoder part's share of the logits
    "show the stream",  # the model records the inputs of each block, and the residual stream
    "own layers",  # the model is a network of this project, whose parts can be run separately
    "move positions",  # the model can move tokens to other positions
    "compare words",  # the model compares words before and after the encoder
]
ABILITIES: tuple[Ability, ...] = get_args(Ability)
SELF: tuple[Side, ...] = ("encoder", "decoder")  # self-attention: queries and keys of one text


@dataclass(frozen=True)
class Shape:
    """The number of layers and heads of each kind of attention, and the longest text."""

    kinds: Mapping[Kind, tuple[int, int]]  # the number of layers, and of heads in each layer
    max_positions: int  # the most tokens of a text, special ones included
    # how many heads share each key and value
    groups: Mapping[Kind, int] = field(default_factory=dict)

    def layers(self, kind: Kind) -> int:
        """Return the number of layers with a kind of attention; 0 if there is no such kind."""
        return self.kinds.get(kind, (0, 0))[0]

    def heads(self, kind: Kind) -> int:
        """Return the number of heads in a layer of a kind; 0 if there is no such kind."""
        return self.kinds.get(kind, (0, 0))[1]

    def group(self, kind: Kind) -> int:
        """Return how many heads of a kind share each key and value; 1 if each has its own."""
        return self.groups.get(kind, 1)

    @property
    def sites(self) -> list[Site]:
        """All attention blocks, in the order of the kinds."""
        return [Site(kind, layer) for kind in self.kinds for layer in range(self.layers(kind))]


def shape_of(config: TransformerConfig) -> Shape:
    """Return the shape of a Transformer; without encoder layers it has no cross-attention."""
    layers: dict[Kind, int] = {
        "encoder": config.encoder_layers,
        "decoder": config.decoder_layers,
        "cross": config.decoder_layers if config.encoder_layers else 0,
    }
    kinds: dict[Kind, tuple[int, int]] = {
        kind: (count, config.heads) for kind, count in layers.items() if count
    }
    return Shape(kinds, config.max_positions)


def checked_config(
    source_vocab_size: int, target_vocab_size: int, **options: Any
) -> TransformerConfig:
    """Return the config with these options, which may come from a file, a command or a page.

    Raises ValueError for options that are not allowed, or do not fit each other.
    """
    config = TransformerConfig(source_vocab_size, target_vocab_size, **options)
    for name, allowed in CHOICES.items():
        if getattr(config, name) not in allowed:
            raise ValueError(f"{name} has to be one of {', '.join(allowed)}.")
    if config.d_model % config.heads:
        raise ValueError(f"d_model {config.d_model} is not a multiple of heads {config.heads}.")
    if config.positions == "sinusoidal" and config.d_model % 2:
        raise ValueError(f"Sinusoidal positions need an even d_model, not {config.d_model}.")
    if config.tie_embeddings and config.source_vocab_size != config.target_vocab_size:
        raise ValueError(
            "Tied embeddings need one shared vocabulary, but the source has "
            f"{config.source_vocab_size} tokens and the target {config.target_vocab_size}."
        )
    return config
