"""The keys of pages and talks: what each does, in words, and what it clicks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    """A key, what it does in words, and what it clicks.

    `choices` are keys of choices: the first of them that is on the page moves on by `step` options.
    If none is, the first control that the CSS `selector` matches is clicked.
    """

    key: str
    words: str
    choices: tuple[str, ...] = ()
    step: int = 0
    selector: str = ""


HEADS = ("head",)
LAYERS = "layer", "knockout_layers"
KINDS = "kind", "mask_kind"
SELECTED = ".switchboard .head.selected, .st-key-switch-head button"
PLAYER_KEYS = (
    Key("n", "next step of decoding or training", selector=".transport .forward"),
    Key("p", "previous step", selector=".transport .back"),
    Key(" ", "play or pause", selector=".transport .play"),
)
ANSWER_KEY = Key("a", "show the answer of a question, or ask it again", selector=".guess .reveal")
KEYS_OF_FILES = (*PLAYER_KEYS, ANSWER_KEY)  # keys that a talk's file shares with pages
ROOM_KEY = Key("g", "show what a room has guessed", selector=".room .close-guesses")
KEYS_OF_SLIDES = (*KEYS_OF_FILES, ROOM_KEY)  # keys that a slide shares with pages
KEYS = (
    Key("h", "next head", HEADS, 1),
    Key("H", "previous head", HEADS, -1),
    Key("l", "next layer", LAYERS, 1),
    Key("L", "previous layer", LAYERS, -1),
    Key("k", "next kind of attention", KINDS, 1),
    Key("K", "previous kind of attention", KINDS, -1),
    Key("t", "switch the selected head off or on", selector=SELECTED),
    *KEYS_OF_SLIDES,
    Key("x", "back to the slide whose scene is open", selector=".st-key-back-to-slide button"),
)
NAMES = {" ": "Space"}
TALK_KEYS = {  # what keys do on a slide, besides those that pages share
    "→ PageDown Space": "next slide; Space plays instead where there is something to play",
    "← PageUp": "previous slide",
    "Home End": "first and last slide",
    "b .": "black screen, and back",
    "x": "open this scene live on its page, and come back",
    "s": "speaker's window: notes, clock and the next slide",
    "f": "full screen, and back",
    "Esc": "leave the talk; where Esc is the browser's own key in full screen, press it twice",
}
DECK_KEYS = {  # keys of a talk in a file of its own
    **{name: words for name, words in TALK_KEYS.items() if name != "Esc"},
    "o": "overview of all slides, and back",
    "d": "light or dark",
    "x": "ask the model, if it is inside",
    "Esc": "close what lies over the slide",
}


def named_keys(keys: Mapping[str, str], shared: Iterable[Key]) -> list[dict[str, str]]:
    """Return keys by name for the help sheet, followed by the keys `shared` with pages."""
    whole = {**keys, **{NAMES.get(key.key, key.key): key.words for key in shared}}
    return [{"name": name, "words": words} for name, words in whole.items()]
