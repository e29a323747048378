import numpy as np
import pandas as pd
import pytest

from headlight.model.snapshots import Snapshots
from headlight.model.translator import PRETRAINED
from headlight.pages.shared.show.captions import labels_at_snapshots
from tests.pages.apps import open_page
from tests.pages.pictures import canvas_pictures


@pytest.fixture
def app():
    app = open_page("model")
    assert not app.exception
    return app


def picture_with(app, part):
    """The picture whose header has this part."""
    (found,) = [picture for picture in canvas_pictures(app) if part in picture[0]]
    return found


def test_the_model_page_shows_the_card(app):
    assert app.title[0].value == "Model card"
    assert "CC BY 2.0" in app.markdown[0].value


def test_the_curves_are_those_of_the_log(app):
    header, body = picture_with(app, "lines")
    log = pd.read_csv(PRETRAINED / "en-fr" / "log.csv")
    assert [line["count"] for line in header["lines"]] == [len(log)] * 3
    drawn = np.frombuffer(body, "<f4").reshape(3, 2, -1)
    columns = [log["valid_loss"], log["bleu"], log["learning_rate"]]
    np.testing.assert_allclose(drawn[:, 0], [log["step"]] * 3)
    np.testing.assert_allclose(drawn[:, 1], columns, rtol=1e-6)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_the_film_holds_every_head_at_every_step(app, kind):
    recorded = Snapshots.from_file(PRETRAINED / "en-fr" / "history.safetensors")
    app.segmented_control(key="history_kind").set_value(kind).run()
    header, body = picture_with(app, "steps")
    expected = recorded.weights[0][kind].numpy()
    drawn = np.frombuffer(body, "<u2").reshape(expected.shape) / 65_535
    np.testing.assert_allclose(drawn, expected, atol=8e-6)
    assert header["steps"] == recorded.steps
    assert (header["queries"], header["keys"]) == labels_at_snapshots(recorded, 0, kind)
