"""Read the file of a talk, which can come from anybody and contain anything.

This module takes long to import, so others import it only when a file is read.
"""

from dataclasses import replace
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from headlight.pages.shared import address
from headlight.pages.shared.files import Form, read_form, whole
from headlight.pages.shared.show.question import LONGEST_TEXT
from headlight.pages.shared.state.page import PAGES, Page
from headlight.wings.talks.slides import (
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

FORM = Form("talk", "slide", MOST_SLIDES, LARGEST_FILE, FORMAT, VERSION)

Text = Annotated[str, AfterValidator(whole)]


class Entry(BaseModel):
    """A slide in a file."""

    model_config = ConfigDict(strict=True)

    page: Annotated[str, Field(max_length=LONGEST_TITLE)] = ""
    parameters: dict[Text, Text] = {}
    title: Annotated[str, Field(max_length=LONGEST_TITLE)] = ""
    words: Annotated[str, Field(max_length=LONGEST_WORDS)] = ""
    pictures: list[Text] = []
    size: Annotated[float, Field(ge=SIZES[0], le=SIZES[1])] = Slide.size
    drawn: list[Text] = []
    notes: Annotated[Text, Field(max_length=LONGEST_NOTES)] = ""
    qr_code: bool = False
    lead: Annotated[str, Field(max_length=LONGEST_TITLE)] = ""
    question: Annotated[Text, Field(max_length=LONGEST_TEXT)] = ""


class File(BaseModel):
    """A talk in a file."""

    model_config = ConfigDict(strict=True)

    version: Annotated[int, Field(ge=VERSION, le=VERSION, alias=FORMAT)]
    slides: Annotated[list[Entry], Field(min_length=1, max_length=MOST_SLIDES)]


def read_talk(data: bytes, kept: bool = False) -> tuple[tuple[Slide, ...], tuple[str, ...]]:
    """Return the slides of a talk's file, and sentences on the parts of it that were left out.

    Slides of unknown pages, and choices and pictures that do not exist, are left out. In a talk
    that the visitor's browser has `kept`, all choices stay, because the visitor may load a missing
    model again. Raises ValueError for a file that is not a talk, is too large or has a value of a
    wrong type.
    """
    slides, notes = [], []
    for number, entry in enumerate(read_form(data, FORM, File).slides, start=1):
        if not entry.page:
            words = Slide(title=entry.title, words=entry.words, notes=entry.notes)
            slides.append(replace(words, question=entry.question))
            continue
        page = PAGES.get(entry.page)
        if page is None or not page.pictures:
            notes.append(f"Slide {number} was left out: no page “{entry.page}” makes slides here.")
            continue
        slide, refused = read_slide(entry, page, kept)
        slides.append(slide)
        if refused:
            names = ", ".join(name[:40] for name in refused[:8])
            notes.append(f"Slide {number}: left out because they do not exist here: {names}.")
    if not slides:
        raise ValueError("None of the talk's slides shows a page that exists here.")
    return tuple(slides), tuple(notes)


def read_slide(entry: Entry, page: Page, kept: bool) -> tuple[Slide, list[str]]:
    """Return a slide from its entry in a file, and the names of values that were left out."""
    _, unknown = address.read_parameters(
        entry.parameters, page.linked, address.shape_for(entry.parameters)
    )
    pictures = list(dict.fromkeys(entry.pictures))
    refused = dict.fromkeys(() if kept else unknown)
    missing = [key for key in pictures if key not in page.pictures]
    slide = Slide(
        page.key,
        {name: text for name, text in entry.parameters.items() if name not in refused},
        entry.title,
        entry.words,
        tuple(key for key in pictures if key in page.pictures),
        entry.size,
        tuple(key for key in page.pictures if key in entry.drawn),
        entry.notes,
        entry.qr_code,
        entry.lead,
        entry.question,
    )
    return slide, [*refused, *missing]
