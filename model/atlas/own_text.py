"""A typed or uploaded text as windows of a corpus, within bounds."""

import gzip
import io
import zlib
from collections import Counter
from dataclasses import dataclass
from itertools import islice

from model.atlas.corpus import GZIP, Window, take

WINDOW = 32  # lines, after which a bar moves and a count may be stopped,
ENOUGH = 4_000  # or bytes of them
LARGEST = 4_000_000  # bytes of text
CHUNK = 2**16
NOTHING = "There is no text to count: type or upload some, a sentence a line."
UNREADABLE = "This is no gzip file that can be read: save it anew, or upload the text as it is."


@dataclass(frozen=True)
class OwnText:
    """The windows of a text, and sentences that say which lines were left out."""

    windows: list[Window]
    notes: tuple[str, ...]


def as_windows(data: bytes, most_lines: int) -> OwnText:
    """Return the first lines of a text, which may be gzipped; at most LARGEST bytes are unpacked.

    Raises ValueError with a sentence if there is no line to count.
    """
    text, notes = unpacked(data) if data.startswith(GZIP) else (data[: LARGEST + 1], [])
    if len(text) > LARGEST:
        text = text[: text.rfind(b"\n", 0, LARGEST) + 1]
        notes = [f"Only the first {LARGEST // 1_000_000} MB of the text are counted."]
    found: list[Window] = []
    lines, began = io.BytesIO(text), 0
    for number, raw in enumerate(islice(lines, most_lines)):
        if not found or found[-1].read == WINDOW or lines.tell() - began > ENOUGH:
            found.append(Window(len(found)))
            began = lines.tell() - len(raw)
        take(found[-1], number, raw)
    if lines.readline():
        notes = [f"Only the first {most_lines:,} lines are counted."]
    if not any(window.lines for window in found):
        raise ValueError(nothing_in(found))
    return OwnText(found, tuple(notes))


def unpacked(data: bytes) -> tuple[bytes, list[str]]:
    """Return the content of a gzip file up to a little over LARGEST bytes, and its faults.

    Raises ValueError if nothing can be read.
    """
    text = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            while len(text) <= LARGEST and (chunk := file.read1(CHUNK)):
                text += chunk
    except (OSError, EOFError, zlib.error) as error:
        if not text:
            raise ValueError(UNREADABLE) from error
        return bytes(text), ["The file is cut or damaged: only what stands before is counted."]
    return bytes(text), []


def nothing_in(windows: list[Window]) -> str:
    """Return why no line can be counted."""
    became = sum((window.became for window in windows), Counter())
    if not became.keys() - {"empty"}:
        return NOTHING
    return f"No line of this text can be counted: {in_words(became)}."


def in_words(became: Counter[str]) -> str:
    """Return what happened to lines that were not counted, in words; empty if all were counted."""
    return "; ".join(
        f"{lines:,} {'line' if lines == 1 else 'lines'}: {what}"
        for what, lines in sorted(became.items())
        if lines and what != "counted"
    )
