"""Streamlit's font, for files that visitors save from the app.

Upstream: no issue was found; Streamlit has no public name for the files of its fonts.
Relies on: the variable font "Source Sans" in static/static/media of the package, as a WOFF2 file.
"""

import base64
from pathlib import Path

import streamlit

MEDIA = Path(streamlit.__file__).parent / "static" / "static" / "media"
FACE = (
    '@font-face {{ font-family: "Source Sans"; font-weight: 200 900; '
    "src: url(data:font/woff2;base64,{font}) format('woff2'); }}"
)


def font_face() -> str:
    """Return a CSS rule that contains the whole font, named "Source Sans"."""
    (file,) = MEDIA.glob("SourceSansVF-Upright.*.woff2")
    return FACE.format(font=base64.b64encode(file.read_bytes()).decode("ascii"))
