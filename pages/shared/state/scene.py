"""What a visitor chose, as one value that an address can hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from model.config import TransformerConfig
from model.decoding.strategies import STRATEGIES, StrategyName
from model.edit_text import read_edits
from model.library.selection import BETWEEN
from model.trace import Kind
from pages.shared.state import catalog, models

# Reads a choice from a text, for a model of this shape; raises ValueError where it makes no sense.
Check = Callable[[str, TransformerConfig], Any]

LONGEST_SENTENCE = 600  # characters
LONGEST_EDITS = 1_200  # characters, which leaves an address below 2,000
KINDS: dict[Kind, str] = {
    "encoder": "Encoder",
    "decoder": "Decoder, masked",
    "cross": "Cross-attention",
}
SUMMARIES = ("mean", "max")
PICTURES = ("heatmap", "lines")
INSIDE_TABS = ("Step by step", "Beyond the weight", "Switches", "Residual stream", "Words")
BERT_TABS = ("Attention", "Switch heads", "Inside a head")
BERT_INSIDE_TABS = INSIDE_TABS[:-1]
POSITION_TABS = ("Sinusoids", "Learned", "Your sentence", "One token", "Beyond training")
POSITION_MODES = ("as trained", "off", "shuffled", "shifted")
# The choices of the page BERT and others; what depends on its model is checked there.
LONGEST_TEXT = 4_000  # characters: room for 512 tokens
LONGEST_NAME = 300
BERT_CHOICES = {
    "bert_special": ("shown", "hidden"),
    "bert_rows": ("as in the run", "scaled to 1"),
    "bert_units": ("pieces", "words"),
}
BERT_FIRST = "The cat did not cross the street."
BERT_SECOND = "It was too tired."
# The sides of the page Compare: what they begin with, and the edits of one that a link holds.
COMPARED = (
    "kind=encoder&layer=3&head=3",
    "sentence=The+animal+didn%27t+cross+the+street+because+it+was+too+wide."
    "&kind=encoder&layer=3&head=3",
)
LONGEST_SIDE = 16_000  # characters, of which a letter of another script takes up to nine
LONGEST_SIDE_EDITS = 300
SNAPSHOT = r"(en-fr|toy)\.\d{1,9}"  # of whose training, and at which step
A_LAYER_OR_HEAD = rf"[1-9]\d?|{'|'.join(SUMMARIES)}"
PLACES = r"\d{1,3}(,\d{1,3}){0,511}"
TOO_MANY = "too-many"  # in an address, in place of edits that it has no room for
A_GATE = r"gate\.encoder\.\d{1,2}\.\d{1,2}\.\d{1,3}"
# The numbers a visitor may choose: lowest and highest.
RANGES = {
    "beam_size": (1, 8),
    "length_penalty": (0.0, 2.0),
    "temperature": (0.0, 2.0),
    "top_k": (0, 100),
    "top_p": (0.05, 1.0),
    "seed": (0, 9_999),
    "longest": (1, 255),
    "positions_shift": (1, 512),
}


def one_of(allowed: Collection[str]) -> Check:
    """A choice among some words."""

    def check(text: str, config: TransformerConfig) -> str:
        if text not in allowed:
            raise ValueError(f"{text} is none of {', '.join(allowed)}.")
        return text

    return check


def number(lowest: float, highest: float) -> Check:
    """A number within bounds, whole where they are."""

    def check(text: str, config: TransformerConfig) -> float:
        value = type(lowest)(text)
        if not lowest <= value <= highest:
            raise ValueError(f"{value} is not from {lowest} to {highest}.")
        return value

    return check


def sentence_text(text: str, config: TransformerConfig) -> str:
    """A sentence, cut where it is too long."""
    if not text:
        raise ValueError("There is no sentence.")
    return text[:LONGEST_SENTENCE]


def text_up_to(longest: int) -> Check:
    """Any text, cut where it is too long."""
    return lambda text, config: text[:longest]


def like(pattern: str) -> Check:
    """A text that is empty or follows a pattern."""

    def check(text: str, config: TransformerConfig) -> str:
        if text and not re.fullmatch(pattern, text, re.ASCII):
            raise ValueError(f"{text} is not like {pattern}.")
        return text

    return check


def switch(text: str, config: TransformerConfig) -> bool:
    """On or off."""
    return one_of(("on", "off"))(text, config) == "on"


def layer_number(text: str, config: TransformerConfig) -> int:
    """A layer that the model has, from 1."""
    return number(1, config.decoder_layers)(text, config)


def head_number(text: str, config: TransformerConfig) -> int:
    """A head that the model has, from 1."""
    return number(1, config.heads)(text, config)


def head_name(text: str, config: TransformerConfig) -> str:
    """A head that the model has, or a summary of all."""
    return one_of(head_names(config.heads))(text, config)


def padding(text: str, config: TransformerConfig) -> int | str:
    """How many tokens to pad to, or "off"."""
    return text if text == "off" else number(1, config.max_positions)(text, config)


def edit_text(text: str, config: TransformerConfig) -> str:
    """The text of edits that the model can take."""
    if text != TOO_MANY:
        read_edits(text, config)
    return text


def choice(default: object, check: Check, *, on: tuple[str, ...] = ()) -> Any:
    """A field of the scene: its default, its check, and the pages it matters on (all if none)."""
    return field(default=default, metadata={"check": check, "on": on})


MASKS, INSIDE, POSITIONS, DECODING = ("Masks",), ("Inside a head",), ("Positions",), ("Decoding",)
ATTENTION, BERT, COMPARE = ("Attention",), ("BERT and others",), ("Compare",)


@dataclass(frozen=True)
class Scene:
    """The choices that an address holds; layers, heads and tokens count from 1, as on screen.

    Each field is also the key of its widget, or of what the session keeps of it.
    """

    model: str = choice(catalog.DEFAULT, lambda text, _: one_of(models.choices())(text, _))
    sentence: str = choice(catalog.EXAMPLES[0], sentence_text)
    kind: Kind = choice("cross", one_of(KINDS))
    layer: int = choice(2, layer_number)
    head: str = choice("mean", head_name)
    picture: str = choice("heatmap", one_of(PICTURES), on=ATTENTION)
    own_scale: bool = choice(False, switch, on=ATTENTION + BERT)
    edits: str = choice("", edit_text)
    mask_kind: Kind = choice("decoder", one_of(KINDS), on=MASKS)
    head_number: int = choice(1, head_number, on=MASKS)
    pad_to: int | str = choice("off", padding, on=MASKS)
    target: str = choice("", text_up_to(LONGEST_SENTENCE), on=MASKS + DECODING)
    strategy: StrategyName = choice("greedy", one_of(STRATEGIES), on=DECODING)
    beam_size: int = choice(4, number(*RANGES["beam_size"]), on=DECODING)
    length_penalty: float = choice(1.0, number(*RANGES["length_penalty"]), on=DECODING)
    temperature: float = choice(1.0, number(*RANGES["temperature"]), on=DECODING)
    top_k: int = choice(0, number(*RANGES["top_k"]), on=DECODING)
    top_p: float = choice(1.0, number(*RANGES["top_p"]), on=DECODING)
    seed: int = choice(0, number(*RANGES["seed"]), on=DECODING)
    longest: int = choice(64, number(*RANGES["longest"]), on=DECODING)  # tokens
    compare_a: str = choice(COMPARED[0], text_up_to(LONGEST_SIDE), on=COMPARE)
    compare_a_edits: str = choice("", text_up_to(LONGEST_SIDE), on=COMPARE)
    compare_b: str = choice(COMPARED[1], text_up_to(LONGEST_SIDE), on=COMPARE)
    compare_b_edits: str = choice("", text_up_to(LONGEST_SIDE), on=COMPARE)
    compare_own: bool = choice(False, switch, on=COMPARE)
    compare_snapshot: str = choice("", like(SNAPSHOT), on=COMPARE)  # within a side
    query: int = choice(1, number(1, 256), on=INSIDE)
    key: int = choice(1, number(1, 256), on=INSIDE)
    inside_tab: str = choice(INSIDE_TABS[0], one_of(INSIDE_TABS), on=INSIDE)
    changed: bool = choice(False, switch, on=INSIDE)
    inside_of: str = choice("", text_up_to(LONGEST_SENTENCE), on=INSIDE)
    inside_target: str = choice("", text_up_to(LONGEST_SENTENCE), on=INSIDE)
    inside_pad_to: int | str = choice("off", padding, on=INSIDE)
    positions_tab: str = choice(POSITION_TABS[0], one_of(POSITION_TABS), on=POSITIONS)
    positions_encoder: str = choice("off", one_of(POSITION_MODES), on=POSITIONS)
    positions_decoder: str = choice("as trained", one_of(POSITION_MODES), on=POSITIONS)
    positions_shift: int = choice(1, number(*RANGES["positions_shift"]), on=POSITIONS)
    positions_seed: int = choice(0, number(0, 9_999), on=POSITIONS)
    bert_name: str = choice("", text_up_to(LONGEST_NAME), on=BERT)
    bert_first: str = choice(BERT_FIRST, text_up_to(LONGEST_TEXT), on=BERT)
    bert_second: str = choice(BERT_SECOND, text_up_to(LONGEST_TEXT), on=BERT)
    bert_target: str = choice("", text_up_to(LONGEST_TEXT), on=BERT)
    bert_kind: Kind = choice("encoder", one_of(KINDS), on=BERT)
    bert_layer: str = choice("1", like(A_LAYER_OR_HEAD), on=BERT)
    bert_head: str = choice("mean", like(A_LAYER_OR_HEAD), on=BERT)
    bert_picture: str = choice("heatmap", one_of(PICTURES), on=BERT)
    bert_between: str = choice("all", one_of(BETWEEN), on=BERT)
    bert_special: str = choice("shown", one_of(BERT_CHOICES["bert_special"]), on=BERT)
    bert_rows: str = choice("as in the run", one_of(BERT_CHOICES["bert_rows"]), on=BERT)
    bert_units: str = choice("pieces", one_of(BERT_CHOICES["bert_units"]), on=BERT)
    bert_masked: str = choice("", like(PLACES), on=BERT)  # places of tokens, from 0
    bert_query: int = choice(1, number(1, 512), on=BERT)
    bert_key: int = choice(1, number(1, 512), on=BERT)
    bert_tab: str = choice(BERT_TABS[0], one_of(BERT_TABS), on=BERT)
    bert_inside_tab: str = choice(BERT_INSIDE_TABS[0], one_of(BERT_INSIDE_TABS), on=BERT)
    bert_edits: str = choice("", like(rf"{A_GATE}(~{A_GATE})*|{TOO_MANY}"), on=BERT)

    def parameters(self, page: str, whole: bool = False) -> dict[str, str]:
        """What of a page's choices differs from the defaults, as an address holds it.

        Edits too long for an address are named there and left out, but where it is to be the
        `whole` scene.
        """
        defaults = asdict(Scene())
        chosen = {
            name: written(value)
            for name, value in asdict(self).items()
            if matters(name, page) and value != defaults[name] and (name, value) != ("sentence", "")
        }
        if whole:
            return chosen
        return {
            name: text if fits(name, text) else TOO_MANY
            for name, text in chosen.items()
            if fits(name, text) or name in ("edits", "bert_edits")
        }


def read_scene(
    parameters: Mapping[str, str], config: TransformerConfig
) -> tuple[Scene, tuple[str, ...]]:
    """A scene from an address, and the names of what in it was left out or cut.

    Left out is what makes no sense, cut what is too long.
    """
    read, refused = {}, []
    for name in parameters:
        if name not in CHECKS:
            refused.append(name)
            continue
        try:
            read[name] = CHECKS[name](parameters[name], config)
        except ValueError:
            refused.append(name)
        else:
            if isinstance(read[name], str) and len(read[name]) < len(parameters[name]):
                refused.append(name)
    return Scene(**read), tuple(refused)


CHECKS: dict[str, Check] = {one.name: one.metadata["check"] for one in fields(Scene)}
PAGES: dict[str, tuple[str, ...]] = {one.name: one.metadata["on"] for one in fields(Scene)}


def matters(name: str, page: str) -> bool:
    """Whether a choice has to do with a page."""
    return not PAGES[name] or page in PAGES[name]


def written(value: object) -> str:
    """A choice as text."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def fits(name: str, text: str) -> bool:
    """Whether an address can hold a choice: no endless edits."""
    of_a_side = name.startswith("compare")
    longest = LONGEST_SIDE_EDITS if of_a_side else LONGEST_EDITS
    return not name.endswith("edits") or len(text) <= longest


def head_names(heads: int) -> tuple[str, ...]:
    """What can be chosen as a head: each by its number, then their mean and maximum."""
    return (*(str(head + 1) for head in range(heads)), *SUMMARIES)
