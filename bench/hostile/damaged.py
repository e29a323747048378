"""Damaged files: a good file that was cut, changed, repeated or put together anew."""

from __future__ import annotations

import json
import random
from typing import Any

from tests.odd_texts import ODD_TEXTS

WRONG = (None, True, -1, 0, 1e308, 10**30, "", [], {}, [[]], "NaN", *ODD_TEXTS.values())


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Return a file with bytes cut off, changed, left out, repeated or put in."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8))):
        start = chance.randrange(len(changed) + 1)
        length = chance.choice((1, 2, 16, 200))
        match chance.randrange(5):
            case 0:
                del changed[start:]
            case 1:
                changed[start : start + 1] = chance.randbytes(1)
            case 2:
                del changed[start : start + length]
            case 3:
                changed[start:start] = changed[start : start + length] * chance.choice((1, 50))
            case 4:
                changed[start:start] = chance.randbytes(length)
    return bytes(changed)


def damaged_json(value: Any, chance: random.Random) -> Any:
    """Return the content of a JSON file with one value, at any depth, replaced by another."""
    match value:
        case dict() if value and chance.random() < 0.9:
            key = chance.choice([*value])
            if chance.random() < 0.1:
                return {name: part for name, part in value.items() if name != key}
            return value | {key: damaged_json(value[key], chance)}
        case list() if value and chance.random() < 0.9:
            start = chance.randrange(len(value))
            if chance.random() < 0.1:
                return value[:start] + value[start:] * 3
            return [
                *value[:start],
                damaged_json(value[start], chance),
                *value[start + 1 :],
            ]
    return chance.choice(WRONG)


def damaged_text(data: bytes, chance: random.Random) -> bytes:
    """Return a JSON file with one value changed, or with changed bytes that may end it early."""
    if chance.random() < 0.3:
        return damaged(data, chance)
    return json.dumps(damaged_json(json.loads(data), chance)).encode(errors="surrogatepass")
