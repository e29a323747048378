"""What CONTRIBUTING.md says of the tree holds."""

import ast
import re
from pathlib import Path

from headlight import viz
from headlight.pages.parts.pages import PAGES

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
NAMED = sorted(
    path
    for path in re.findall(r"`((?:model|viz|pages|wings|tests)/[\w/.]*)`", GUIDE)
    if not re.search("NAME|FAMILY", path)
)
DRAWING = [path for path in (ROOT / "viz").glob("*/*.py") if path.with_suffix(".js").exists()]


def test_the_files_that_it_names_exist():
    for path in NAMED:
        *_, wing = re.findall(r"^(wings/\w+)/", path) or ["."]
        assert (ROOT / path).exists() or not (ROOT / wing).exists()  # a wing can be left out


def test_a_page_is_two_statements_and_a_part_of_its_own():
    for page in PAGES.values():
        *_, last = statements = ast.parse((ROOT / page.file).read_text(encoding="utf-8")).body
        drawing = last.body if page.file == "app.py" else statements[1:]  # which is the server too
        assert [type(item) for item in drawing] == [ast.ImportFrom, ast.Expr]
        assert page.body.__module__.endswith(".page")


def test_the_front_of_viz_exports_every_file_that_draws():
    for path in DRAWING:
        module = f"headlight.viz.{path.parent.name}.{path.stem}"
        assert any(getattr(each, "__module__", "") == module for each in vars(viz).values())
