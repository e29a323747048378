from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.history import History
from model.translator import PRETRAINED
from tests.pages.pictures import canvas_pictures

ROOT = Path(__file__).parents[2]


@pytest.fixture
def app():
    app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    app.switch_page("pages/model.py").run()
    assert not app.exception
    return app


def test_the_model_page_shows_the_card(app):
    assert app.title[0].value == "The model"
    assert "CC BY 2.0" in app.markdown[0].value


def test_the_slider_shows_the_heads_at_each_step(app):
    recorded = History.from_file(PRETRAINED / "en-fr" / "history.safetensors")
    for step in (recorded.steps[0], recorded.steps[-1]):
        app.select_slider[0].set_value(step).run()
        header, body = canvas_pictures(app)[-1]
        drawn = np.frombuffer(body, np.uint8) / 255
        expected = recorded.weights[0]["cross"][recorded.steps.index(step)].numpy()
        np.testing.assert_allclose(drawn, expected.ravel(), atol=0.003)
        assert (header["queries"], header["keys"]) == recorded.tokens(0, "cross")
