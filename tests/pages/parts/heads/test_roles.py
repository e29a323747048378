"""The tests of roles on the Heads page, against those of the model itself."""

import numpy as np
import pytest

from headlight.model.edits import Edits
from headlight.model.insight.roles import ROLES, role_scores
from tests.matrix import first_of
from tests.pages.apps import open_page
from tests.pages.pictures import canvas_pictures

OFF = Edits(gates={("decoder", 0, 1): 0.0, ("cross", 2, 4): 0.0})


def opened(**parameters):
    app = open_page("heads", sentence="I love my cat.", **parameters)
    assert not app.exception
    return app


def drawn(app):
    """The scores of the picture by kind, None if there is no picture."""
    results = [header for header, _ in canvas_pictures(app) if "scores" in header]
    return (
        {kind["name"]: np.array(kind["scores"]) for kind in results[0]["scores"]}
        if results
        else None
    )


def check(app, expected):
    result = drawn(app)
    assert set(result) == set(expected)
    for kind, scores in expected.items():
        np.testing.assert_allclose(result[kind], scores.numpy(), atol=1e-6)


def words(app):
    return " ".join(element.value for element in [*app.caption, *app.text, *app.info])


def test_nothing_is_tested_before_it_is_asked_for():
    assert drawn(opened()) is None


@pytest.mark.parametrize("role", first_of(ROLES))
def test_each_role_is_shown_with_its_scores_definition_and_source(role, shipped):
    app = opened(roles="on", role=role, role_seed="7")
    expected = role_scores(shipped, 7)
    check(app, expected.scores[role])
    assert ROLES[role].source in words(app)
    assert " ".join(expected.read[: len(expected.read) // 2]) in words(app)


def test_heads_switched_off_are_off_in_the_tests(shipped):
    app = opened(roles="on")
    app.session_state["histories"] = {"en-fr": [Edits(), OFF]}
    app.run()
    sites = OFF.at_sites(shipped.shape, 70)
    check(app, role_scores(shipped, 0, sites).scores["previous"])
