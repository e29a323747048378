"""Addresses that no page writes: unknown pages and choices, and values that make no sense."""

from __future__ import annotations

import random
from collections.abc import Sequence
from urllib.parse import quote

from headlight.pages.parts.pages import PAGES
from tests.odd_texts import ODD_TEXTS

LONGEST = 3_000  # characters of a value: a server takes no line of more than 64 kB
VALUES = (
    *(text[:LONGEST] for text in ODD_TEXTS.values()),
    *("-1", "0", "1", "7", "99", "1e9", "9" * 400, "-0", "nan", "inf", "0x10", "on", "off", "mean"),
    *("../../etc/passwd", "own-0", "own-" + "a" * 40, "transformers:../..", "C:\\", "%00", "None"),
    *("gate.cross.1.1.0", "gate.cross.99.99.9", "mask.encoder.0.0.on", "look-ahead.off", "v1:x"),
)


def address(chance: random.Random) -> tuple[str, str]:
    """Return the name of a page as in its address, and a query."""
    page = chance.choice([*PAGES.values()])
    name = "" if page.file == "app.py" else page.key
    keys = [choice.key for choice in page.linked]
    keys += ["talk", "v", "embed", "embed_options", "unknown", *chance.sample(VALUES, 2)]
    chosen = chance.choices(keys, k=chance.choice((1, 1, 2, 5, 20)))
    return name, "&".join(f"{escaped(key)}={escaped(value_of(chance))}" for key in chosen)


def value_of(chance: random.Random, values: Sequence[str] = VALUES) -> str:
    """Return a value unchanged, doubled, or with one character changed."""
    value = chance.choice(values)
    match chance.randrange(4):
        case 0:
            return (value + chance.choice(values))[:LONGEST]
        case 1 if value:
            place = chance.randrange(len(value))
            return value[:place] + chr(chance.choice((0, 32, 46, 0x202E, 0x1F600))) + value[place:]
    return value


def escaped(text: str) -> str:
    """Return a text as it is written in an address; a lone surrogate becomes its bytes."""
    return quote(text.encode(errors="surrogatepass"), safe="")
