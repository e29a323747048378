"""Slides of a talk as plain data, and how they are written into the file that it is kept in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from secrets import token_hex

from pages.shared.state.choice import Choice
from pages.shared.state.choices import chosen
from pages.shared.state.page import Page

LARGEST_FILE = 400_000  # bytes
MOST_SLIDES = 60
LONGEST_TITLE = 80  # characters
LONGEST_WORDS = 400
LONGEST_NOTES = 2_000
SIZES = (0.3, 1.0)  # of pictures: the share of the largest size at which they fit
FORMAT = "headlight_talk"  # what a file names its slides' format by
VERSION = 2


@dataclass(frozen=True)
class Slide:
    """A scene of a page, which of its pictures to show and how large, and the words above them.

    A slide without a page is one of words alone, such as a title. `drawn` are the pictures that
    the scene draws, as far as that is known: none if it is not. `notes` are for the speaker alone.
    Its `name` tells it from others in a session while it is changed and moved; files have none.
    """

    page: str = ""  # its key
    parameters: Mapping[str, str] = field(default_factory=dict)  # as a link holds them
    title: str = ""
    words: str = ""
    pictures: tuple[str, ...] = ()
    size: float = 1.0
    drawn: tuple[str, ...] = ()
    notes: str = ""
    qr_code: bool = False  # of the scene in the running app, beside the pictures
    name: str = field(default_factory=token_hex, compare=False, repr=False)


def copied(slide: Slide) -> Slide:
    """Return another slide that holds the same."""
    return replace(slide, name=token_hex())


def recognised(slides: Sequence[Slide], known: Sequence[Slide]) -> tuple[Slide, ...]:
    """Return slides that were read anew, under the names of the known ones that they are."""
    left, found = list(known), []
    for slide in slides:
        same = next((one for one in left if _scene(one) == _scene(slide)), slide)
        if same is not slide:
            left.remove(same)
        found.append(replace(slide, name=same.name))
    return tuple(found)


def _scene(slide: Slide) -> Slide:
    """Leave out what a slide is completed by when it is drawn."""
    return replace(slide, pictures=(), drawn=())


def first_pictures(page: Page) -> tuple[str, ...]:
    """Return what a new slide shows of a page: its most telling picture."""
    first = chosen(page.first) if isinstance(page.first, Choice) else page.first
    return (first,) if first else ()


def write_talk(slides: Sequence[Slide]) -> str:
    """Return the text of a talk's file."""
    entries = [asdict(slide) for slide in slides]
    for entry in entries:
        del entry["name"]
    content = {FORMAT: VERSION, "slides": entries}
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"
