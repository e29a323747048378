"""What a page has in the browser besides its pictures: keys, links, slides, kept texts, menus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from viz.canvas import CanvasPicture, Part

BROWSER_TEXT, COPY_LINK, KEPT_TEXT, KEYBOARD, SAVE_MENU, SLIDE = (
    Part(Path(__file__).with_name(f"{name}.js"))
    for name in ("browser_text", "copy_link", "kept_text", "keyboard", "save_menu", "slide")
)
Format = Literal["png", "svg", "html", "csv", "npz", "json"]


@dataclass(frozen=True)
class Key:
    """A key, what it does in words, and what it clicks.

    It clicks the option `step` after the chosen one of the first of the `choices`, by key, that is
    on the page, or else the first control that the CSS `selector` finds.
    """

    key: str
    words: str
    choices: tuple[str, ...] = ()
    step: int = 0
    selector: str = ""


HEADS = "head", "head_number"
LAYERS = ("layer",)
KINDS = "kind", "mask_kind"
PLAYER_KEYS = (
    Key("n", "next step of decoding or training", selector=".transport .forward"),
    Key("p", "previous step", selector=".transport .back"),
    Key(" ", "play or pause", selector=".transport .play"),
)
KEYS = (
    Key("h", "next head", HEADS, 1),
    Key("H", "previous head", HEADS, -1),
    Key("l", "next layer", LAYERS, 1),
    Key("L", "previous layer", LAYERS, -1),
    Key("k", "next kind of attention", KINDS, 1),
    Key("K", "previous kind of attention", KINDS, -1),
    Key("t", "switch the selected head off or on", selector=".switchboard .head.selected"),
    *PLAYER_KEYS,
)
NAMES = {" ": "Space"}


def keyboard() -> CanvasPicture:
    """Return a button that lists the keys; they work wherever the focus is but in a box."""
    keys = [{**vars(key), "name": NAMES.get(key.key, key.key)} for key in KEYS]
    return CanvasPicture.pack(KEYBOARD, {"keys": keys}, height=40)


def copy_link() -> CanvasPicture:
    """Return a button that copies the address, with the theme if that is not the system's."""
    return CanvasPicture.pack(COPY_LINK, {}, height=48)


def kept_text(name: str, text: str | None) -> CanvasPicture:
    """Return what keeps a text in the tab, so that it outlives a reload; an empty one removes it.

    None asks for what is kept: if there is something, the part answers with it.
    """
    return CanvasPicture.pack(KEPT_TEXT, {"name": name, "text": text}, height=0)


def browser_text(name: str, text: str | None, *, session: str, heard: bool) -> CanvasPicture:
    """Return what keeps a text of a session in the browser, for all of its tabs.

    An empty one removes it, None leaves it alone. The part answers with `text`, the text of before
    the `session` or of another tab, if there is one, and whether it is the `first` that the session
    is told; or with `failed` if the browser keeps nothing. Until the session has `heard` of what
    was kept, that is not written over.
    """
    header = {"name": name, "text": text, "session": session, "heard": heard}
    return CanvasPicture.pack(BROWSER_TEXT, header, height=0)


def slide(title: str, words: str, *, number: int, count: int) -> CanvasPicture:
    """Return the words of slide `number` of `count`, counted from 1.

    The document's keys turn the slides: arrows, page keys, Home and End; B or a full stop blacks
    the screen out and back; Escape leaves. If there is something to play on the slide, the space
    bar, n and p play and step it; else the space bar turns to the next slide. It answers with the
    number of the slide that was asked for, 0 for none. Raise ValueError if there is no such slide.
    """
    if not 1 <= number <= count:
        raise ValueError(f"There is no slide {number} of {count}.")
    header = {"title": title, "words": words, "number": number, "count": count}
    header["players"] = {key.key: key.selector for key in PLAYER_KEYS}
    return CanvasPicture.pack(SLIDE, header, height=160)


def save_menu(
    name: str,
    caption: str,
    what: str,
    formats: Sequence[Format],
    *,
    made_here: Sequence[Format] = ("png", "svg"),
    file: tuple[Format, bytes, int] | None = None,
    of: str | None = None,
) -> CanvasPicture:
    """Return the button that saves a picture, or the chart that the selector `of` finds on a page.

    Formats `made_here` are made in the browser, which can write PNG, SVG, and HTML of the picture
    as it looks. For another one a click answers with its name, and the menu drawn again with the
    `file`, its bytes and a new number saves it, once. `name` is the files' without ending,
    `caption` is written below the picture, `what` names it for screen readers.
    """
    header = {"name": name, "caption": caption, "what": what, "of": of}
    header |= {"formats": list(formats), "made_here": list(made_here)}
    files = []
    if file is not None:
        format_, content, number = file
        header["file"] = {"format": format_, "number": number}
        files = [np.frombuffer(content, np.uint8)]
    return CanvasPicture.pack(SAVE_MENU, header, *files, height=40)
