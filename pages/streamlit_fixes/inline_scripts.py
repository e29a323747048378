"""Finds the hashes by which a content security policy allows the inline scripts of Streamlit.

Streamlit sets no policy, and gives its inline scripts no nonce by which a policy could allow them.

Upstream: https://github.com/streamlit/streamlit/issues/9160
Relies on: static/index.html of the package, whose inline scripts are plain `<script>` elements.
"""

import base64
import hashlib
import re
from pathlib import Path

import streamlit

INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
INDEX = Path(streamlit.__file__).parent / "static" / "index.html"


def allowed_inline() -> str:
    """Return the sources, for `script-src`, that allow the inline scripts of Streamlit's page."""
    digests = [
        hashlib.sha256(script.encode()).digest() for script in INLINE.findall(INDEX.read_text())
    ]
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
