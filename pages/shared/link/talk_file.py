"""The file that a talk is kept in, as it is read: whatever somebody may have made of it.

It takes long to import, and is imported where a file is read.
"""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from model.tokens import check_characters
from pages.shared.link import address, link, old
from pages.shared.link.slides import (
    FORMAT,
    LARGEST_FILE,
    LONGEST_NOTES,
    LONGEST_TITLE,
    LONGEST_WORDS,
    MOST_SLIDES,
    SIZES,
    VERSION,
    Slide,
)
from pages.shared.state.page import PAGES, Page

LARGEST_SIZE = 4.0  # in older files, where 1 was the size on the page; read as all that fits
# What files of version 1 call the pages, and older files pictures that have another key now.
OLD_PAGES = {
    "Attention": "attention",
    "Masks": "masks",
    "Heads": "heads",
    "Compare": "compare",
    "Inside a head": "inside",
    "Positions": "positions",
    "Decoding": "decoding",
    "BERT and others": "bert",
}
OLD_PICTURES = {
    "as trained": "trained",
    "with your changes": "changed",
    "target": "target-tokens",
}


def whole(text: str) -> str:
    """Return a text that a browser can be sent; raise ValueError for half of a character."""
    check_characters(text)
    return text


Text = Annotated[str, AfterValidator(whole)]


class Entry(BaseModel):
    """A slide as it stands in a file."""

    model_config = ConfigDict(strict=True)

    page: Annotated[str, Field(max_length=LONGEST_TITLE)] = ""
    parameters: dict[Text, Text] = {}
    title: Annotated[str, Field(max_length=LONGEST_TITLE)] = ""
    words: Annotated[str, Field(max_length=LONGEST_WORDS)] = ""
    pictures: list[Text] = []
    size: Annotated[float, Field(gt=0, le=LARGEST_SIZE)] = Slide.size
    drawn: list[Text] = []
    notes: Annotated[Text, Field(max_length=LONGEST_NOTES)] = ""
    qr_code: bool = False


class File(BaseModel):
    """A talk as it stands in a file."""

    model_config = ConfigDict(strict=True)

    version: Annotated[int, Field(ge=1, le=VERSION, alias=FORMAT)]
    slides: Annotated[list[Entry], Field(min_length=1, max_length=MOST_SLIDES)]


def read_talk(data: bytes, kept: bool = False) -> tuple[tuple[Slide, ...], tuple[str, ...]]:
    """Return the slides of a talk's file, and sentences on what of it was left out.

    Slides of unknown pages, and choices and pictures that do not exist, are left out. The choices
    of a talk that the visitor's tab has `kept` all stay, as their own models may come back.
    Raises ValueError for a file that is not a talk, is too large or has a value of a wrong kind.
    """
    slides, notes = [], []
    for number, written in enumerate(read_file(data).slides, start=1):
        entry = up_to_date(written)
        if not entry.page:
            slides.append(Slide(title=entry.title, words=entry.words, notes=entry.notes))
            continue
        page = PAGES.get(entry.page)
        if page is None or not page.pictures:
            notes.append(f"Slide {number} was left out: there is no page {written.page}.")
            continue
        slide, refused = read_slide(entry, page, kept)
        slides.append(slide)
        if refused:
            names = ", ".join(name[:40] for name in refused[:8])
            notes.append(f"Slide {number}: left out what does not exist here: {names}.")
    if not slides:
        raise ValueError("None of the talk's slides is of a page that exists here.")
    return tuple(slides), tuple(notes)


def up_to_date(entry: Entry) -> Entry:
    """Return a slide with its page, its choices and its pictures under the keys they have now."""
    key = OLD_PAGES.get(entry.page, entry.page)
    page, parameters = old.page_and_parameters(key, entry.parameters)
    names = OLD_PICTURES | (old.PICTURES if key == old.OLD_PAGE else {})
    pictures = [names.get(name, name) for name in entry.pictures]
    drawn = [names.get(name, name) for name in entry.drawn]
    changes = {"page": page, "parameters": parameters, "pictures": pictures, "drawn": drawn}
    return entry.model_copy(update=changes)


def read_file(data: bytes) -> File:
    """Return what a talk's file holds; raise ValueError with a sentence on what is wrong in it."""
    if len(data) > LARGEST_FILE:
        raise ValueError(f"A talk has at most {LARGEST_FILE // 1000} kB.")
    try:
        return File.model_validate(json.loads(data.decode("utf-8")))
    except ValidationError as error:
        raise ValueError(explained(error)) from None
    except (ValueError, RecursionError):
        raise ValueError("This is not a talk: the file cannot be read as JSON.") from None


def explained(error: ValidationError) -> str:
    """Return a sentence on the first fault of a file."""
    fault = error.errors(include_url=False, include_input=False)[0]
    match fault["loc"]:
        case ("slides", int(place), *names):
            named = f", {names[0]}" if names else ""
            reason = fault["msg"].removeprefix("Value error, ").rstrip(".")
            return f"Slide {place + 1}{named}: {reason}."
        case ("slides",):
            return f"A talk has a list of 1 to {MOST_SLIDES} slides."
    return f'This is not a talk that can be read here: "{FORMAT}": {VERSION} is missing.'


def read_slide(entry: Entry, page: Page, kept: bool) -> tuple[Slide, list[str]]:
    """Return a slide from its entry in a file, and the names of what was left out."""
    _, unknown = link.read(entry.parameters, page.linked, address.shape_for(entry.parameters))
    pictures = list(dict.fromkeys(entry.pictures))
    refused = dict.fromkeys(() if kept else unknown)
    missing = [key for key in pictures if key not in page.pictures]
    slide = Slide(
        page.key,
        {name: text for name, text in entry.parameters.items() if name not in refused},
        entry.title,
        entry.words,
        tuple(key for key in pictures if key in page.pictures),
        min(max(entry.size, SIZES[0]), SIZES[1]),
        tuple(key for key in page.pictures if key in entry.drawn),
        entry.notes,
        entry.qr_code,
    )
    return slide, [*refused, *missing]
