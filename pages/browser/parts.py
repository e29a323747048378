"""What a page has in the browser besides its pictures: keys, links, talks, kept texts, menus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import segno

from viz.canvas import CanvasPicture, Part

BROWSER_TEXT, CONTENTS, COPY_LINK, GUESS, KEPT_TEXT, KEYBOARD, REVEAL, SAVE_MENU, SLIDE = (
    Part(Path(__file__).with_name(f"{name}.js"))
    for name in (
        "browser_text", "contents", "copy_link", "guess", "kept_text", "keyboard", "reveal",
        "save_menu", "slide",
    )
)  # fmt: skip
LOCKS, QR_CODE, SLIDE_LIST, STILLS, THUMBNAIL = (
    Part(Path(__file__).with_name(f"{name}.js"))
    for name in ("locks", "qr_code", "slide_list", "stills", "thumbnail")
)
Format = Literal["png", "svg", "html", "csv", "npz", "json", "gif"]
Copy = Literal["frame", "component", "address"]  # a picture for other people's slides


@dataclass(frozen=True)
class Key:
    """A key, what it does in words, and what it clicks.

    It chooses the option `step` after the chosen one of the first of the `choices`, by key, that is
    on the page, or else clicks the first control that the CSS `selector` finds.
    """

    key: str
    words: str
    choices: tuple[str, ...] = ()
    step: int = 0
    selector: str = ""


HEADS = "head", "head_number"
LAYERS = "layer", "knockout_layers"
KINDS = "kind", "mask_kind"
PLAYER_KEYS = (
    Key("n", "next step of decoding or training", selector=".transport .forward"),
    Key("p", "previous step", selector=".transport .back"),
    Key(" ", "play or pause", selector=".transport .play"),
)
ANSWER_KEY = Key("a", "show the answer of a question, or ask it again", selector=".guess .reveal")
KEYS_OF_SLIDES = (*PLAYER_KEYS, ANSWER_KEY)  # that a slide has as a page does
KEYS = (
    Key("h", "next head", HEADS, 1),
    Key("H", "previous head", HEADS, -1),
    Key("l", "next layer", LAYERS, 1),
    Key("L", "previous layer", LAYERS, -1),
    Key("k", "next kind of attention", KINDS, 1),
    Key("K", "previous kind of attention", KINDS, -1),
    Key("t", "switch the selected head off or on", selector=".switchboard .head.selected"),
    *KEYS_OF_SLIDES,
)
NAMES = {" ": "Space"}
TALK_KEYS = {  # what they do on a slide, besides those that pages have too
    "→ PageDown Space": "next slide; Space plays instead where there is something to play",
    "← PageUp": "previous slide",
    "Home End": "first and last slide",
    "b .": "black screen, and back",
    "s": "speaker's window: notes, clock and the next slide",
    "f": "full screen, and back",
    "Esc": "leave the talk; where Esc is the browser's own key in full screen, press it twice",
}
DECK_KEYS = {  # of a talk in a file of its own
    **{name: words for name, words in TALK_KEYS.items() if name != "Esc"},
    "o": "overview of all slides, and back",
    "d": "light or dark",
    "x": "what the model writes without a head, where a slide has that",
    "Esc": "close what lies over the slide",
}


def named_keys(keys: Mapping[str, str]) -> list[dict[str, str]]:
    """Return keys for the help sheet, those that pages have too after them."""
    whole = {**keys, **{NAMES.get(key.key, key.key): key.words for key in KEYS_OF_SLIDES}}
    return [{"name": name, "words": words} for name, words in whole.items()]


def keyboard() -> CanvasPicture:
    """Return a button that lists the keys; they work wherever the focus is but in a box."""
    keys = [{**vars(key), "name": NAMES.get(key.key, key.key)} for key in KEYS]
    return CanvasPicture.pack(KEYBOARD, {"keys": keys}, height=40)


def copy_link() -> CanvasPicture:
    """Return a button that copies the address, with the theme if that is not the system's."""
    return CanvasPicture.pack(COPY_LINK, {}, height=48)


def contents(entries: Mapping[str, str]) -> CanvasPicture:
    """Return a list of what is on a long page, as CSS selectors by name; a click goes there."""
    listed = [{"name": name, "of": of} for name, of in entries.items()]
    return CanvasPicture.pack(CONTENTS, {"entries": listed}, height=40)


def locks(open_keys: Sequence[str], *, buttons: bool) -> CanvasPicture:
    """Return what closes all controls of a page but those with some keys, and perhaps buttons."""
    return CanvasPicture.pack(LOCKS, {"open": list(open_keys), "buttons": buttons}, height=0)


def qr_code(address: str) -> CanvasPicture:
    """Return an address as a QR code with its text; raise ValueError if it is too long for one."""
    try:
        made = segno.make(address, micro=False, error="m", boost_error=False)
    except segno.DataOverflowError as error:
        raise ValueError("This address is too long for a QR code: shorten the text.") from error
    modules = np.array([list(row) for row in made.matrix], np.uint8)  # (side, side)
    header = {"address": address, "side": len(modules)}
    return CanvasPicture.pack(QR_CODE, header, modules, height=480)


def reveal(of: str, number: int) -> CanvasPicture:
    """Return what scrolls to what the CSS selector `of` finds, once for each number."""
    return CanvasPicture.pack(REVEAL, {"of": of, "number": number}, height=0)


def guess(
    asks: str,
    options: Sequence[tuple[str, str]] = (),
    boards: Sequence[tuple[str, int, int]] = (),
    said: str = "",
) -> CanvasPicture:
    """Return a question with a button for each of the options, by its text and in words.

    Options that are heads stand in `boards`: a label, layers and heads each. The state `guess` of
    the part is the place of the option that was clicked, -1 to be told the answer, None before.
    What is `said` of a guess stands in place of the options.
    """
    header = {
        "asks": asks,
        "options": [{"text": text, "label": label} for text, label in options],
        "boards": [
            {"label": label, "layers": layers, "heads": heads} for label, layers, heads in boards
        ],
        "said": said,
    }
    return CanvasPicture.pack(GUESS, header, height=300)


def kept_text(name: str, text: str | None) -> CanvasPicture:
    """Return what keeps a text in the tab, so that it outlives a reload; an empty one removes it.

    None asks for what is kept: if there is something, the part answers with it. It answers with
    None when a connection that was lost is back: what was entered just before may be lost too.
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


def slide(
    title: str,
    words: str,
    *,
    number: int,
    count: int,
    asked: int = 0,
    alone: bool = False,
    size: float = 1,
    notes: str = "",
    coming: Mapping[str, object] | None = None,
) -> CanvasPicture:
    """Return the words of slide `number` of `count`, counted from 1; `alone` without pictures.

    Its pictures have `size`, from 0 to 1, of the largest size at which they fit. The document's
    keys turn the slides, see `TALK_KEYS`; those of pages in `KEYS_OF_SLIDES` do on a slide what
    they do there, if there is something to play or a question. It answers with the number of the
    slide that was asked for, 0 for none, and the number of that turn; the last one known is
    `asked`, so that the answer to an earlier one is not taken for it. A window for the speaker
    shows the `notes`, and title and pictures of the slide `coming` next. Raise ValueError if there
    is no such slide.
    """
    if not 1 <= number <= count:
        raise ValueError(f"There is no slide {number} of {count}.")
    header = {
        "title": title,
        "words": words,
        "number": number,
        "count": count,
        "asked": asked,
        "alone": alone,
        "size": size,
        "notes": notes,
        "coming": coming and dict(coming),
        "controls": {key.key: key.selector for key in KEYS_OF_SLIDES},
        "keys": named_keys(TALK_KEYS),
    }
    return CanvasPicture.pack(SLIDE, header, height=160)


@dataclass(frozen=True)
class Row:
    """A slide as a list shows it: its page, its first picture in words, and its small picture.

    `name` is its own in the list; one that `opens` has a scene.
    """

    name: str
    title: str
    of: str
    picture: str
    thumbnail: str
    opens: bool


def slide_list(
    slides: Sequence[Row],
    *,
    edited: int | None,
    opened: int | None,
    kept: str,
    known: Sequence[str],
) -> CanvasPicture:
    """Return the list of a talk's slides, counted from 0, of which one is edited and one opened.

    It answers with what a slide, by name, `does`: "edit", "open", "present", "duplicate", "remove",
    or "move" with the place `to` go to. The small pictures are those that `thumbnail` has `kept`;
    those of slides that are not `known` are forgotten.
    """
    header = {"slides": [vars(row) for row in slides], "kept": kept, "known": list(known)}
    places = {"edited": edited, "opened": opened}
    header |= {name: -1 if place is None else place for name, place in places.items()}
    return CanvasPicture.pack(SLIDE_LIST, header, height=600)


def thumbnail(
    name: str, of: str, pictures: Sequence[str], *, slides: Sequence[str], number: int
) -> CanvasPicture:
    """Return what keeps a small picture of a slide in the browser, under a `name` for all of them.

    The `pictures` are CSS selectors of what holds them, which may come later. Those of other slides
    than the given ones are forgotten. Each request has a `number` of its own.
    """
    header = {"name": name, "of": of, "pictures": list(pictures)}
    header |= {"slides": list(slides), "number": number}
    return CanvasPicture.pack(THUMBNAIL, header, height=0)


def stills(
    pictures: Mapping[str, str],
    number: int,
    *,
    type: Literal["webp", "png"] = "webp",
    room: tuple[float, float, float] | None = None,
) -> CanvasPicture:
    """Return what draws pictures, CSS selectors by key, as images of twice their size, once drawn.

    With a `room`, the width and height in pixels that a slide has for them, they are first laid out
    as large as fits, times the third number. It answers, for each `number` once, with that and the
    address of each image, which holds it, by key; None for a picture that never came.
    """
    header = {"pictures": dict(pictures), "number": number, "type": type}
    header["room"] = room and dict(zip(("width", "height", "size"), room, strict=True))
    return CanvasPicture.pack(STILLS, header, height=0)


def save_menu(
    name: str,
    caption: str,
    what: str,
    formats: Sequence[Format],
    *,
    made_here: Sequence[Format] = ("png", "svg"),
    copies: Sequence[Copy] = (),
    key: str = "",
    file: tuple[Format | Copy, bytes, int] | None = None,
    of: str | None = None,
) -> CanvasPicture:
    """Return the button that saves a picture, or the chart that the selector `of` finds on a page.

    Formats `made_here` are made in the browser, which can write PNG, SVG, and HTML of the picture
    as it looks. For another one a click answers with its name, and the menu drawn again with the
    `file`, its bytes and a new number saves it, once. A component is asked for in the same way; the
    address of the picture alone names it by its `key`. `name` is the files' without ending,
    `caption` is written below the picture, `what` names it for screen readers.
    """
    header = {"name": name, "caption": caption, "what": what, "of": of}
    header |= {"formats": list(formats), "made_here": list(made_here)}
    header |= {"copies": list(copies), "key": key}
    files = []
    if file is not None:
        format_, content, number = file
        header["file"] = {"format": format_, "number": number}
        files = [np.frombuffer(content, np.uint8)]
    return CanvasPicture.pack(SAVE_MENU, header, *files, height=40)
