"""Reading a picture's data, as its script does."""

import json
import re
import struct

import numpy as np

PROPERTY = re.compile(r"\* @property \{.*\} (\[?)(\w+)")


def unpack(picture, dtype=None):
    """A picture's header, and the bytes of its array or, of a dtype, its numbers.

    The header has to have the keys that the picture's script documents, and no others.
    """
    header, body = split(picture.data)
    needed, optional = documented(picture.part.script)
    assert needed <= set(header) <= needed | optional
    return header, body if dtype is None else np.frombuffer(body, dtype)


def split(data):
    """The header and the bytes that follow it."""
    (length,) = struct.unpack("<I", data[:4])
    return json.loads(data[4 : 4 + length], parse_constant=refuse), data[4 + length :]


def refuse(name):
    raise ValueError(f"{name} is no JSON that a browser reads")


def documented(script):
    """The keys of a script's Header, and those of them that can be missing."""
    source = script.read_text(encoding="utf-8")
    block = re.search(r"@typedef \{object\} Header\n(.*?)\*/", source, re.DOTALL)[1]
    keys = PROPERTY.findall(block)
    return {key for sign, key in keys if not sign}, {key for sign, key in keys if sign}
