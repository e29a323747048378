"""A film as a GIF, made of the frames that a browser drew."""

import base64
import io
from collections.abc import Mapping, Sequence
from typing import Any

from PIL import Image

PNG = "data:image/png;base64,"
MOST_FRAMES = 240
MOST_BYTES = 40_000_000  # of all frames together, encoded
MOST_DOTS = 4_000_000  # of a frame
MOST_DOTS_IN_ALL = 200_000_000  # each takes a byte of memory
SLOWEST, FASTEST = 10_000, 20  # milliseconds for a step


def to_gif(asked: Mapping[str, Any]) -> bytes:
    """Return the GIF of frames: PNGs as data addresses, shown for some milliseconds each.

    The last frame stays as long as `last` of them. Raises ValueError for invalid frames, several
    sizes, or too many or too large ones.
    """
    frames = asked.get("frames")
    if not isinstance(frames, list) or not 0 < len(frames) <= MOST_FRAMES:
        raise ValueError(f"A GIF has 1 to {MOST_FRAMES} steps.")
    if not all(isinstance(frame, str) and frame.startswith(PNG) for frame in frames):
        raise ValueError("A step of the film is no picture.")
    if sum(map(len, frames)) > MOST_BYTES:
        raise ValueError("The film is too large for a GIF: save it as WEBM.")
    try:
        return put_together(frames, asked)
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError("A step of the film is no picture.") from error


def put_together(frames: Sequence[str], asked: Mapping[str, Any]) -> bytes:
    """Return frames of one size as a GIF; raises ValueError for others, or too large ones.

    Only one frame at a time is held as pixels, of three bytes each.
    """
    sizes = {opened(frame).size for frame in frames}
    if len(sizes) > 1:
        raise ValueError("The steps of the film differ in size.")
    ((width, height),) = sizes
    if width * height > MOST_DOTS or width * height * len(frames) > MOST_DOTS_IN_ALL:
        raise ValueError("The film is too large for a GIF: save it as WEBM.")
    step = bounded(asked.get("milliseconds"), FASTEST, SLOWEST)
    times = [step] * (len(frames) - 1) + [step * bounded(asked.get("last"), 1, 4)]
    # One palette for all frames, so that unchanged parts keep their colours.
    palette = in_one(frames, width, height).quantize(256)
    first, *others = (
        drawn(frame).quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames
    )
    file = io.BytesIO()
    first.save(file, "GIF", save_all=True, append_images=others, duration=times, loop=0)
    return file.getvalue()


def in_one(frames: Sequence[str], width: int, height: int) -> Image.Image:
    """Return a picture with samples of the pixels of all frames, which have one size."""
    width, height = (max(1, size // 4) for size in (width, height))
    found = Image.new("RGB", (width, height * len(frames)))
    for place, frame in enumerate(frames):
        small = drawn(frame).resize((width, height), Image.Resampling.NEAREST)
        found.paste(small, (0, height * place))
    return found


def opened(frame: str) -> Image.Image:
    """Return a frame whose size is known and whose pixels are not read yet."""
    data = base64.b64decode(frame[len(PNG) :], validate=True)
    return Image.open(io.BytesIO(data), formats=["PNG"])


def drawn(frame: str) -> Image.Image:
    return opened(frame).convert("RGB")


def bounded(value: object, least: int, most: int) -> int:
    """Return a number within bounds; the lower bound for anything that is not a whole number."""
    return max(least, min(value, most)) if isinstance(value, int) else least
