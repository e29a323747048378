"""Two snapshots of a training of one's own on the page Compare."""

import numpy as np
import pytest

from headlight.pages.parts.compare.sides import ModelSide, SnapshotSide
from tests.pages import apps
from tests.pages.test_compare import click, maps, open_page, texts, told, widget


@pytest.mark.matrix
def test_two_snapshots_of_a_training_of_ones_own():
    app = apps.open_page("training")
    for name, value in {"steps": 20, "layers": 4, "heads": 2, "d_model": 16}.items():
        app.number_input(key=f"toy_reverse_{name}").set_value(value)
    app.run()
    app.button(key="toy_start").click().run()
    job = app.session_state["workshop"].training.job
    job.join()
    app.switch_page("pages/compare.py").run()
    click(app, "Two snapshots of my training")
    history = job.look().snapshots
    widget(app.selectbox, "side_b_layer").set_value(3).run()
    widget(app.selectbox, "side_b_head").set_value(1).run()
    header, (_, second, _) = maps(app)
    np.testing.assert_array_equal(second, history.weights[0]["cross"][-1, 3, 1].numpy())
    assert f"step {history.steps[-1]:,}" in header["titles"][1]
    link = dict(app.session_state["address"])
    # Beside its snapshots, the trained model reads what it writes itself.
    app.switch_page("pages/training.py").run()
    app.button(key="toy_use").click().run()
    mine, sentence = app.session_state["model"], history.sentences[0]
    model = app.session_state["workshop"].models[mine][1]
    app.switch_page("pages/compare.py").run()
    app.session_state["compare_a"] = SnapshotSide(snapshot="toy.20", text=sentence)
    app.session_state["compare_b"] = ModelSide(model=mine, text=sentence)
    app.run()
    reads = " ".join(texts(model.trace(sentence).target_tokens))
    assert f"B's decoder reads: {reads}" in told(app)
    # Elsewhere there is no such training, which is told.
    away = open_page(**link)
    assert "no training to show" in told(away)
