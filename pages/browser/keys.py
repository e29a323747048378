"""The keyboard shortcuts of pages and talks: what each one does, and what it clicks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    """A keyboard shortcut: it either changes a choice on the page or clicks a control."""

    key: str
    words: str  # what the key does, for the help sheet
    choices: tuple[str, ...] = ()  # names of choices; the first one on the page is changed
    step: int = 0  # by how many options the choice moves on
    selector: str = ""  # the CSS selector of the control to click if the page has no such choice


HEADS = ("head",)
LAYERS = "layer", "knockout_layers"
KINDS = "kind", "mask_kind"
SELECTED = ".switchboard .head.selected, .st-key-switch-head button"
PLAYER_KEYS = (
    Key("n", "next step of decoding or training", selector=".transport .forward"),
    Key("p", "previous step", selector=".transport .back"),
    Key(" ", "play or pause", selector=".transport .play"),
)
ANSWER_KEY = Key("a", "show the answer to a question, or ask it again", selector=".guess .reveal")
KEYS_OF_FILES = (*PLAYER_KEYS, ANSWER_KEY)  # keys that work on pages and in a talk saved as a file
ROOM_KEY = Key("g", "show what a room has guessed", selector=".room .close-guesses")
KEYS_OF_SLIDES = (*KEYS_OF_FILES, ROOM_KEY)  # keys that work on pages and on slides
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
TALK_KEYS = {  # further keys on a slide, and what they do
    "→ PageDown Space": "next slide; if the slide has a player, Space plays it instead",
    "← PageUp": "previous slide",
    "Home End": "first and last slide",
    "b .": "black screen, and back",
    "x": "open this scene live on its page, and come back",
    "s": "speaker's window: notes, clock and the next slide",
    "f": "full screen, and back",
    "Esc": "leave the talk; where Esc is the browser's own key in full screen, press it twice",
}
DECK_KEYS = {  # keys of a talk that is saved as a file
    **{name: words for name, words in TALK_KEYS.items() if name != "Esc"},
    "o": "overview of all slides, and back",
    "d": "light or dark",
    "x": "ask the model, if it is in the file",
    "Esc": "close whatever covers the slide",
}


def named_keys(keys: Mapping[str, str], shared: Iterable[Key]) -> list[dict[str, str]]:
    """Return each key's name and what it does, for the help sheet; `shared` ones come last."""
    whole = {**keys, **{NAMES.get(key.key, key.key): key.words for key in shared}}
    return [{"name": name, "words": words} for name, words in whole.items()]
