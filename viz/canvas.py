"""Pictures that JavaScript draws in the browser from a small byte array."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from headlight.viz import modules
from headlight.viz.numbers import Numbers

FONT = "font:14px system-ui,sans-serif"
FRAME = f"body{{margin:0;{FONT}}}"  # the style of the frame that shows a picture in a notebook
FILE = f":root{{--saved:none}}body{{margin:24px;{FONT};background:var(--paper);color:var(--ink)}}"
COMPONENT = Path(__file__).with_name("component.js")
ELEMENT = (
    f":host{{--saved:none;display:block;padding:12px;text-align:left;{FONT};"
    "background:var(--paper);color:var(--ink)}.caption{margin:12px 0 0;line-height:1.4}"
)
LARGEST = 2  # the largest factor by which a picture grows to fill a window
# This script enlarges a picture to fill the window. It measures the room only once, because larger
# letters make a picture both wider and taller.
FILL = (
    "requestAnimationFrame(() => requestAnimationFrame(() => {\n"
    '  const picture = document.getElementById("picture");\n'
    "  const room = innerHeight - picture.offsetTop - 24;\n"
    f"  const scale = Math.max(1, Math.min({LARGEST}, room / picture.offsetHeight));\n"
    "  picture.style.width = `${100 / scale}%`;\n"
    "  picture.style.transform = `scale(${scale})`;\n"
    '  picture.style.transformOrigin = "0 0";\n'
    "}));\n"
)


@dataclass(frozen=True)
class Part:
    """Code that draws in a browser: a script that exports `draw`, with its stylesheet next to it.

    `label` describes the picture to screen readers where its elements do not.
    """

    script: Path = field(repr=False)
    label: str = ""

    @classmethod
    def next_to(cls, file: str, label: str = "") -> Part:
        """Return the part whose script has the same folder and name as a Python file."""
        return cls(Path(file).with_suffix(".js"), label)

    @property
    def name(self) -> str:
        return self.script.stem

    def markup(self) -> str:
        label = f' role="group" aria-label="{html.escape(self.label)}"' if self.label else ""
        return f'<div class="picture {self.name.replace("_", "-")}" translate="no"{label}></div>'

    @cache  # noqa: B019 - there are as many parts as files
    def stylesheet(self) -> str:
        """Return the part's CSS, preceded by the CSS of the scripts that it imports."""
        return modules.stylesheet(modules.in_order([self.script]))

    @cache  # noqa: B019
    def code(self) -> str:
        """Return the part's JavaScript, preceded by that of the scripts that it imports."""
        return modules.script(modules.in_order([self.script]))


@dataclass(frozen=True)
class CanvasPicture:
    """A browser part and its data; a notebook shows it when a cell returns it.

    `data` is read by `unpack` in canvas.js: the length of a JSON header as four little-endian
    bytes, the header, and the bytes of an array.
    """

    part: Part
    data: bytes = field(repr=False)
    height: int  # the height in pixels of its frame in a notebook
    numbers: Mapping[str, Numbers] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def pack(
        cls,
        part: Part,
        header: Mapping[str, Any],
        array: np.ndarray | None = None,
        *,
        height: int,
        numbers: Mapping[str, Numbers] | None = None,
    ) -> CanvasPicture:
        """Pack a header and an array into a picture; `numbers` are for its CSV and NPZ files."""
        text = json.dumps(header).encode("ascii")
        body = b"" if array is None else np.ascontiguousarray(array).tobytes()
        return cls(part, struct.pack("<I", len(text)) + text + body, height, numbers or {})

    def having(self, **changes: Any) -> CanvasPicture:
        """Return a copy of the picture with some values of its header replaced."""
        header, array = unpacked(self.data)
        text = json.dumps(header | changes).encode("ascii")
        return replace(self, data=struct.pack("<I", len(text)) + text + array)

    @property
    def name(self) -> str:
        return self.part.name

    def to_html(self, title: str = "", caption: str = "") -> str:
        """Return the picture as an HTML page that needs no network.

        With a `title` the page is a file to keep: the caption is above the picture, the picture
        fills the window, and what works only in the app is left out.
        """
        data = base64.b64encode(self.data).decode("ascii")
        return (
            f'<!doctype html><meta charset="utf-8"><title>{html.escape(title)}</title><style>'
            f"{FILE if title else FRAME}\n{self.part.stylesheet()}</style>"
            f'{caption_html(title, caption)}<div id="picture">{self.part.markup()}</div>'
            f'<script type="module">\n{self.part.code()}\n'
            f'const data = Uint8Array.from(atob("{data}"), (letter) => letter.charCodeAt(0));\n'
            f'${self.name}.draw({{ data, parentElement: document.getElementById("picture"),'
            f" setTriggerValue() {{}} }});\n{FILL if title else ''}</script>"
        )

    def to_component(self, caption: str = "") -> str:
        """Return one line of HTML that draws the picture in any page: an element and its script.

        The element's name ends with a hash of the script, so that one page can hold pictures from
        two versions of Headlight.
        """
        part = self.part
        drawing = {"markup": part.markup(), "style": f"{part.stylesheet()}\n{ELEMENT}"}
        code = modules.script(modules.in_order([part.script, COMPONENT]))
        code += f"\nconst drawing = {json.dumps(drawing)};\n"
        mark = hashlib.sha256(code.encode("utf-8")).hexdigest()[:8]
        name = f"headlight-{part.name.replace('_', '-')}-{mark}"
        code += f'$component.define("{name}", {{ draw: ${part.name}.draw, ...drawing }});'
        source = base64.b64encode(code.encode("utf-8")).decode("ascii")
        data = base64.b64encode(self.data).decode("ascii")
        words = html.escape(" ".join(caption.split()))
        return (
            f'<{name} translate="no" data="{data}">{words}</{name}>'
            f'<script type="module" src="data:text/javascript;base64,{source}"></script>'
        )

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.to_html())}" width="100%" '
            f'height="{self.height}" style="border:0"></iframe>'
        )


def unpacked(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the header in a picture's data, and the bytes of its array."""
    end = 4 + struct.unpack_from("<I", data)[0]
    return json.loads(data[4:end]), data[end:]


def caption_html(title: str, caption: str) -> str:
    """Return a caption as HTML; a `title` at its beginning is bold. Return "" for no caption."""
    if not caption:
        return ""
    start, rest = (title, caption[len(title) :]) if caption.startswith(title) else ("", caption)
    words = f"<b>{html.escape(start)}</b>{html.escape(rest)}"
    return f'<p translate="no" style="margin:0 0 16px;line-height:1.4">{words}</p>'
