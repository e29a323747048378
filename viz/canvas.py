"""Pictures drawn in the browser from a small byte array."""

from __future__ import annotations

import base64
import html
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from viz.numbers import Numbers

COMPONENTS = Path(__file__).parent / "components"
LIBRARIES = {  # what a browser part has besides its own files
    "attention_film": ("maps.css", "maps.js"),
    "compared_maps": ("maps.css", "maps.js"),
    "heatmap": ("maps.css", "maps.js"),
    "save_menu": ("to_svg.js",),
}


@dataclass(frozen=True)
class CanvasPicture:
    """A browser part's name and its data; shows itself in notebooks.

    `data` is what `unpack` in components/picture.js reads: the length of a JSON header as four
    little-endian bytes, the header, and the bytes of an array.
    """

    name: str
    data: bytes
    height: int  # in pixels, for a notebook's frame
    numbers: Mapping[str, Numbers] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def pack(
        cls,
        name: str,
        header: dict,
        array: np.ndarray | None = None,
        *,
        height: int,
        numbers: Mapping[str, Numbers] | None = None,
    ) -> CanvasPicture:
        """Join a header and an array into one picture of some `numbers`, which are not packed."""
        text = json.dumps(header).encode("ascii")
        body = b"" if array is None else np.ascontiguousarray(array).tobytes()
        return cls(name, struct.pack("<I", len(text)) + text + body, height, numbers or {})

    def to_html(self, title: str = "", caption: str = "") -> str:
        """A page of its own that needs no network; the caption stands below the picture."""
        data = base64.b64encode(self.data).decode("ascii")
        return (
            f'<!doctype html><meta charset="utf-8"><title>{html.escape(title)}</title><style>'
            f"body{{margin:0;font:14px system-ui,sans-serif}}\n{stylesheet(self.name)}</style>"
            f'<div id="picture">{markup(self.name)}</div>{caption_html(caption)}'
            f'<script type="module">\n{script(self.name).replace("export default ", "")}\n'
            f'const data = Uint8Array.from(atob("{data}"), (letter) => letter.charCodeAt(0));\n'
            'draw({ data, parentElement: document.getElementById("picture"),'
            " setTriggerValue() {} });\n</script>"
        )

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.to_html())}" width="100%" '
            f'height="{self.height}" style="border:0"></iframe>'
        )


def caption_html(caption: str) -> str:
    """A caption as HTML; nothing where there is none."""
    return f'<p style="margin:8px 2px">{html.escape(caption)}</p>' if caption else ""


@cache
def markup(name: str) -> str:
    """The HTML a browser part starts from."""
    return (COMPONENTS / f"{name}.html").read_text(encoding="utf-8")


@cache
def stylesheet(name: str) -> str:
    """The CSS of a browser part, after what all parts share."""
    return joined("picture.css", *libraries(name, ".css"), f"{name}.css")


@cache
def script(name: str) -> str:
    """The JavaScript of a browser part, after what all parts share."""
    return joined("picture.js", *libraries(name, ".js"), f"{name}.js")


def libraries(name: str, suffix: str) -> list[str]:
    """The files of one type that a browser part has besides its own and those of all parts."""
    return [file for file in LIBRARIES.get(name, ()) if file.endswith(suffix)]


def joined(*files: str) -> str:
    """The text of some files of the browser parts, one after the other."""
    return "\n".join((COMPONENTS / file).read_text(encoding="utf-8") for file in files)
