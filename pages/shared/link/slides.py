"""Slides of a talk as plain data, and as the file that a talk is kept in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from model.tokens import check_characters
from pages.shared.link import address

LARGEST_FILE = 200_000  # bytes
MOST_SLIDES = 60
LONGEST_TITLE = 80  # characters
LONGEST_WORDS = 400
SIZES = (0.5, 4.0)  # how much larger than on its page a picture may be shown
FORMAT = "headlight_talk"  # what a file names its slides' format by
VERSION = 1

# The pictures of each page that a slide can show: their keys, and what they are.
PICTURES: dict[str, dict[str, str]] = {
    "Attention": {
        "source": "the source's tokens",
        "target": "the translation and its tokens",
        "grid": "all heads",
        "heatmap": "one head as a heatmap",
        "lines": "one head as lines",
    },
    "Masks": {
        "matrix": "the mask in force",
        "as trained": "the translation as trained",
        "with your changes": "the translation with changes",
        "trained-padding mask": "the padding mask",
        "trained-look-ahead mask": "the look-ahead mask",
        "trained-both": "both masks",
    },
    "Heads": {
        "switchboard": "the switches of all heads",
        "as trained": "the translation as trained",
        "with your changes": "the translation with changes",
        "map": "one head as a heatmap",
    },
    "Compare": {
        "maps": "both heads and their difference",
    },
    "Inside a head": {
        "story-input": "what is read",
        "story-projections": "query, key and value",
        "story-dot": "the dot product",
        "story-mask": "the mask",
        "story-softmax": "the softmax",
        "story-values": "the weighted sum of values",
        "story-contributions": "what each head adds",
        "story-residual": "the residual stream",
        "five-views": "five views of one query",
    },
    "Positions": {
        "as trained": "the translation as trained",
        "with your changes": "the translation with other positions",
        "shuffled": "the words shuffled",
        "clocks": "positions as clocks",
    },
    "Decoding": {
        "player": "the steps of the decoding",
        "tree": "the beam",
        "forced": "a reference, forced",
    },
    "BERT and others": {
        "heatmap": "one head as a heatmap",
        "lines": "one head as lines",
        "grid": "all heads",
        "tokens": "the tokens it reads",
        "predictions": "what it puts in place of a mask",
        "switchboard": "the switches of all heads",
        "story-dot": "the dot product",
        "story-softmax": "the softmax",
    },
}


@dataclass(frozen=True)
class Slide:
    """A scene of a page, which of its pictures to show and how large, and the words above them."""

    page: str
    parameters: Mapping[str, str] = field(default_factory=dict)  # as an address holds them
    title: str = ""
    words: str = ""
    pictures: tuple[str, ...] = ()
    size: float = 1.5


def first_pictures(page: str, parameters: Mapping[str, str]) -> tuple[str, ...]:
    """What a new slide shows of a page: its most telling picture."""
    names = {"Attention": "picture", "BERT and others": "bert_picture"}
    if page in names:
        return (parameters.get(names[page], "heatmap"),)
    return tuple(PICTURES[page])[:1]


def write_talk(slides: Sequence[Slide]) -> str:
    """The text of a talk's file."""
    content = {FORMAT: VERSION, "slides": [asdict(slide) for slide in slides]}
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def read_talk(data: bytes, kept: bool = False) -> tuple[tuple[Slide, ...], tuple[str, ...]]:
    """The slides of a talk's file, and sentences on what of it was left out.

    Slides of unknown pages, and choices and pictures that do not exist, are left out; of a talk
    that the visitor's tab has `kept` the choices stay, as their own models may come back. Raises
    ValueError for what is no such file, is too large or has a value of the wrong kind.
    """
    if len(data) > LARGEST_FILE:
        raise ValueError(f"A talk has at most {LARGEST_FILE // 1000} kB.")
    try:
        content = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise ValueError("This is no talk: the file cannot be read as JSON.") from None
    if not isinstance(content, dict) or content.get(FORMAT) != VERSION:
        raise ValueError(
            f'This is no talk that can be read here: "{FORMAT}": {VERSION} is missing.'
        )
    entries = content.get("slides")
    if not isinstance(entries, list) or not 1 <= len(entries) <= MOST_SLIDES:
        raise ValueError(f"A talk has a list of 1 to {MOST_SLIDES} slides.")
    slides, notes = [], []
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise ValueError(f"Slide {number} is no JSON object.")
        page = text_of(entry, "page", number, LONGEST_TITLE)
        if page not in PICTURES:
            notes.append(f"Slide {number} was left out: there is no page {page}.")
            continue
        slide, refused = read_slide(entry, page, number, kept)
        slides.append(slide)
        if refused:
            names = ", ".join(name[:40] for name in refused[:8])
            notes.append(f"Slide {number}: left out what does not exist here: {names}.")
    if not slides:
        raise ValueError("None of the talk's slides is of a page that exists here.")
    return tuple(slides), tuple(notes)


def read_slide(entry: dict, page: str, number: int, kept: bool) -> tuple[Slide, list[str]]:
    """A slide from its entry in a file, and the names of what was left out."""
    asked = entry.get("parameters", {})
    if not isinstance(asked, dict) or not all(isinstance(text, str) for text in asked.values()):
        raise ValueError(f"The parameters of slide {number} are not texts by name.")
    for text in (*asked, *asked.values()):
        check_text(text, number)
    refused = [] if kept else list(address.refused(asked))
    pictures = entry.get("pictures", [])
    if not isinstance(pictures, list) or not all(isinstance(key, str) for key in pictures):
        raise ValueError(f"The pictures of slide {number} are not a list of texts.")
    for key in pictures:
        check_text(key, number)
    refused += [key for key in pictures if key not in PICTURES[page]]
    size = entry.get("size", Slide.size)
    if isinstance(size, bool) or not isinstance(size, int | float):
        raise ValueError(f"The size of slide {number} is no number.")
    if not SIZES[0] <= size <= SIZES[1]:
        raise ValueError(f"The size of slide {number} is not from {SIZES[0]} to {SIZES[1]}.")
    slide = Slide(
        page,
        {name: text for name, text in asked.items() if name not in refused},
        text_of(entry, "title", number, LONGEST_TITLE),
        text_of(entry, "words", number, LONGEST_WORDS),
        tuple(dict.fromkeys(key for key in pictures if key in PICTURES[page])),
        float(size),
    )
    return slide, refused


def text_of(entry: dict, name: str, number: int, longest: int) -> str:
    """A text of an entry, empty where there is none; raises ValueError for anything else."""
    text = entry.get(name, "")
    if not isinstance(text, str) or len(text) > longest:
        raise ValueError(
            f"The {name} of slide {number} is no text of at most {longest} characters."
        )
    check_text(text, number)
    return text


def check_text(text: str, number: int) -> None:
    """Raise ValueError for a text that no browser could be sent: half of a surrogate pair."""
    try:
        check_characters(text)
    except ValueError:
        raise ValueError(f"A text of slide {number} has a broken character.") from None
