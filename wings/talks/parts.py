"""The parts of a page that show, list, keep and draw slides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from headlight.pages.browser.keys import KEYS_OF_SLIDES, TALK_KEYS, named_keys
from headlight.pages.browser.parts import packed
from headlight.viz import CanvasPicture

BROWSER = Path(__file__).parent / "browser"


def browser_text(name: str, text: str | None, *, session: str, heard: bool) -> CanvasPicture:
    """Return the part that keeps a session's text in the browser, for all of its tabs.

    An empty text removes it, None leaves it as it is. The part answers with `text`, which is from
    before the `session` or from another tab, if there is one, and with `first` if it is the first
    that the session gets; or with `failed` if the browser keeps nothing. Until the session has
    `heard` of the kept text, that is not overwritten.
    """
    header = {"name": name, "text": text, "session": session, "heard": heard}
    return packed("browser_text", header, height=0, folder=BROWSER)


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
    the slide to turn to (0: none; -1: the scene of the slide, which is shown `live`) and with a
    count of turns. `asked` is the last known count, so that no answer is taken twice. The speaker's
    window shows the `notes`, and the title and pictures of the `coming` slide. `kept` is the name
    under which the browser keeps its thumbnail.
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
        "keys": named_keys(TALK_KEYS, KEYS_OF_SLIDES),
    }
    return packed("slide", header, height=160, folder=BROWSER)


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
    return packed("slide_list", header, height=600, folder=BROWSER)


def thumbnail(
    name: str, of: str, pictures: Sequence[str], *, slides: Sequence[str], number: int
) -> CanvasPicture:
    """Return the part that keeps a slide's small picture in the browser, under a common `name`.

    The `pictures` are CSS selectors of their elements, which may appear later. Small pictures of
    slides other than `slides` are forgotten. Each request has its own `number`.
    """
    header = {"name": name, "of": of, "pictures": list(pictures)}
    header |= {"slides": list(slides), "number": number}
    return packed("thumbnail", header, height=0, folder=BROWSER)


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
    return packed("stills", header, height=0, folder=BROWSER)
