"""What a visitor chose, kept in the session and in the page's address."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace

import streamlit as st

from model.selection import BETWEEN
from model.strategies import NAMES as STRATEGIES
from model.strategies import Name as StrategyName
from model.trace import Kind

EXAMPLES = (
    "The animal didn't cross the street because it was too tired.",
    "I love my cat.",
    "How do you feel today?",
    "The red car is faster than the blue car.",
    "Who is that?",
)
LONGEST_SENTENCE = 600  # characters
KINDS: dict[Kind, str] = {
    "encoder": "Encoder",
    "decoder": "Decoder, masked",
    "cross": "Cross-attention",
}
SUMMARIES = ("mean", "max")
PICTURES = ("heatmap", "lines")
# The choices of the page BERT and others; what depends on its model is checked there.
LONGEST_TEXT = 4_000  # characters: room for 512 tokens
LONGEST_NAME = 300
BERT_CHOICES = {
    "bert_kind": tuple(KINDS),
    "bert_picture": PICTURES,
    "bert_between": BETWEEN,
    "bert_special": ("shown", "hidden"),
    "bert_rows": ("as in the run", "scaled to 1"),
    "bert_units": ("pieces", "words"),
}
BERT_PATTERNS = {
    "bert_layer": rf"[1-9]\d?|{'|'.join(SUMMARIES)}",
    "bert_head": rf"[1-9]\d?|{'|'.join(SUMMARIES)}",
    "bert_masked": r"\d{1,3}(,\d{1,3}){0,511}",
}
BERT_TEXTS = {
    "bert_name": LONGEST_NAME,
    "bert_first": LONGEST_TEXT,
    "bert_second": LONGEST_TEXT,
    "bert_target": LONGEST_TEXT,
}
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
    "bert_query": (1, 512),
    "bert_key": (1, 512),
}


@dataclass(frozen=True)
class Scene:
    """The choices that an address holds; layers and heads count from 1, as on screen."""

    sentence: str = EXAMPLES[0]
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
    bert_name: str = ""  # of the model on the page BERT and others
    bert_first: str = "The cat did not cross the street."
    bert_second: str = "It was too tired."
    bert_target: str = ""
    bert_kind: Kind = "encoder"
    bert_layer: str = "1"
    bert_head: str = "mean"
    bert_picture: str = "heatmap"
    bert_between: str = "all"
    bert_special: str = "shown"
    bert_rows: str = "as in the run"
    bert_units: str = "pieces"
    bert_masked: str = ""  # places of tokens, from 0, with commas between
    bert_query: int = 1
    bert_key: int = 1

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, str], layers: int, heads: int) -> Scene:
        """A scene from an address; what is missing or makes no sense is left at its default."""
        scene = cls()
        allowed = {
            "kind": tuple(KINDS),
            "mask_kind": tuple(KINDS),
            "layer": tuple(str(layer + 1) for layer in range(layers)),
            "head": head_names(heads),
            "picture": PICTURES,
            "strategy": STRATEGIES,
            **BERT_CHOICES,
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
        for name, pattern in BERT_PATTERNS.items():
            if (value := parameters.get(name)) and re.fullmatch(pattern, value, re.ASCII):
                scene = replace(scene, **{name: value})
        for name, longest in BERT_TEXTS.items():
            if (text := parameters.get(name)) is not None:
                scene = replace(scene, **{name: text[:longest]})
        return scene


def head_names(heads: int) -> tuple[str, ...]:
    """What can be chosen as a head: each by its number, then their mean and maximum."""
    return (*(str(head + 1) for head in range(heads)), *SUMMARIES)


def restore(layers: int, heads: int) -> None:
    """Begin a session's choices from the page's address."""
    if "sentence" not in st.session_state:
        st.session_state.update(asdict(Scene.from_parameters(st.query_params, layers, heads)))


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
