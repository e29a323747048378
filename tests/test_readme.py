"""What README.md and docs/ say holds."""

import re
from pathlib import Path

import pytest
import torch

from headlight.model.edits.attention import AttentionEdit
from headlight.model.transformer.trace import Site
from headlight.model.translator import load
from headlight.pages.parts.pages import PAGES

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TEXTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "bench/results/README.md",
]


def anchors(path):
    """The anchors of a text's headings."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def is_of_a_wing_left_out(path):
    """Whether a file would be in the folder of a wing that is not there."""
    wing = next((each for each in (path, *path.parents) if each.parent == ROOT / "wings"), None)
    return wing is not None and not wing.exists()


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    text = path.read_text(encoding="utf-8")
    for address in re.findall(r"\]\(([^)\s]+)\)", text):
        if address.startswith(("https://", "http://localhost:8501")):
            continue
        name, _, anchor = address.partition("#")
        target = (path.parent / name).resolve() if name else path
        if is_of_a_wing_left_out(target):
            continue
        assert target.exists(), address
        assert not anchor or anchor in anchors(target), address


def test_it_is_short():
    assert len(README.splitlines()) <= 150


def test_its_table_has_every_page():
    names = re.findall(r"^\| ([\w ]+) \|", README.split("## The pages")[1], flags=re.MULTILINE)[1:]
    titles = [page.title for page in PAGES.values()]
    assert [name for name in names if name in titles] == titles
    left_out = [file for file in (ROOT / "pages").glob("*.py") if file.stem not in PAGES]
    begun = [f'"""The page {name}."""' for name in names if name not in titles]
    assert sorted(begun) == sorted(file.read_text("utf-8").splitlines()[0] for file in left_out)


def test_its_figures_are_those_of_the_app():
    models = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    (families,) = re.findall(r"loads (\d+) families", models)
    assert f"opens {families} families" in README


def test_the_head_that_it_names_writes_because_it_was_hungry():
    translator = load("en-fr")
    sentence = "The dog ate the meat because it was hungry."
    gate = torch.ones(8)
    gate[3] = 0
    edits = {Site("cross", 0): AttentionEdit(gate=gate)}
    assert translator.translate(sentence).text.endswith("parce qu'il avait faim.")
    assert "faim" not in translator.translate(sentence, edits=edits).text
