"""A head by its weights only, on the page Atlas."""

import numpy as np
import pytest

from headlight.model.transformer.trace import Site
from headlight.wings.atlas.circuit_calls import names_of
from headlight.wings.atlas.circuits import compositions, query_keys, value_outputs
from headlight.wings.talks.slides import Slide
from tests.pages.apps import drawn, new_app, on_stage, open_page
from tests.pages.pictures import canvas_pictures

PLACE = {"atlas_tab": "weights", "kind": "cross", "layer": "3", "head": "3"}
SITE, HEAD = Site("cross", 2), 2


def opened(**parameters):
    app = open_page("atlas", **PLACE | parameters)
    assert not app.exception
    return app


@pytest.fixture(scope="module")
def app():
    return opened(circuit_token="dog")


def headers(app, part):
    return [(header, data) for header, data in canvas_pictures(app) if part in header]


@pytest.mark.matrix
def test_the_strongest_pairs_are_those_of_the_circuits(app, shipped):
    names = names_of(shipped, shipped.vocabulary)
    found = [(header, np.frombuffer(data, "<f4")) for header, data in headers(app, "limits")]
    bars = [(header["tokens"], values) for header, values in found if "tokens" in header]
    ends = []
    for make in (query_keys, value_outputs):
        ends += make(shipped.model, SITE, shipped.vocabulary)[HEAD].strongest(10)
    for (tokens, values), pairs in zip(bars, ends, strict=True):
        assert tokens == [f"{names[pair.row]} → {names[pair.column]}" for pair in pairs]
        np.testing.assert_allclose(values, [pair.value for pair in pairs], rtol=1e-3)


def test_every_part_of_a_head_of_cross_attention_is_drawn(app):
    keys = ("looks", "avoids", "writes", "erases", "copying", "dictionary", "feeds")
    found = [key for key in drawn(app) if key.startswith("circuit-")]
    assert found == [f"circuit-{key}" for key in keys]
    (words,) = (one.value for one in app.text if one.value.startswith("dog looks most at"))
    assert words.count("\n") == 3


def test_numbers_below_0_have_bars_to_the_left(app):
    below = [header for header, _ in headers(app, "limits") if header.get("below")]
    assert below
    assert all(limit > 0 for header in below for limit in header["limits"])


def test_the_table_of_composition_begins_with_the_strongest_pair(app, shipped):
    (table,) = (one.value for one in app.dataframe if "deviations above random" in one.value)
    strongest = max(numbers.max().item() for numbers in compositions(shipped.model).values())
    assert table["%"].iloc[0] == pytest.approx(100 * strongest, rel=1e-4)


@pytest.mark.matrix
def test_a_word_that_is_no_token_is_refused_in_a_sentence():
    app = opened(kind="encoder", circuit_token="<b>no *token*</b>")
    assert any("is not one token of this model" in one.value for one in app.text)
    assert "circuit-dictionary" not in drawn(app)


@pytest.mark.matrix
def test_a_slide_shows_the_dictionaries():
    app = new_app(talk="1")
    app.session_state["talk"] = (Slide("atlas", PLACE, pictures=("circuit-dictionary",)),)
    app.run()
    assert not app.exception
    assert on_stage(app) == ["circuit-dictionary"]


def test_a_model_without_an_atlas_has_its_circuits_too_and_needs_a_text_for_a_dictionary():
    app = open_page("atlas", model="en-fr-learned", kind="cross", layer="1", head="1")
    assert not app.exception
    assert "circuit-feeds" in drawn(app)
    assert "circuit-dictionary" not in drawn(app)
    assert any("count a text of your own" in one.value for one in app.info)


@pytest.mark.matrix
def test_the_head_that_copies_most_is_guessed_first():
    app = opened(guess="on", kind="encoder", layer="1", head="1")
    assert "circuit-copying" not in drawn(app)
    asked = [header["asks"] for header, _ in canvas_pictures(app) if "asks" in header]
    assert asked[0] == "Which head copies most?"
