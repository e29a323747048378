"""Save a picture: the name and caption of its files, and files that the browser cannot make."""

import base64
import io
import json
import re
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from PIL import Image

from headlight.model.edits import Edits
from headlight.pages.browser.parts import Copy, Format
from headlight.pages.shared import address
from headlight.pages.shared.runs.run import BEAM, ModelRun
from headlight.pages.shared.show.captions import edit_words
from headlight.pages.shared.state import models
from headlight.pages.shared.state.page import shown
from headlight.pages.shared.state.showing import showing
from headlight.viz.numbers import Numbers, count, to_csv, to_npz, writable

LONGEST_NAME = 130  # the most characters of a file's name, without its extension
PNG = "data:image/png;base64,"
MOST_FRAMES = 240
MOST_BYTES = 40_000_000  # the most bytes of all frames of a film together, as encoded PNGs
MOST_DOTS = 4_000_000  # the most pixels of a frame
MOST_DOTS_IN_ALL = 200_000_000  # the most pixels of all frames, at a byte of memory each
SLOWEST, FASTEST = 10_000, 20  # milliseconds for a step of a film


@dataclass(frozen=True)
class About:
    """What pictures are about, for their files: the model, what it read and wrote, its changes."""

    model: str  # the model's title
    key: str  # the model's name in file names
    sentence: str = ""
    target: str = ""  # what the decoder read or wrote
    changes: str = ""
    place: str = ""  # the weight that is shown, or the way of decoding
    told: str = ""  # a sentence for captions, not for file names

    def caption(self, what: str) -> str:
        """Return a picture's caption: what it shows, the model, the texts and the changes."""
        parts = [what, self.place, self.told, f"Model: {self.model}" if self.model else ""]
        texts = {"Sentence": self.sentence, "The decoder's text": self.target}
        parts += [f"{name}: “{text}”" for name, text in texts.items() if text.strip()]
        if self.model:
            parts.append(f"Changed: {self.changes or 'nothing, as trained'}")
        return " ".join(sentence_of(writable(part)) for part in parts if part)

    def file_name(self, what: str) -> str:
        """Return a name for the files of a picture; it has only letters, digits, hyphens and _."""
        parts = ["headlight", slug(self.key.rpartition("/")[2], 20)]
        parts += [slug(what, 34), slug(self.place, 34), slug(self.sentence, 24)]
        if self.changes:
            parts.insert(3, "changed")
        return "_".join(filter(None, parts))[:LONGEST_NAME].rstrip("-_")


@dataclass(frozen=True)
class Picture:
    """A picture to be saved: what it shows, its key, its subject, and its numbers.

    `to_html` takes a title and a caption and returns an HTML page with the picture; without it, the
    browser saves the picture as it looks. `to_component` takes a caption and returns the picture as
    a line of HTML.
    """

    what: str
    key: str
    of: About
    numbers: Mapping[str, Numbers] = field(default_factory=dict)
    to_html: Callable[[str, str], str] | None = None
    to_component: Callable[[str], str] | None = None


def sentence_of(part: str) -> str:
    """Return a part of a caption, with a full stop unless it ends with a quoted sentence."""
    return part if part.endswith((".”", "!”", "?”", "…”")) else f"{part}."


def slug(text: str, longest: int = 48) -> str:
    """Return a text in lower-case letters, digits and hyphens, of at most `longest` characters.

    A longer text is cut, between words if possible.
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    whole = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
    if len(whole) <= longest:
        return whole
    return whole[: longest + 1].rpartition("-")[0] or whole[:longest]


def about(
    sentence: str = "",
    *,
    target: str = "",
    edits: Edits = Edits(),
    changes: str = "",
    place: str = "",
    model: str | None = None,
) -> About:
    """Return what pictures are about, for `show` and for saved files.

    `changes` are changes other than the `edits`, in words. `place` names a weight or a way of
    decoding. `model` is a model's title, by default that of the chosen model.
    """
    chosen = models.chosen()
    key = slug(chosen.title) if chosen.is_own else chosen.key
    words = "; ".join(filter(None, [edit_words(edits), changes]))
    title = chosen.title if model is None else model
    return About(title, key if model is None else slug(model), sentence, target, words, place)


def about_run(run: ModelRun, *, place: str = "") -> About:
    """Return what the pictures of a run are about; for `place` see `about`."""
    changes = [f"hidden: {', '.join(str(place + 1) for place in run.masked)}"] if run.masked else []
    if run.strategy == BEAM and not run.target and "cross" in run.reader.shape.kinds:
        changes.append(f"written by a beam of {BEAM.beam_size}")
    if run.pad_to:
        changes.append(f"both sides padded to {run.pad_to} tokens")
    return about(
        run.texts,
        target=run.target_text(),
        edits=run.edits,
        changes="; ".join(changes),
        place=place,
        model=models.named(run.model).title if run.model != models.chosen().key else None,
    )


NO_MODEL = About("", "")  # for pictures that need no model


def formats_of(picture: Picture) -> list[Format]:
    """Return the formats in which a picture can be saved."""
    of_numbers: list[Format] = ["csv", "npz"] if count(picture.numbers) else []
    return ["png", "svg", "pdf", "html", *of_numbers, "json"]


def copies_of(picture: Picture) -> list[Copy]:
    """Return the ways in which a picture can be copied for slides."""
    copies: list[Copy] = ["frame"]
    if picture.to_component:
        copies.append("component")
    return [*copies, "address"] if picture.key in shown().pictures else copies


def made(picture: Picture, wanted: Format | Copy | Mapping[str, Any]) -> bytes:
    """Return the file of a picture in a format that the browser cannot make.

    For a GIF, `wanted` has the frames. Raises ValueError for invalid frames, and for a picture with
    more numbers than a file can have.
    """
    if isinstance(wanted, Mapping):
        return to_gif(wanted)
    caption = picture.of.caption(picture.what)
    if wanted == "csv":
        return to_csv(picture.numbers)
    if wanted == "npz":
        return to_npz(picture.numbers, caption)
    if wanted == "component" and picture.to_component:
        text = picture.to_component(caption)
    elif wanted == "html" and picture.to_html:
        text = picture.to_html(picture.what, caption)
    else:
        text = scene_of(picture)
    return writable(text).encode("utf-8")


def scene_of(picture: Picture) -> str:
    """Return, as JSON, the settings with which a picture can be opened again."""
    run, page = picture.of, shown()
    caption = run.caption(picture.what)
    parameters = address.parameters(page, scene=True)
    content = {
        **showing().as_file(page.key, parameters, picture.what, caption, picture.key),
        **{name: getattr(run, name) for name in ("model", "sentence", "target", "changes")},
        "caption": caption,
        "axes": {
            name: {axis: list(map(writable, texts)) for axis, texts in part.axes.items()}
            for name, part in picture.numbers.items()
        },
    }
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def file_asked_for(picture: Picture) -> tuple[Format | Copy, bytes, int] | None:
    """Return the file that the visitor has just requested, if it is of this picture.

    The result is the file's format, its bytes, and a number that is different for each request.
    """
    page, key, wanted = st.session_state.get("file_asked_for", (None, None, None))
    if (page, key) != (shown(), picture.key):
        return None
    del st.session_state.file_asked_for
    try:
        file = made(picture, wanted)
    except ValueError as error:
        st.info(str(error))
        return None
    return ("gif" if isinstance(wanted, Mapping) else wanted), file, time.monotonic_ns()


def to_gif(asked: Mapping[str, Any]) -> bytes:
    """Return a GIF of the frames in a request from the browser.

    `asked` has the `frames` (PNGs as data addresses), the `milliseconds` that each is shown, and
    `ends`: the first and the last frame are shown this many times as long. Raises ValueError for
    frames that are invalid, of different sizes, too many or too large.
    """
    frames = asked.get("frames")
    if not isinstance(frames, list) or not 0 < len(frames) <= MOST_FRAMES:
        raise ValueError(f"A GIF can have 1 to {MOST_FRAMES} steps.")
    if not all(isinstance(frame, str) and frame.startswith(PNG) for frame in frames):
        raise ValueError("A step of the film is not a picture.")
    if sum(map(len, frames)) > MOST_BYTES:
        raise ValueError("The film is too large for a GIF: save it as WEBM.")
    try:
        return put_together(frames, asked)
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError("A step of the film is not a picture.") from error


def put_together(frames: Sequence[str], asked: Mapping[str, Any]) -> bytes:
    """Return a GIF of frames; raises ValueError if their sizes differ or are too large.

    To save memory, only one frame at a time is decoded to pixels of three bytes.
    """
    sizes = {opened(frame).size for frame in frames}
    if len(sizes) > 1:
        raise ValueError("The steps of the film differ in size.")
    ((width, height),) = sizes
    if width * height > MOST_DOTS or width * height * len(frames) > MOST_DOTS_IN_ALL:
        raise ValueError("The film is too large for a GIF: save it as WEBM.")
    step = bounded(asked.get("milliseconds"), FASTEST, SLOWEST)
    ends = step * bounded(asked.get("ends"), 1, 4)
    times = [ends, *[step] * (len(frames) - 2), ends][: len(frames)]
    # One palette for all frames, so that unchanged parts keep their colours.
    palette = in_one(frames, width, height).quantize(256)
    first, *others = (
        drawn(frame).quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames
    )
    file = io.BytesIO()
    first.save(file, "GIF", save_all=True, append_images=others, duration=times, loop=0)
    return file.getvalue()


def in_one(frames: Sequence[str], width: int, height: int) -> Image.Image:
    """Return an image with a sample of the pixels of all frames, below each other."""
    width, height = (max(1, size // 4) for size in (width, height))
    image = Image.new("RGB", (width, height * len(frames)))
    for place, frame in enumerate(frames):
        small = drawn(frame).resize((width, height), Image.Resampling.NEAREST)
        image.paste(small, (0, height * place))
    return image


def opened(frame: str) -> Image.Image:
    """Return a frame as an image; its pixels are decoded only when they are used."""
    data = base64.b64decode(frame[len(PNG) :], validate=True)
    return Image.open(io.BytesIO(data), formats=["PNG"])


def drawn(frame: str) -> Image.Image:
    return opened(frame).convert("RGB")


def bounded(value: object, least: int, most: int) -> int:
    """Return a value if it is a whole number within the bounds, else the nearest bound.

    For anything but a whole number, return `least`.
    """
    return max(least, min(value, most)) if isinstance(value, int) else least
