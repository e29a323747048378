"""The model a visitor chose, on every page: a shipped one, or their own; and what it is called."""

import numpy as np
import pytest

from headlight.model.edits import Edits
from headlight.model.translator import load
from headlight.pages.shared.state.models import (
    DEFAULT,
    SHIPPED,
    CatalogEntry,
    Workshop,
    library_entry,
    short,
)
from tests.pages.apps import new_app, with_heads_measured
from tests.pages.pictures import canvas_pictures

PAGES = ("app.py", *(f"pages/{name}.py" for name in ("masks", "heads", "inside", "decoding")))
OWN = CatalogEntry("own-1", "Mine", ("I love my cat.", "We leave today."), "input", "output")


@pytest.fixture
def open_app(translator):
    """A factory of pages in a session that has an own model, and may have chosen it."""

    def make(page="app.py", own=True, **parameters):
        app = new_app(**parameters)
        app.session_state["workshop"] = Workshop(
            models={OWN.key: (OWN, translator)}
        )  # 2 layers, 4 heads
        app.switch_page(page).run()
        return choose(app, OWN.key) if own else app

    return make


def choose(app, key):
    return app.selectbox(key="model").set_value(key).run()


def test_another_shipped_model_translates_with_its_own_weights(open_app):
    app = choose(open_app(own=False), "en-fr-learned")
    assert not app.exception
    expected = load("en-fr-learned").translate(app.text_input(key="sentence").value)
    assert expected.text in [header.get("text") for header, _ in canvas_pictures(app)]
    assert "en-fr-learned" in app.query_params["model"]


def test_a_sentence_stays_between_models_of_the_same_languages(open_app):
    app = choose(open_app(own=False, sentence="We sing."), "en-fr-learned")
    assert app.text_input(key="sentence").value == "We sing."


@pytest.mark.matrix
@pytest.mark.parametrize("page", PAGES)
def test_every_page_takes_a_model_of_the_visitors_own(page, open_app):
    app = open_app(page, layer="3", head="8")  # which it does not have
    assert not app.exception
    assert not app.error
    assert app.text_input(key="sentence").label == "Input"
    assert app.text_input(key="sentence").value == OWN.examples[0]


@pytest.mark.matrix
@pytest.mark.parametrize("tab", ["sinusoids", "learned", "sentence", "token", "beyond"])
def test_every_tab_of_the_positions_page_takes_it(tab, open_app):
    app = open_app("pages/positions.py")
    app.session_state["positions_tab"] = tab
    app.run()
    assert not app.exception


def test_the_pictures_are_those_of_the_own_model(open_app, translator):
    app = open_app(kind="cross", layer="1", head="2")
    (maps,) = (array for header, array in canvas_pictures(app) if "strongest" in header)
    trace = translator.trace(OWN.examples[0], translator.translate(OWN.examples[0]))
    weights = trace.weights("cross").numpy()
    layers, heads, queries, keys = weights.shape
    drawn = np.frombuffer(maps, np.uint8).reshape(layers, heads + 2, queries, keys)[:, :heads]
    np.testing.assert_array_equal(drawn, np.rint(weights * 255).astype(np.uint8))


def test_edits_stay_with_the_model_they_were_made_for(open_app):
    app = open_app("pages/heads.py", own=False)
    gates = Edits(gates={("cross", 2, 7): 0.0})
    app.session_state["histories"] = {"en-fr": [Edits(), gates]}
    assert app.run().metric[0].delta
    assert not choose(app, OWN.key).metric[0].delta
    assert choose(app, "en-fr").metric[0].delta


def test_measured_heads_of_one_model_are_not_shown_of_another(open_app):
    app = open_app("pages/heads.py", own=False)
    with_heads_measured(app)
    assert effects(app)
    assert not effects(choose(app, OWN.key))
    assert effects(choose(app, "en-fr"))


def effects(app):
    return [header for header, _ in canvas_pictures(app) if "effects" in str(sorted(header))]


def test_the_last_sentence_that_could_be_read_is_the_models_own(open_app):
    app = open_app(own=False, sentence="We sing.")
    app.text_input(key="sentence").set_value(" ").run()
    still_shown = "Still shown: We sing."
    assert any(still_shown in text.value for text in app.text)
    choose(app, "en-fr-learned")
    assert not any(still_shown in text.value for text in app.text)


@pytest.mark.parametrize(
    ("name", "shown"),
    [("google-t5/t5-small", "google-t5/t5-small"), ("/a/b/c/d", "…/c/d"), (r"C:\a\b", "…/a/b")],
)
def test_of_a_long_path_the_end_is_shown(name, shown):
    assert short(name) == library_entry(name).title == shown


def test_what_a_model_is_given_to_read_has_its_article():
    assert SHIPPED[DEFAULT].asks_for == "an English sentence"
    assert library_entry("gpt2").asks_for == "a text"
