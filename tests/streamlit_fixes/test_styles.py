"""Streamlit's DOM is named in one folder; tests/browser/test_streamlit_dom.py looks at the DOM."""

import re
from pathlib import Path

from headlight.pages.streamlit_fixes import styles

ROOT = Path(__file__).parents[2]
NAMING = r"data-testid|data-test-(script|connection)-state|\.st[A-Z][A-Za-z]+|\[class\^?=.?st-"


def test_a_style_has_the_rules_of_its_sheets_in_their_order(tmp_path):
    sheets = tmp_path / "first.css", tmp_path / "last.css"
    for sheet in sheets:
        sheet.write_text(f".{sheet.stem} {{}}", encoding="utf-8")
    assert styles.style(*sheets) == "<style>.first {}\n.last {}</style>"


def test_no_other_file_names_streamlits_dom():
    for folder in ("pages", "viz", "wings"):
        for file in (ROOT / folder).rglob("*.*"):
            if file.suffix in (".css", ".js", ".py") and file.parent.name != styles.HERE.name:
                assert not re.search(NAMING, file.read_text(encoding="utf-8")), file
