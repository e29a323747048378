"""The scene of a picture as a file, which is a talk of one slide."""

import json

from headlight.pages.shared.show.captions import site_words
from tests.pages.apps import new_app
from tests.pages.shared.show.test_saving import app, asked

__all__ = ["app"]


def test_a_saved_scene_brings_its_choices_back(app):
    app.query_params.update(sentence="I love my cat.", layer="1", head="3")
    app.run()
    _, body = asked(app, "heatmap", "json")
    scene = json.loads(body)
    (slide,) = scene["slides"]
    again = new_app()
    again.query_params.update(slide["parameters"])
    again.run()
    assert slide["page"] == "attention"
    assert (again.session_state.sentence, again.session_state.layer) == ("I love my cat.", 0)
    assert again.session_state.head == 2
    assert scene["caption"].startswith(site_words("cross", 0, 2))
    assert scene["axes"]["weight"]["key"][-1] == "<end>"
