"""A model's licence, read from its card."""

import re
from dataclasses import dataclass
from pathlib import Path

from model.library.hub import LoadingError, fetch

CARD_FILE = "README.md"
LONGEST = 20_000  # characters of the card that are read
FRONT_MATTER = re.compile(r"\A---\s*\n(.*?)^---\s*$", re.DOTALL | re.MULTILINE)
FIELD = r"^{name}:[ \t]*[\"']?([\w.+-][\w.+ -]{{0,60}})[\"']?[ \t]*$"
ON_THE_HUB = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?", re.ASCII)


@dataclass(frozen=True)
class Card:
    """A model's licence, as its card names it, and its page on the hub; each empty if unknown."""

    licence: str = ""
    page: str = ""


def read_card(name: str) -> Card:
    """Return the card of a model, by its name on the hub or its folder."""
    on_the_hub = ON_THE_HUB.fullmatch(name) and not Path(name).expanduser().is_dir()
    page = f"https://huggingface.co/{name}" if on_the_hub else ""
    try:
        path = fetch(name, (CARD_FILE,)) / CARD_FILE
        if not path.is_file():
            return Card(page=page)
        with path.open(encoding="utf-8", errors="replace") as file:
            return Card(licence_in(file.read(LONGEST)), page)
    except (LoadingError, OSError):
        return Card(page=page)


def licence_in(text: str) -> str:
    """Return the licence in the front matter of a card, or an empty text."""
    front_matter = FRONT_MATTER.match(text)
    if front_matter is None:
        return ""
    found = {
        name: match[1].strip()
        for name in ("license", "license_name")
        if (match := re.search(FIELD.format(name=name), front_matter[1], re.MULTILINE))
    }
    licence = found.get("license", "")
    return found.get("license_name", licence) if licence == "other" else licence
