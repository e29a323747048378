"""Pack the browser parts that show, list, keep and draw slides."""

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

    An empty text removes the kept text; None does not change it. The part sends a `text` that was
    kept before the `session` began, or by another tab; `first` is True if it is the first text for
    this session. The part sends `failed` if the browser cannot keep texts. It does not overwrite
    the kept text until the session has `heard` (received) it.
    """
    header = {"name": name, "text": text, "session": session, "heard": heard}
    return packed("browser_text", header, height=0, folder=BROWSER)


def slide(
    title: str,
    words: str,
    question: Sequence[str] = (),
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
    """Return the part that shows the words of slide `number`, from 1, of `count`, and turns slides.

    `alone` means that the slide has no pictures. If a person has `typed` the title, **bold** and
    *italic* in it are formatting. `question` is a question followed by its answers. `size` is the
    pictures' size, as a share of the largest that fits. The keys of `TALK_KEYS` turn the slides;
    `KEYS_OF_SLIDES` work as on pages. The part sends the number of the slide to turn to and the
    count of such requests; 0 leaves the talk, and -1, if `live`, opens the slide's page with its
    choices. `asked` is the last count that the app got, so that no request is carried out twice.
    The speaker's window shows the `notes`, and the title and pictures of the next slide, `coming`.
    The browser keeps thumbnails under the name `kept`.
    """
    header = {
        "title": title,
        "typed": typed,
        "words": words,
        "question": list(question),
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
    """A slide in the list of slides.

    `name` identifies the slide. `of` is the title of its page, `picture` the name of its first
    picture, and `thumbnail` the key of its small picture. `opens` is true if a click can open its
    page, and `typed` if a person typed its title, which is then shown without marks of bold and
    italic.
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
    """Return the part that lists a talk's slides; `edited` and `opened` are indices from 0.

    The part sends the name of a slide and an action `does`: "edit", "open", "present", "duplicate",
    "remove", or "move" with the new index `to`. The browser keeps the small pictures under the name
    `kept`; those whose keys are not `known` are deleted.
    """
    header = {"slides": [vars(row) for row in slides], "kept": kept, "known": list(known)}
    places = {"edited": edited, "opened": opened}
    header |= {name: -1 if place is None else place for name, place in places.items()}
    return packed("slide_list", header, height=600, folder=BROWSER)


def thumbnail(
    name: str, of: str, pictures: Sequence[str], *, slides: Sequence[str], number: int
) -> CanvasPicture:
    """Return the part that keeps a small picture of a slide in the browser.

    The browser keeps all small pictures under one `name`; `of` is the key of this one. `pictures`
    are CSS selectors of the slide's pictures, which may appear later. Small pictures whose keys
    are not in `slides` are deleted. Each request has its own `number`.
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
    """Return the part that makes images of pictures, given by CSS selectors, at twice their size.

    `room` is the width and height in pixels of a slide's area for pictures, and a factor: if given,
    the pictures first get the largest size that fits, times the factor. The part waits until the
    pictures are drawn. Once for each `number`, it sends that number and the images' data addresses
    by key; None for a picture that never appeared.
    """
    header = {"pictures": dict(pictures), "number": number, "type": type}
    header["room"] = room and dict(zip(("width", "height", "size"), room, strict=True))
    return packed("stills", header, height=0, folder=BROWSER)
