"""The notebook in docs/ runs, and its pictures are those of the model's own run."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from model import Site, load
from viz import CanvasPicture

NOTEBOOK = Path(__file__).parents[1] / "docs" / "notebook.py"


@pytest.fixture(scope="module")
def notebook():
    return runpy.run_path(str(NOTEBOOK))


def test_every_picture_shows_itself(notebook):
    pictures = [value for value in notebook.values() if isinstance(value, CanvasPicture)]
    assert len(pictures) == 5
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
