"""Stylesheets for Streamlit's own elements, which name its classes and test ids.

Only these stylesheets, and dom.js for scripts, name parts of Streamlit's DOM.

Upstream: no issue was found; of its DOM only the classes of keys, `.st-key-NAME`, are public.
Relies on: the names in the .css files and in dom.js next to this file.
"""

from pathlib import Path

HERE = Path(__file__).parent
PAGE = tuple(HERE / f"{name}.css" for name in ("window", "sidebar", "widgets", "texts", "rows"))
SLIDE = HERE / "slide.css"  # added after the stylesheets of a page
ALONE = HERE / "alone.css"  # shows one picture; PICTURE in it is replaced by a selector


def style(*sheets: Path) -> str:
    """Return a `<style>` element with the rules of these stylesheets, in this order."""
    rules = "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    return f"<style>{rules}</style>"
