"""What documents that need no server are made of."""

import base64
import hashlib
import json


def digest_of(text: str) -> str:
    """Return the hash by which a policy allows an inline script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def as_json(content: object) -> str:
    return safe(json.dumps(content, ensure_ascii=False, allow_nan=False))


def safe(text: str) -> str:
    """Return the text of JSON with < escaped; it appears only within strings."""
    return text.replace("<", "\\u003c")
