"""Pictures drawn in the browser from a small byte array."""

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
FRAME = f"body{{margin:0;{FONT}}}"  # of a notebook
FILE = f":root{{--saved:none}}body{{margin:24px;{FONT};background:var(--paper);color:var(--ink)}}"
COMPONENT = Path(__file__).with_name("component.js")
ELEMENT = (
    f":host{{--saved:none;display:block;padding:12px;text-align:left;{FONT};"
    "background:var(--paper);color:var(--ink)}.caption{margin:12px 0 0;line-height:1.4}"
)
LARGEST = 2  # the largest factor by which a picture grows to fill a window
# The room is measured once, because larger letters make a picture both wider and taller.
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

    `label` describes the picture to screen readers, if its elements do not.
    """

    script: Path = field(repr=False)
    label: str = ""

    @classmethod
    def next_to(cls, file: str, label: str = "") -> Part:
        """The part whose script is next to a Python file, under the same name."""
        return cls(Path(file).with_suffix(".js"), label)

    @property
    def name(self) -> str:
        return self.script.stem

    def markup(self) -> str:
        label = f' role="group" aria-label="{html.escape(self.label)}"' if self.label else ""
        return f'<div class="picture {self.name.replace("_", "-")}" translate="no"{label}></div>'

    @cache  # noqa: B019 - there are as many parts as files
    def stylesheet(self) -> str:
        """Its CSS, after that of everything it imports."""
        return modules.stylesheet(modules.in_order([self.script]))

    @cache  # noqa: B019
    def code(self) -> str:
        """Its JavaScript, after that of everything it imports."""
        return modules.script(modules.in_order([self.script]))


@dataclass(frozen=True)
class CanvasPicture:
    """A browser part and its data; shows itself in notebooks.

    `data` is what `unpack` in canvas.js reads: the length of a JSON header as four little-endian
    bytes, the header, and the bytes of an array.
    """

    part: Part
    data: bytes = field(repr=False)
    height: int  # in pixels, for a notebook's frame
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
        """Pack a header and an array into one picture; `numbers`, which it shows, stay unpacked."""
        text = json.dumps(header).encode("ascii")
        body = b"" if array is None else np.ascontiguousarray(array).tobytes()
        return cls(part, struct.pack("<I", len(text)) + text + body, height, numbers or {})

    def having(self, **changes: Any) -> CanvasPicture:
        """The same picture with other values in its header."""
        header, array = unpacked(self.data)
        text = json.dumps(header | changes).encode("ascii")
        return replace(self, data=struct.pack("<I", len(text)) + text + array)

    @property
    def name(self) -> str:
        return self.part.name

    def to_html(self, title: str = "", caption: str = "") -> str:
        """An HTML page of its own that needs no network.

        With a `title` it is a file to keep: the caption is above the picture, which fills the
        window, and anything that needs the app is left out.
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
        """One line of HTML that draws it in any page: an element and the script that defines it.

        The element's name identifies its code, so that pictures of two versions can be in one page.
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
    """The header of a picture's data, and the bytes of its array."""
    end = 4 + struct.unpack_from("<I", data)[0]
    return json.loads(data[4:end]), data[end:]


def caption_html(title: str, caption: str) -> str:
    """A caption as HTML, the `title` that it begins with in bold; empty if there is none."""
    if not caption:
        return ""
    start, rest = (title, caption[len(title) :]) if caption.startswith(title) else ("", caption)
    words = f"<b>{html.escape(start)}</b>{html.escape(rest)}"
    return f'<p translate="no" style="margin:0 0 16px;line-height:1.4">{words}</p>'
