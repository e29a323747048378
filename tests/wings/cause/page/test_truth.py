"""Readings of where a decoder looked: their numbers, their ranks, and lines of one's own."""

import numpy as np
import pytest
import torch

from headlight.model.corpus import NOTHING, CorpusLine
from headlight.model.insight.correlation import rank_correlation
from headlight.pages.shared.show.riddle import NO_GUESS
from headlight.viz.numbers import number_text
from headlight.wings.cause.knockout import edges_of, knock_out
from headlight.wings.cause.over_lines import agreement_on
from headlight.wings.cause.page.truth import READINGS, best_of
from headlight.wings.cause.readings import readings
from headlight.wings.talks.slides import Slide
from tests.pages.apps import drawn, new_app, on_stage, open_page, run_script
from tests.pages.pictures import canvas_pictures, heatmaps

SENTENCE = "My sister sold seven boats."
MINE = """
import streamlit as st
from headlight.wings.cause.reading_calls import own_lines

st.session_state.mine = own_lines()
"""


@pytest.fixture(autouse=True)
def alone():
    """Runs outside a server have one session, whose lines are gone after each test."""
    yield
    run_script(MINE).session_state["mine"].stop()


@pytest.fixture(scope="module")
def measured(shipped):
    written = shipped.translate(SENTENCE)
    trace = shipped.trace(SENTENCE, written)
    edges = edges_of(trace, shipped, None, written)
    changes = torch.cat(list(knock_out(shipped, trace, edges)[1]), dim=-1).numpy()
    return {name: part.numpy() for name, part in readings(shipped, trace, edges).items()}, changes


def opened(**parameters):
    app = open_page("cause", sentence=SENTENCE, cause_tab="truth", **parameters)
    assert not app.exception
    return app


def table(app):
    (found,) = (one.value for one in app.markdown if one.value.startswith("| Reading"))
    rows = [line.strip("| ").split(" | ") for line in found.replace("\u00a0", " ").splitlines()]
    return {row[0]: row[1:] for row in rows[2:]}


@pytest.mark.parametrize("reading", ["gradient", "relevance"])
def test_a_reading_stands_next_to_the_losses_and_the_table_has_every_rank(reading, measured):
    found, changes = measured
    app = opened(truth_reading=reading)
    (shown, header), (losses, _) = heatmaps(app)[:2]
    turned, name = (-1, "−gradient × weight") if reading == "gradient" else (1, READINGS[reading])
    np.testing.assert_allclose(shown, turned * found[reading], atol=1e-4)
    np.testing.assert_allclose(losses, changes, atol=1e-4)
    assert header["name"] == name
    for name, numbers in found.items():
        rank = number_text(rank_correlation(numbers, -changes), 2, signed=True)
        assert table(app)[READINGS[name]][0].strip("*") == rank


def test_the_best_reading_is_guessed_before_anything_is_drawn(measured):
    found, changes = measured
    app = opened(guess="on")
    assert not {"truth-reading", "truth-losses", "truth-ranks"} & {*drawn(app)}
    (riddle,) = (header for header, _ in canvas_pictures(app) if "asks" in header)
    ranks = [rank_correlation(numbers, -changes) for numbers in found.values()]
    best = list(READINGS.values())[int(np.argmax(ranks))]
    assert [option["text"] for option in riddle["options"]] == list(READINGS.values())
    assert f"followed most closely by {best}, rank" in best_of(found, changes).verdict(NO_GUESS)


def test_a_slide_shows_the_ranks():
    app = new_app(talk="1")
    scene = {"sentence": "She sold nine boats."}
    app.session_state["talk"] = (Slide("cause", scene, pictures=("truth-ranks",)),)
    app.run()
    assert not app.exception
    assert on_stage(app) == ["truth-ranks"]


def measure(app, text):
    """Have lines measured to the end; the job."""
    app.text_area(key="truth_typed").set_value(text).run()
    app.button(key="truth_begin").click().run()
    assert not app.exception
    job = run_script(MINE).session_state["mine"].newest.job
    job.join(200)
    app.run()
    assert not app.exception
    return job


def test_lines_of_ones_own_are_measured_one_by_one_and_stand_in_the_table(shipped):
    lines = [CorpusLine(0, "We sing."), CorpusLine(1, "I love my cat.", "J'adore mon chat.")]
    each = [agreement_on(shipped, line, None) for line in lines]
    app = opened()
    job = measure(app, "We sing.\nI love my cat.\tJ'adore mon chat.\n")
    assert job.measured == each
    for name, title in READINGS.items():
        mean = np.mean([one.correlations[name] for one in each])
        words = table(app)[title][2].strip("*")
        assert words.startswith(number_text(mean, 2, signed=True))
    assert not {"We sing.", "J'adore"} & {*"".join(app.query_params.values())}


def test_a_text_without_lines_is_refused_in_a_sentence():
    app = opened()
    app.button(key="truth_begin").click().run()
    assert not app.exception
    assert NOTHING in [one.value for one in app.text]
