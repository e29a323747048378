"""The parts of a page that are not pictures: lists of keys, links, talks, kept texts and menus."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import segno

from headlight.pages.browser.keys import KEYS, KEYS_OF_SLIDES, NAMES, TALK_KEYS, named_keys
from headlight.viz.canvas import CanvasPicture, Part

Format = Literal["png", "svg", "pdf", "html", "csv", "npz", "json", "gif"]
Copy = Literal["frame", "component", "address"]  # ways to put a picture on other slides


def packed(name: str, header: Mapping[str, Any], *array: np.ndarray, height: int) -> CanvasPicture:
    """Return the part of this name with its data; for the rest see `CanvasPicture.pack`."""
    part = Part(Path(__file__).with_name(f"{name}.js"))
    return CanvasPicture.pack(part, header, *array, height=height)


def keyboard() -> CanvasPicture:
    """Return a button that lists the keys, which work unless the focus is in a text box."""
    keys = [{**vars(key), "name": NAMES.get(key.key, key.key)} for key in KEYS]
    return packed("keyboard", {"keys": keys}, height=40)


def copy_link() -> CanvasPicture:
    """Return a button that copies the address, with the theme if it is not the system's."""
    return packed("copy_link", {}, height=48)


def contents(entries: Mapping[str, str]) -> CanvasPicture:
    """Return a table of contents for a long page: CSS selectors by name; a click scrolls there."""
    listed = [{"name": name, "of": of} for name, of in entries.items()]
    return packed("contents", {"entries": listed}, height=40)


def locks(open_keys: Sequence[str], *, buttons: bool) -> CanvasPicture:
    """Return the part that locks all controls but `open_keys`, and buttons unless `buttons`."""
    return packed("locks", {"open": list(open_keys), "buttons": buttons}, height=0)


def qr_code(address: str) -> CanvasPicture:
    """Return an address as a QR code with its text; raise ValueError if it is too long."""
    try:
        code = segno.make(address, micro=False, error="m", boost_error=False)
    except segno.DataOverflowError as error:
        raise ValueError("This address is too long for a QR code: shorten the text.") from error
    modules = np.array([list(row) for row in code.matrix], np.uint8)  # (side, side)
    header = {"address": address, "side": len(modules)}
    return packed("qr_code", header, modules, height=480)


def reveal(of: str, number: int) -> CanvasPicture:
    """Return the part that scrolls to the match of the CSS selector `of`, once for each number."""
    return packed("reveal", {"of": of, "number": number}, height=0)


def press(of: str, once: str) -> CanvasPicture:
    """Return the part that clicks the match of the CSS selector `of`, once for each text `once`."""
    return packed("press", {"of": of, "once": once}, height=0)


def guess(
    asks: str,
    options: Sequence[tuple[str, str]] = (),
    boards: Sequence[tuple[str, int, int]] = (),
    said: str = "",
) -> CanvasPicture:
    """Return a question with a button for each option, given as its text and its description.

    Options that are heads are drawn as `boards`: a label, and numbers of layers and heads. The
    state `guess` of the part is the index of the clicked option, -1 if the answer was asked for,
    None before that. After a guess, `said` replaces the options.
    """
    header = {
        "asks": asks,
        "options": [{"text": text, "label": label} for text, label in options],
        "boards": [
            {"label": label, "layers": layers, "heads": heads} for label, layers, heads in boards
        ],
        "said": said,
    }
    return packed("guess", header, height=300)


def kept_text(name: str, text: str | None) -> CanvasPicture:
    """Return the part that keeps a text in the tab across reloads; an empty text removes it.

    None asks for the kept text; the part answers with it, if there is one. After a lost connection
    it answers None, because the latest input may be lost too.
    """
    return packed("kept_text", {"name": name, "text": text}, height=0)


def browser_text(name: str, text: str | None, *, session: str, heard: bool) -> CanvasPicture:
    """Return the part that keeps a session's text in the browser, for all of its tabs.

    An empty text removes it, None leaves it as it is. The part answers with `text`, which is from
    before the `session` or from another tab, if there is one, and with `first` if it is the first
    that the session gets; or with `failed` if the browser keeps nothing. Until the session has
    `heard` of the kept text, that is not overwritten.
    """
    header = {"name": name, "text": text, "session": session, "heard": heard}
    return packed("browser_text", header, height=0)


def slide(
    title: str,
    words: str,
    *,
    typed: bool = True,
    number: int,
    count: int,
    asked: int = 0,
    alone: bool = False,
    size: float = 1,
    notes: str = "",
    coming: Mapping[str, object] | None = None,
    kept: str = "",
    live: bool = False,
) -> CanvasPicture:
    """Return the words of slide `number` of `count`, counted from 1; `alone` if it has no pictures.

    Marks count as formatting in a title that somebody has `typed`. `size`, from 0 to 1, scales the
    pictures from the largest size that fits. The document's keys turn the slides, see `TALK_KEYS`;
    `KEYS_OF_SLIDES` work as on pages if the slide has a player or a question. The part answers with
    a slide's number, 0 for none, or -1 for the scene of a slide that is shown `live`, and with the
    number of that turn; `asked` is the last known turn, so that an old answer does not count again.
    The speaker's window shows the `notes`, and the title and pictures of the `coming` slide, with
    its thumbnail `kept` under a common name.
    """
    header = {
        "title": title,
        "typed": typed,
        "words": words,
        "number": number,
        "count": count,
        "asked": asked,
        "alone": alone,
        "size": size,
        "notes": notes,
        "coming": coming and dict(coming),
        "kept": kept,
        "live": live,
        "controls": {key.key: key.selector for key in KEYS_OF_SLIDES},
        "keys": named_keys(TALK_KEYS),
    }
    return packed("slide", header, height=160)


@dataclass(frozen=True)
class Row:
    """A slide as a list shows it: its page, its first picture in words, and its small picture.

    `name` identifies it in the list; a slide that `opens` has a scene. A title that somebody has
    `typed` is shown without its marks.
    """

    name: str
    title: str
    typed: bool
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
    """Return the list of a talk's slides; `edited` and `opened` are counted from 0.

    It answers with the name of a slide and what it `does`: "edit", "open", "present", "duplicate",
    "remove", or "move" with the new index `to`. Small pictures are those `kept` by `thumbnail`;
    pictures of slides that are not `known` are deleted.
    """
    header = {"slides": [vars(row) for row in slides], "kept": kept, "known": list(known)}
    places = {"edited": edited, "opened": opened}
    header |= {name: -1 if place is None else place for name, place in places.items()}
    return packed("slide_list", header, height=600)


def thumbnail(
    name: str, of: str, pictures: Sequence[str], *, slides: Sequence[str], number: int
) -> CanvasPicture:
    """Return the part that keeps a slide's small picture in the browser, under a common `name`.

    The `pictures` are CSS selectors of their elements, which may appear later. Small pictures of
    slides other than `slides` are forgotten. Each request has its own `number`.
    """
    header = {"name": name, "of": of, "pictures": list(pictures)}
    header |= {"slides": list(slides), "number": number}
    return packed("thumbnail", header, height=0)


def stills(
    pictures: Mapping[str, str],
    number: int,
    *,
    type: Literal["webp", "png"] = "webp",
    room: tuple[float, float, float] | None = None,
) -> CanvasPicture:
    """Return the part that draws pictures, CSS selectors by key, as images of twice their size.

    With a `room` (the width and height in pixels that a slide has for them, and a factor), they are
    first laid out as large as fits, times the factor. It waits until they are drawn, and answers
    once for each `number` with that number and the data address of each image by key; None for a
    picture that never appeared.
    """
    header = {"pictures": dict(pictures), "number": number, "type": type}
    header["room"] = room and dict(zip(("width", "height", "size"), room, strict=True))
    return packed("stills", header, height=0)


def save_menu(
    name: str,
    caption: str,
    what: str,
    formats: Sequence[Format],
    *,
    made_here: Sequence[Format] = ("png", "svg", "pdf"),
    copies: Sequence[Copy] = (),
    key: str = "",
    file: tuple[Format | Copy, bytes, int] | None = None,
    of: str | None = None,
) -> CanvasPicture:
    """Return the button that saves a picture, or the chart that the selector `of` matches.

    Formats `made_here` are made in the browser, which can write PNG, SVG, and HTML of the picture
    as it looks. For another format a click answers with its name; the menu, drawn again with the
    `file`, its bytes and a new number, saves it once. A component is asked for in the same way; an
    address of only this picture names it by its `key`. `name` is the file name without ending,
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
    return packed("save_menu", header, *files, height=40)
