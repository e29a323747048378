"""What the documentation shows in Python runs: the notebook in docs/, and blocks of code."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest

from docs.listings import LISTING, PAGE, with_listings
from headlight.model.transformer.trace import Site
from headlight.model.translator import load
from headlight.pages.parts.pages import PAGES as APP_PAGES
from headlight.viz import CanvasPicture
from tests.model.library.conftest import transformers_folders
from tests.pages.apps import open_page

__all__ = ["transformers_folders"]

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
SCENES = [
    scene
    for scene in re.findall(r"\(http://localhost:8501/(\S*)\)", PAGE.read_text("utf-8"))
    if urlsplit(scene).path in ("", *APP_PAGES)
]
BLOCKS = {
    path.name: blocks
    for path in PAGES
    if (blocks := re.findall(r"^```python\n(.*?)^```$", path.read_text("utf-8"), re.M | re.S))
}
WITH_WINGS = {"notebook.md"}  # whose blocks import wings too, and run in tests/wings/together


@pytest.fixture(scope="module")
def notebook():
    """The names after all cells have run."""
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    known = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), known)
    return known


def test_the_notebook_is_made_from_the_script_beside_it():
    import jupytext  # takes seconds, which every worker would spend

    made, script = (jupytext.read(NOTEBOOK.with_suffix(kind)) for kind in (".ipynb", ".py"))
    cells = [[(cell.cell_type, cell.source) for cell in each.cells] for each in (made, script)]
    assert cells[0] == cells[1], "`make docs` makes it anew"


def test_every_picture_shows_itself(notebook):
    pictures = [value for value in notebook.values() if isinstance(value, CanvasPicture)]
    assert len(pictures) == 6
    for picture in pictures:
        assert picture._repr_html_().startswith("<iframe")


def test_the_heatmap_holds_the_models_weights(notebook):
    translator = load("en-fr")
    sentence = notebook["sentence"]
    trace = translator.trace(sentence, translator.translate(sentence))
    expected = trace.attention[Site("cross", 1)].weights[0, 4].numpy()
    np.testing.assert_allclose(notebook["heatmap"].numbers["weight"].values, expected, atol=1e-5)


def test_the_change_in_the_comparison_is_one_of_the_model(notebook):
    assert (notebook["after"] - notebook["weights"]).abs().max() > 0.01


@pytest.mark.parametrize("page", sorted(BLOCKS.keys() - WITH_WINGS))
def test_blocks_of_code_run_one_after_the_other(page, make_bert_folder, transformers_folders):
    run_blocks(page, make_bert_folder, transformers_folders)


def run_blocks(page, make_bert_folder, transformers_folders):
    names = {"google-bert/bert-base-uncased": make_bert_folder()}
    names["openai-community/gpt2"] = transformers_folders["GPT-2"]
    known = {}
    for number, block in enumerate(BLOCKS[page], start=1):
        for name, folder in names.items():  # tiny ones in place of those on the hub
            block = block.replace(name, str(folder))
        exec(compile(block, f"{page}, block {number}", "exec"), known)


def test_the_code_that_a_page_shows_is_that_of_its_file():
    text = PAGE.read_text("utf-8")
    assert len(LISTING.findall(text)) > 15
    assert with_listings(text) == text, "`make docs` shows the present lines"


@pytest.mark.parametrize("scene", dict.fromkeys(SCENES))
def test_a_scene_that_a_page_leads_to_opens_as_its_link_says(scene):
    parts = urlsplit(scene)
    app = open_page(parts.path or "attention", **dict(parse_qsl(parts.query)))
    assert not app.exception
    assert not [info for info in app.info if "link" in info.value]
