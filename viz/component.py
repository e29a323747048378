"""A picture as a line of HTML that draws it in any page, with its code inside."""

import base64
import hashlib
import html
import json
from pathlib import Path

from viz.canvas import FONT, CanvasPicture
from viz.modules import in_order, script

SCRIPT = Path(__file__).with_suffix(".js")
STYLE = (
    f":host{{--saved:none;display:block;padding:12px;text-align:left;{FONT};"
    "background:var(--paper);color:var(--ink)}.caption{margin:12px 0 0;line-height:1.4}"
)


def component(picture: CanvasPicture, caption: str = "") -> str:
    """Return an element of its own and the script that defines it, as one line of HTML.

    The element's name identifies its code, so that pictures of two versions can be in one page.
    """
    part = picture.part
    drawing = {"markup": part.markup(), "style": f"{part.stylesheet()}\n{STYLE}"}
    code = f"{script(in_order([part.script, SCRIPT]))}\nconst drawing = {json.dumps(drawing)};\n"
    mark = hashlib.sha256(code.encode("utf-8")).hexdigest()[:8]
    name = f"headlight-{part.name.replace('_', '-')}-{mark}"
    code += f'$component.define("{name}", {{ draw: ${part.name}.draw, ...drawing }});'
    source = base64.b64encode(code.encode("utf-8")).decode("ascii")
    data = base64.b64encode(picture.data).decode("ascii")
    words = html.escape(" ".join(caption.split()))
    return (
        f'<{name} data="{data}">{words}</{name}>'
        f'<script type="module" src="data:text/javascript;base64,{source}"></script>'
    )
