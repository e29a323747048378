"""What a visitor chose, kept in the session and in the page's address."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace

import streamlit as st

from model.strategies import NAMES as STRATEGIES
from model.strategies import Name as StrategyName
from model.trace import Kind
from pages.shared import models
from pages.shared.loading import translator

LONGEST_SENTENCE = 600  # characters
KINDS: dict[Kind, str] = {
    "encoder": "Encoder",
    "decoder": "Decoder, masked",
    "cross": "Cross-attention",
}
SUMMARIES = ("mean", "max")
PICTURES = ("heatmap", "lines")
# The numbers a visitor may choose: lowest and highest.
RANGES = {
    "beam_size": (1, 8),
    "length_penalty": (0.0, 2.0),
    "temperature": (0.0, 2.0),
    "top_k": (0, 100),
    "top_p": (0.05, 1.0),
    "seed": (0, 9_999),
    "longest": (1, 255),
    "query": (1, 256),
    "key": (1, 256),
}


@dataclass(frozen=True)
class Scene:
    """The choices that an address holds; layers and heads count from 1, as on screen."""

    model: str = models.DEFAULT
    sentence: str = models.EXAMPLES[0]
    kind: Kind = "cross"
    layer: int = 2
    head: str = "mean"
    picture: str = "heatmap"
    mask_kind: Kind = "decoder"
    strategy: StrategyName = "greedy"
    beam_size: int = 4
    length_penalty: float = 1.0
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    longest: int = 64  # tokens of a translation
    query: int = 1  # places of tokens, from 1
    key: int = 1

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, str], layers: int, heads: int) -> Scene:
        """A scene from an address; what is missing or makes no sense is left at its default."""
        scene = cls()
        allowed = {
            "model": tuple(models.SHIPPED),
            "kind": tuple(KINDS),
            "mask_kind": tuple(KINDS),
            "layer": tuple(str(layer + 1) for layer in range(layers)),
            "head": head_names(heads),
            "picture": PICTURES,
            "strategy": STRATEGIES,
        }
        for name, choices in allowed.items():
            if (value := parameters.get(name)) in choices:
                scene = replace(scene, **{name: int(value) if name == "layer" else value})
        for name, (lowest, highest) in RANGES.items():
            with suppress(ValueError):
                number = type(lowest)(parameters.get(name, ""))
                if lowest <= number <= highest:
                    scene = replace(scene, **{name: number})
        if sentence := parameters.get("sentence", "")[:LONGEST_SENTENCE]:
            scene = replace(scene, sentence=sentence)
        return scene


def head_names(heads: int) -> tuple[str, ...]:
    """What can be chosen as a head: each by its number, then their mean and maximum."""
    return (*(str(head + 1) for head in range(heads)), *SUMMARIES)


def restore() -> None:
    """Begin a session's choices from the page's address, and keep to what the model has."""
    if "sentence" not in st.session_state:
        name = st.query_params.get("model")
        config = translator(name if name in models.SHIPPED else None).model.config
        parts = config.decoder_layers, config.heads
        st.session_state.update(asdict(Scene.from_parameters(st.query_params, *parts)))
    config = translator().model.config
    layers = config.layers(st.session_state.kind)
    st.session_state.layer = min(st.session_state.layer, layers)
    if st.session_state.head not in head_names(config.heads):
        st.session_state.head = SUMMARIES[0]


def keep() -> None:
    """Hold on to the choices: Streamlit forgets values of widgets that a page does not draw."""
    for field in fields(Scene):
        if field.name in st.session_state:
            st.session_state[field.name] = st.session_state[field.name]


def current() -> Scene:
    """The scene as the widgets now have it."""
    return Scene(**{field.name: st.session_state[field.name] for field in fields(Scene)})


def publish() -> None:
    """Write what differs from the defaults into the page's address."""
    scene, default = asdict(current()), asdict(Scene())
    changed = {name: str(value) for name, value in scene.items() if value != default[name]}
    if dict(st.query_params) != changed:
        st.query_params.from_dict(changed)
