"""Talk files that are not what they claim: uploads meant to take time."""

from __future__ import annotations

import json


def many_parameters(count: int) -> bytes:
    """Return a talk of one slide with `count` parameters, more than any page has."""
    return talk({"page": "attention", "parameters": {str(number): "" for number in range(count)}})


def many_pictures(count: int) -> bytes:
    """Return a talk of one slide with `count` pictures, more than any page has."""
    return talk({"page": "attention", "pictures": [str(number) for number in range(count)]})


def talk(slide: dict[str, object]) -> bytes:
    return json.dumps({"headlight_talk": 2, "slides": [slide]}, separators=(",", ":")).encode()
