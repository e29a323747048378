"""Write a talk as one HTML file with interactive pictures that needs no server and no network."""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TypeGuard

import numpy as np

from headlight.pages.browser import library
from headlight.pages.browser.keys import DECK_KEYS, KEYS_OF_FILES, named_keys
from headlight.pages.browser.library import as_json, digest_of, safe
from headlight.pages.shared.state.wings import TalkModel
from headlight.pages.streamlit_fixes.own_font import font_face
from headlight.viz.canvas import CanvasPicture, Part, unpacked
from headlight.viz.maps.heatmap import attention_heatmap
from headlight.viz.numbers import writable
from headlight.wings.talks.parts import BROWSER

LARGEST = 25_000_000  # the most bytes of a file, so that the page Talk can load it
TOO_LARGE = "Left out, because the file would be larger than {most} MB: {names}."
TALK_ID, DECK_ID = "talk", "deck"  # the ids of the document's JSON elements
OPENING = f'<script type="application/json" id="{TALK_ID}">'
CLOSING = "</script>"
PIECE = 2**17  # characters of a script element; WebKit would take a minute to read one of 30 MB
DECK = library.HERE / "deck" / "deck.js"
SLIDE = BROWSER / "slide.css"
STYLES = ("keyboard.css", "deck/colors.css", "deck/deck.css", "deck/deck_slide.css")
# The file's security policy: nothing is loaded, and only the file's own script and styles run.
POLICY = (
    "default-src 'none'; script-src '{script}'; worker-src blob:; style-src '{style}'; "
    "img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class Drawn:
    """A picture of a slide: its name `what`, its data or an image's address, and its subject `of`.

    A `question`, if any, is asked before the picture is shown. It has the part that asks, and the
    sentences shown without a guess and after each guess. A picture that `waits` is shown once all
    questions of its slide are answered. `code` is True for the QR code of the slide.
    """

    what: str
    picture: CanvasPicture | str
    question: tuple[CanvasPicture, Sequence[str]] | None = None
    of: str = ""
    waits: bool = False
    code: bool = False

    @property
    def alternative(self) -> str:
        """The text that a screen reader says in place of the picture."""
        return writable(f"{self.what}. {self.of}" if self.of else self.what)


@dataclass(frozen=True)
class DrawnSlide:
    """A slide as data for a file; `missing` is a sentence on the parts that could not be drawn.

    The `link` opens the slide's page with its choices in the running app; it may be empty. The
    `scene` holds the sentence, the head and the changes for the model inside a file. If a person
    has `typed` the title, its marks **bold** and *italic* are formatting. The `question`, if any,
    is followed by its answers.
    """

    title: str
    words: str = ""
    notes: str = ""
    size: float = 1.0
    pictures: Sequence[Drawn] = ()
    footer: str = ""
    missing: str = ""
    link: str = ""
    scene: Mapping[str, str] = field(default_factory=dict)
    typed: bool = True
    question: Sequence[str] = ()


@dataclass
class Data:
    """The data of a file's pictures; equal data is stored once."""

    places: dict[bytes, int] = field(default_factory=dict)  # index in `texts`, by hash of the data
    texts: list[str] = field(default_factory=list)  # the data in base64
    parts: set[Part] = field(default_factory=set)  # the parts that draw the pictures

    def place(self, picture: CanvasPicture) -> int:
        """Return the index in `texts` of a picture's data; add the data if it is not there."""
        digest = hashlib.sha256(picture.data).digest()
        if digest not in self.places:
            self.places[digest] = len(self.texts)
            self.texts.append(base64.b64encode(picture.data).decode("ascii"))
        self.parts.add(picture.part)
        return self.places[digest]


def file_of(
    slides: Sequence[DrawnSlide], talk: str, most: int = LARGEST, model: TalkModel | None = None
) -> tuple[bytes, list[int]]:
    """Return the HTML file of a talk, and the numbers, from 1, of its incomplete slides.

    The file also holds `talk`, the text that the page Talk can load. With a `model`, a visitor can
    translate any sentence on its slides. Pictures that do not fit into `most` bytes are left out,
    and their slides say so.
    """
    data, fitting = Data(), within(slides, most)
    header = {
        "title": writable(slides[0].title) or "Talk",
        "slides": [written(slide, data) for slide in fitting],
        "data": data.texts,
        "controls": {key.key: key.selector for key in KEYS_OF_FILES},
        "keys": named_keys(DECK_KEYS, KEYS_OF_FILES),
        "labels": {part.name: part.label for part in data.parts},
    }
    inside = elements_of(model) if model else ""
    script, style = script_of(data.parts, model), style_sheet(model and model.style)
    policy = POLICY.format(script=digest_of(script), style=digest_of(style))
    document = (
        '<!doctype html>\n<html lang="en" translate="no">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>Talk</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{OPENING}{safe(talk)}{CLOSING}\n"
        f'<script type="application/json" id="{DECK_ID}">{as_json(header)}</script>\n{inside}'
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )
    return document.encode(), [at for at, one in enumerate(fitting, start=1) if one.missing]


def within(slides: Sequence[DrawnSlide], most: int) -> list[DrawnSlide]:
    """Return the slides without the pictures that do not fit into `most` bytes."""
    room, known, fitting = most * 3 // 4, set(), []  # base64 makes data a third longer

    def fits(picture: CanvasPicture | str) -> bool:
        nonlocal room
        size = 0 if picture in known else size_of(picture)
        if size > room:
            return False
        room -= size
        known.add(picture)
        return True

    for slide in slides:
        kept = [drawn for drawn in slide.pictures if fits(drawn.picture)]
        left = [drawn.what for drawn in slide.pictures if drawn not in kept]
        words = TOO_LARGE.format(most=most // 1_000_000, names=", ".join(left)) if left else ""
        missing = f"{slide.missing} {words}".strip()
        fitting.append(replace(slide, pictures=kept, missing=missing))
    return fitting


def size_of(picture: CanvasPicture | str) -> int:
    return len(picture if isinstance(picture, str) else picture.data)


def written(slide: DrawnSlide, data: Data) -> dict[str, object]:
    """Return a slide as JSON data for the file, and add its pictures to `data`."""
    grids = [drawn.picture for drawn in slide.pictures if named(drawn.picture, "head_grid")]
    return {
        "title": writable(slide.title),
        "typed": slide.typed,
        "words": writable(slide.words),
        "question": list(map(writable, slide.question)),
        "notes": writable(slide.notes),
        "size": min(slide.size, 1),
        "pictures": [
            still_or_alive(drawn, data) | {"what": drawn.alternative, "waits": drawn.waits}
            for drawn in slide.pictures
        ],
        "footer": writable(slide.footer),
        "missing": writable(slide.missing),
        "map": data.place(map_of(grids[0])) if grids else None,
        "scene": dict(slide.scene),
    }


def still_or_alive(drawn: Drawn, data: Data) -> dict[str, object]:
    """Return a picture as JSON data for the file: an image, or the index of its data."""
    if isinstance(drawn.picture, str):
        return {"part": "", "data": -1, "still": drawn.picture, "question": None}
    question = None
    if drawn.question:
        asks, verdicts = drawn.question
        question = {"data": data.place(asks), "verdicts": list(map(writable, verdicts))}
    place = data.place(drawn.picture)
    return {"part": drawn.picture.name, "data": place, "still": "", "question": question}


def map_of(grid: CanvasPicture) -> CanvasPicture:
    """Return an empty map of one head; the browser fills it after a click on a head in the grid."""
    header, _ = unpacked(grid.data)
    queries, keys = header["queries"], header["keys"]
    zeros = np.zeros((len(queries), len(keys)))
    empty = attention_heatmap(zeros, queries, keys, name="weight, rounded:")
    return CanvasPicture.pack(empty.part, unpacked(empty.data)[0], height=0)


def named(picture: CanvasPicture | str, name: str) -> TypeGuard[CanvasPicture]:
    return isinstance(picture, CanvasPicture) and picture.name == name


def script_of(drawing: Iterable[Part], model: TalkModel | None = None) -> str:
    """Return the script of a file, with the code of only those parts that the file needs."""
    scripts = {part.script for part in drawing}
    if model:
        scripts |= {picture.part.script for picture in model.pictures}
    in_order = sorted(scripts, key=lambda path: path.stem)
    first = model.script if model else DECK
    code = library.code_of(first, in_order, ("canvas", "theme"))
    return f"{code}\n${first.stem}.show(parts, styles);\n"


def elements_of(model: TalkModel) -> str:
    """Return the HTML elements with a model's weights, and with the data for showing the model."""
    weights = base64.b64encode(model.weights).decode("ascii")
    pieces = (weights[at : at + PIECE] for at in range(0, len(weights), PIECE))
    return "".join(
        (
            f'<script type="application/json" id="live">{as_json(model.header)}</script>\n',
            *(f'<script type="text/plain" class="weights">{piece}</script>\n' for piece in pieces),
        )
    )


@cache
def style_sheet(more: Path | None = None) -> str:
    """Return the style sheet of the document; pictures have style sheets of their own."""
    theme = library.THEME.read_text(encoding="utf-8").replace(":host", ":root")
    files = [SLIDE, *(library.HERE / name for name in STYLES)] + ([more] if more else [])
    own = [file.read_text(encoding="utf-8") for file in files]
    canvas = (library.VIZ / "canvas.css").read_text(encoding="utf-8")
    return "\n".join([font_face(), canvas, theme, *own])


def talk_in(data: bytes) -> bytes:
    """Return the talk's text from an HTML file of `file_of`; return any other file unchanged."""
    _, opening, rest = data.partition(OPENING.encode())
    return rest.partition(CLOSING.encode())[0] if opening else data
