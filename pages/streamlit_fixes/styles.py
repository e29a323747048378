"""How Streamlit's own elements look: stylesheets that name its classes and test ids.

What scripts ask of its DOM is in dom.js; nothing else of the app names either.

Upstream: no issue was found; of its DOM only the classes of keys, `.st-key-NAME`, are public.
Relies on: the names in the .css files and in dom.js next to this file.
"""

from pathlib import Path

HERE = Path(__file__).parent
PAGE = tuple(HERE / f"{name}.css" for name in ("window", "sidebar", "widgets", "texts", "rows"))
SLIDE = HERE / "slide.css"  # after those of a page
ALONE = HERE / "alone.css"  # PICTURE in it stands for the selector of a picture


def style(*sheets: Path) -> str:
    """Return an element with the rules of some stylesheets, in their order."""
    rules = "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    return f"<style>{rules}</style>"
