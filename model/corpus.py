"""Reads the lines of a text file of any length, gzipped or not, in windows of some lines.

A line is a text, or two texts with a tab between them. Of a typed or uploaded text, only the first
lines are read.
"""

import gzip
import hashlib
import io
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

GZIP = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LONGEST = 2**16  # the most bytes of a line; longer lines are left out
# the most lines of a window; after each window the progress bar moves, and the count can stop
WINDOW = 32
ENOUGH = 4_000  # the bytes after which a window ends, even if it has fewer lines than WINDOW
LARGEST = 4_000_000  # the most bytes that are read of a typed or uploaded text
CHUNK = 2**16
NOTHING = "There is no text to count: type or upload some, one sentence per line."
UNREADABLE = "This gzip file cannot be read: save it again, or upload the text without gzip."


class CorpusLine(NamedTuple):
    """A line of a corpus: one text, or two."""

    number: int  # the number of the line in the file, from 0
    text: str
    second: str | None = None  # the text after a tab, if there is one


@dataclass
class Window:
    """Consecutive lines of a file that are counted together and whose counts are saved together."""

    number: int
    lines: list[CorpusLine] = field(default_factory=list)
    # the number of lines left out, by the reason
    became: Counter[str] = field(default_factory=Counter)
    at: int = 0  # the bytes of the file from its beginning to the end of this window

    @property
    def read(self) -> int:
        """The number of the file's lines in this window, including those left out."""
        return len(self.lines) + self.became.total()


def digest(path: Path) -> str:
    """Return the SHA-256 digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def windows(
    path: Path, size: int, wanted: Callable[[int], bool] = lambda number: True
) -> Iterator[Window]:
    """Yield windows of `size` lines if their number is `wanted`; only one is in memory at a time.

    Empty lines, lines that are not UTF-8 and lines over 64 KB are left out and counted. Raises
    ValueError after the last whole line if a gzip file is cut off or damaged.
    """
    with path.open("rb") as file:
        zipped = file.read(len(GZIP)) == GZIP
        file.seek(0)
        source = gzip.GzipFile(fileobj=file) if zipped else file
        number, window, damaged = 0, Window(0), None
        while damaged is None:
            try:
                raw = next_line(source)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                damaged, raw = error, b""
            if raw:
                if wanted(window.number):
                    take(window, number, raw)
                number += 1
            if not raw or number % size == 0:
                window.at = file.tell()
                if window.read:
                    yield window
                window = Window(number // size)
            if not raw:
                break
    if damaged is not None:
        raise ValueError(
            f"{path.name} is cut off or damaged after line {number}; the lines before were counted."
        ) from damaged


def next_line(source: BinaryIO | gzip.GzipFile) -> bytes:
    """Return the next line, or its first LONGEST + 1 bytes if it has more; b"" at the end."""
    raw = part = source.readline(LONGEST + 1)
    while part and not part.endswith(b"\n"):
        part = source.readline(LONGEST + 1)
    return raw


def take(window: Window, number: int, raw: bytes) -> None:
    """Put a line into a window, or leave it out and count the reason."""
    if len(raw) > LONGEST:
        window.became["over 64 KB"] += 1
        return
    try:
        text = (raw.removeprefix(BYTE_ORDER_MARK) if number == 0 else raw).decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        window.became["not text in UTF-8"] += 1
        return
    first, *more = text.rstrip("\r\n").split("\t")
    if not first.strip():
        window.became["empty"] += 1
        return
    second = more[0] if more and more[0].strip() else None
    window.lines.append(CorpusLine(number, first, second))


@dataclass(frozen=True)
class OwnText:
    """The windows of a visitor's text, and sentences that say which part of it was left out."""

    windows: list[Window]
    notes: tuple[str, ...]


def as_windows(data: bytes, most_lines: int) -> OwnText:
    """Return the windows of a text, plain or gzipped: at most `most_lines` lines and LARGEST bytes.

    Raises ValueError if there is no line to count.
    """
    text, notes = unpacked(data) if data.startswith(GZIP) else (data[: LARGEST + 1], [])
    if len(text) > LARGEST:
        text = text[: text.rfind(b"\n", 0, LARGEST) + 1]
        notes = [f"Only the first {LARGEST // 1_000_000} MB of the text are counted."]
    windows: list[Window] = []
    lines, began = io.BytesIO(text), 0
    for number, raw in enumerate(islice(lines, most_lines)):
        if not windows or windows[-1].read == WINDOW or lines.tell() - began > ENOUGH:
            windows.append(Window(len(windows)))
            began = lines.tell() - len(raw)
        take(windows[-1], number, raw)
    if lines.readline():
        notes = [f"Only the first {most_lines:,} lines are counted."]
    if not any(window.lines for window in windows):
        raise ValueError(nothing_in(windows))
    return OwnText(windows, tuple(notes))


def unpacked(data: bytes) -> tuple[bytes, list[str]]:
    """Return the content of a gzip file, up to a little over LARGEST bytes, and a note on damage.

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
        return bytes(text), ["The file is damaged: only the text before the damage is counted."]
    return bytes(text), []


def nothing_in(windows: list[Window]) -> str:
    """Return why no line can be counted."""
    became = sum((window.became for window in windows), Counter())
    if not became.keys() - {"empty"}:
        return NOTHING
    return f"No line of this text can be counted: {in_words(became)}."


def in_words(became: Counter[str]) -> str:
    """Return how many lines were left out for each reason, such as '2 lines: empty'."""
    return "; ".join(
        f"{lines:,} {'line' if lines == 1 else 'lines'}: {what}"
        for what, lines in sorted(became.items())
        if lines and what != "counted"
    )
