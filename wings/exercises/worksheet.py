"""Worksheets: tasks with goals, as plain data, and the text of the file that holds them."""

import base64
import json
import zlib
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from headlight.wings.exercises.goals import Goal

LARGEST_FILE = 200_000  # bytes
LONGEST_LINK = 4_000  # characters of a worksheet in an address
MOST_TASKS = 60
MOST_GOALS = 4  # of a task
LONGEST_TITLE, LONGEST_TEXT = 80, 600  # characters
FORMAT = "headlight_worksheet"  # the field that names the version of a file
VERSION = 1
READY = Path(__file__).parent / "ready"


@dataclass(frozen=True)
class Task:
    """A sentence of instruction, the scene in which it begins, and the goals to reach."""

    title: str
    instruction: str
    page: str
    parameters: dict[str, str]
    goals: tuple[Goal, ...]
    hint: str = ""


@dataclass(frozen=True)
class Worksheet:
    """Tasks in their order."""

    title: str
    tasks: tuple[Task, ...]

    @property
    def digest(self) -> str:
        """A short text that differs between worksheets."""
        return sha256(write(self).encode()).hexdigest()[:12]


def read(data: bytes) -> Worksheet:
    """Return the worksheet of a file; raises ValueError with a sentence on the first fault."""
    from headlight.wings.exercises.worksheet_file import read_file

    return read_file(data)


def write(worksheet: Worksheet) -> str:
    """Return the text of a worksheet's file."""
    content = {FORMAT: VERSION, "title": worksheet.title, "tasks": [*map(asdict, worksheet.tasks)]}
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def ready() -> dict[str, Path]:
    """Return the files of the shipped worksheets by name."""
    return {path.stem: path for path in sorted(READY.glob("*.json"))}


def in_link(worksheet: Worksheet) -> str:
    """Return a worksheet as a text for an address; raises ValueError if it is too long."""
    packed = zlib.compress(write(worksheet).encode(), 9)
    text = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    if len(text) > LONGEST_LINK:
        raise ValueError("This worksheet is too long for a link: hand it out as a file.")
    return text


def from_link(text: str) -> Worksheet:
    """Return the worksheet of an address: a shipped one by its name, or a packed one."""
    if path := ready().get(text):
        return read(path.read_bytes())
    if len(text) > LONGEST_LINK:
        raise ValueError("This link holds no worksheet.")
    try:
        packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        unpacked = zlib.decompressobj()
        data = unpacked.decompress(packed, LARGEST_FILE)
    except (ValueError, zlib.error):
        raise ValueError("This link holds no worksheet.") from None
    return read(data)
