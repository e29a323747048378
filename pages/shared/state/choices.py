"""The choices that several pages share, and the values that a visitor has chosen."""

from dataclasses import replace
from typing import Any

import streamlit as st

from headlight.model.edits import read_edits
from headlight.model.shape import Shape
from headlight.model.transformer.trace import Kind
from headlight.pages.shared.state import models
from headlight.pages.shared.state.choice import Choice, counted, like, number, one_of, switch, text

LONGEST_SENTENCE = 4_000  # characters; enough for 512 tokens
MOST_TOKENS = 512
KINDS: dict[Kind, str] = {
    "encoder": "Encoder",
    "decoder": "Decoder, masked",
    "cross": "Cross-attention",
}
SUMMARIES = ("mean", "max")
PICTURES = {"heatmap": "Heatmap", "lines": "Lines", "text": "Text"}
TOO_MANY = "too-many"  # replaces, in a link, edits that are too long for it
LONGEST_EDITS = 1_200  # characters; a link then has fewer than 2,000

HeadChoice = int | str  # the number of a head or layer, from 0, or one of SUMMARIES


def read_model(key: str, shape: Shape) -> str:
    """Return the key of a model in a link; ValueError if this visitor cannot use or load it."""
    by_name = key.startswith(models.LIBRARY) and len(key) <= models.LONGEST_NAME
    if not by_name and key not in models.choices():
        raise ValueError(f"There is no model {key}.")
    return key


def write_head(head: HeadChoice) -> str:
    """Return a head (or layer) as text: its number from 1, or “mean” or “max” of several."""
    return head if isinstance(head, str) else str(head + 1)


def or_summary(place: Choice, default: HeadChoice) -> Choice:
    """Return a choice like `place`, of a layer or head, that also offers “mean” and “max”."""

    def read(name: str, shape: Shape) -> HeadChoice:
        return name if name in SUMMARIES else place.read(name, shape)

    return replace(place, default=default, read=read, write=write_head)


def known_edits(written: str, shape: Shape) -> str:
    """Return edits, written as text, without those that a model of this shape cannot take."""
    refused: set[str] = set()
    read_edits(written, shape, refused)
    return "~".join(part for part in written.split("~") if part not in refused)


def known_or_too_many(written: str, shape: Shape) -> str:
    """Return the edits in a link that the model can take, or `TOO_MANY` if the link says this."""
    return written if written == TOO_MANY else known_edits(written, shape)


def read_padding(written: str, shape: Shape) -> int | None:
    """Return the number of tokens to pad to from a link; for “off”, no padding, return None."""
    if written == "off":
        return None
    return number("", 1, (1, shape.max_positions)).read(written, shape)


def most(shape: Shape, which: int) -> int:
    """Return the largest number of layers, or heads per layer, among the kinds of attention.

    `which` is 0 for layers and 1 for heads.
    """
    return max(sizes[which] for sizes in shape.kinds.values())


def padding(key: str) -> Choice:
    """Return the choice of a length, in tokens, to which source and target are padded."""
    return Choice(key, None, read_padding, lambda most: "off" if most is None else str(most))


MODEL = Choice("model", models.DEFAULT, read_model, label="Model")
SENTENCE = text(
    "sentence", models.EXAMPLES[0], LONGEST_SENTENCE, label="Sentence", may_be_empty=False
)
KIND = one_of("kind", KINDS, "cross", label="Kind of attention")
MASK_KIND = replace(KIND, key="mask_kind", default="decoder")  # of the mask on the page Masks
LAYER_NUMBER = counted("layer", 1, lambda shape: most(shape, 0), label="Layer")
LAYER = or_summary(LAYER_NUMBER, 1)
HEAD = or_summary(counted("head", 0, lambda shape: most(shape, 1), label="Head"), "mean")
EDITS = Choice(
    "edits", "", known_or_too_many, label="Changes", room=LONGEST_EDITS, instead=TOO_MANY
)
# While this is on, pages that can run the model without the visitor's edits do so.
AS_TRAINED = switch("as_trained", label="Show as trained")
BY_BEAM = switch("by_beam", label="Write by a beam")
PICTURE = one_of("picture", PICTURES, label="Picture")
OWN_SCALE = switch(
    "own_scale",
    label="Brighten each map to its own largest weight",
    help="Good for long sentences. If off, all maps share the scale 0 to 1, and can be compared.",
)
TARGET = text("target", "", LONGEST_SENTENCE, label="Known target")
SECOND = text("second", "", LONGEST_SENTENCE, label="Second sentence, or nothing")
# The indices of the hidden tokens, from 0, separated by commas.
MASKED = like("masked", "", r"\d{1,3}(,\d{1,3}){0,511}", label="Hidden words")
# The pinned token: q3 is the third query, k3 the third key. If empty, the page chooses a token.
LIT = like("lit", "", r"[qk]\d{1,3}|none", label="Pinned token")
GUESS = switch(
    "guess",
    label="Guess first",
    help="Hides what a head looks at, or which head matters, until you have guessed it. A slide "
    "that you add while this is on asks its audience. No guess is kept.",
)
# The row of a map about which a riddle asks; by default a row with a clear answer.
GUESS_ROW = counted("guess_row", None, MOST_TOKENS, label="Guess for")
# The query and key of the weight that the page Inside a head takes apart, by default a clear one.
# Then the sentence, the decoder's text and the padding of the run in which the weight was clicked.
QUERY = counted("query", None, MOST_TOKENS, label="Query: the token that looks")
KEY = counted("key", None, MOST_TOKENS, label="Key: the token looked at")
INSIDE_OF = text("inside_of", "", LONGEST_SENTENCE)
INSIDE_TARGET = text("inside_target", "", LONGEST_SENTENCE)
INSIDE_PAD_TO = padding("inside_pad_to")

DEFAULT_SITE = LAYER.default, HEAD.default
COMMON = (MODEL, SENTENCE, SECOND, MASKED, KIND, LAYER, HEAD, EDITS, AS_TRAINED, BY_BEAM)


def chosen(choice: Choice) -> Any:
    """Return the value of a choice that the visitor has made, or its default."""
    return st.session_state.get(choice.key, choice.default)


def places_in(masked: str) -> set[int]:
    """Return the indices, from 0, of the hidden tokens; `masked` is the value of `MASKED`."""
    return {int(place) for place in masked.split(",") if place}


def put(choice: Choice, value: object) -> None:
    """Set the value of a choice; call this in a callback, or before its widget is drawn."""
    st.session_state[choice.key] = value


def select_head(kind: Kind, layer: int, head: int) -> None:
    """Choose a head for all pages; layer and head count from 0.

    Call this in a callback, or before the widgets of layer and head are drawn.
    """
    put(KIND, kind)
    put(LAYER, layer)
    put(HEAD, head)


def applied() -> int:
    """Return how many times this session has taken its choices from an address or a slide."""
    return st.session_state.get("applied", 0)


def open_on(kind: Kind, layer: int, head: int) -> None:
    """Choose a head for a visitor who has chosen none, and remember that the app chose it.

    Layer and head count from 0.
    """
    select_head(kind, layer, head)
    st.session_state.opened_on = layer, head
    st.session_state.opened_after = applied()


def is_head_chosen() -> bool:
    """Return whether the layer or head was chosen by the visitor or a link, not by the app."""
    place = chosen(LAYER), chosen(HEAD)
    return place != DEFAULT_SITE and not _is_opening(*place)


def set_aside() -> None:
    """Set layer and head to their defaults if the app itself chose them; see `take_up`."""
    if _is_opening(chosen(LAYER), chosen(HEAD)):
        _choose(*DEFAULT_SITE)
        st.session_state.set_aside = True


def take_up() -> None:
    """Choose again the head that `set_aside` replaced, unless another was chosen meanwhile."""
    state = st.session_state
    aside = state.pop("set_aside", False) and state.opened_after == applied()
    if aside and (chosen(LAYER), chosen(HEAD)) == DEFAULT_SITE:
        _choose(*state.opened_on)


def _is_opening(*place: int | str) -> bool:
    """Return whether the app itself chose this layer and head.

    This is False after a link or a slide has set the choices.
    """
    state = st.session_state
    return state.get("opened_on") == place and state.opened_after == applied()


def _choose(layer: int | str, head: int | str) -> None:
    put(LAYER, layer)
    put(HEAD, head)
