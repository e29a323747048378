"""Slides of a talk as plain data, and the text of the file that keeps them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from secrets import token_hex
from typing import Any

from headlight.pages.shared.link import address, link
from headlight.pages.shared.show.captions import site_words
from headlight.pages.shared.state.choices import HEAD, HEAD_NUMBER, LAYER, SENTENCE, chosen
from headlight.pages.shared.state.page import PAGES, Page

OF_A_SITE = ("attention", "masks", "inside")  # pages whose first picture is of one head
LARGEST_FILE = 400_000  # bytes
MOST_SLIDES = 60
LONGEST_TITLE = 80  # characters
LONGEST_WORDS = 400
LONGEST_NOTES = 2_000
SIZES = (0.3, 1.0)  # of pictures: the share of the largest size at which they fit
FORMAT = "headlight_talk"  # the field that names the version of a file's slides
VERSION = 2


@dataclass(frozen=True)
class Slide:
    """A scene of a page, the pictures to show and their size, and the words above them.

    A slide without a page has only words, such as a title. `drawn` are the pictures that the scene
    draws, as far as that is known; empty if it is not. `notes` are only for the speaker. Its `name`
    identifies it in a session while it is changed and moved; files have none.
    """

    page: str = ""  # the page's key
    parameters: Mapping[str, str] = field(default_factory=dict)  # in the form that links hold
    title: str = ""
    words: str = ""
    pictures: tuple[str, ...] = ()
    size: float = 1.0
    drawn: tuple[str, ...] = ()
    notes: str = ""
    qr_code: bool = False  # of the scene in the running app, next to the pictures
    name: str = field(default_factory=token_hex, compare=False, repr=False)


def copied(slide: Slide) -> Slide:
    return replace(slide, name=token_hex())


def recognised(slides: Sequence[Slide], known: Sequence[Slide]) -> tuple[Slide, ...]:
    """Return slides that were read again, with the names of the known slides that they equal."""
    left, named = list(known), []
    for slide in slides:
        same = next((other for other in left if _scene(other) == _scene(slide)), slide)
        if same is not slide:
            left.remove(same)
        named.append(replace(slide, name=same.name))
    return tuple(named)


def _scene(slide: Slide) -> Slide:
    """Return a slide without the values that are completed when it is drawn."""
    return replace(slide, pictures=(), drawn=())


def first_pictures(page: Page) -> tuple[str, ...]:
    return page.first() if callable(page.first) else page.first


def write_talk(slides: Sequence[Slide]) -> str:
    """Return the text of a talk's file."""
    entries = [asdict(slide) for slide in slides]
    for entry in entries:
        del entry["name"]
    content = {FORMAT: VERSION, "slides": entries}
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def title_now(page: Page) -> str:
    return title_from(page, {choice.key: chosen(choice) for choice in page.linked})


def title_of(slide: Slide) -> str:
    """Return the title of a slide's scene, for a slide that nobody has titled."""
    if not slide.page:
        return slide.title
    page, shape = PAGES[slide.page], address.shape_for(slide.parameters)
    return title_from(page, link.read(slide.parameters, page.linked, shape)[0])


def title_from(page: Page, values: Mapping[str, Any]) -> str:
    """Return a title from the values of a page's choices, cut to the length that a slide takes."""
    if SENTENCE in page.unread:
        return page.title
    what = page.title
    if page.key in OF_A_SITE:
        head = HEAD_NUMBER if HEAD_NUMBER in page.choices else HEAD
        what = site_words(*(values[choice.key] for choice in (page.kind, LAYER, head)))
    sentence = " ".join(values[SENTENCE.key].split())
    return f"{what}: “{shortened(sentence, LONGEST_TITLE - len(f'{what}: “”'))}”"


def shortened(text: str, longest: int = LONGEST_TITLE) -> str:
    """Return a text of at most `longest` characters, cut at a comma in its second half, if any."""
    if len(text) <= longest:
        return text
    part = text[: longest - 2].rpartition(", ")[0]
    return f"{part} …" if len(part) > longest / 2 else text[: longest - 1].rstrip() + "…"
