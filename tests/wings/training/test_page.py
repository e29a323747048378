import io
import re
import time
import zipfile
from dataclasses import replace
from math import log

import numpy as np
import pytest

from headlight.pages.shared.runs.shelf import shelf
from headlight.pages.shared.runs.shipped import recorded_training
from headlight.viz.tokens import and_written
from headlight.wings.training.page import run
from headlight.wings.training.page.run import GONE
from headlight.wings.training.page.use import packed
from headlight.wings.training.small_models import default_options
from tests.matrix import first_of
from tests.pages.apps import drawn, on_stage, open_page, open_with, texts_on_stage
from tests.pages.pictures import canvas_pictures

TINY = {"steps": 12, "layers": 1, "heads": 2, "d_model": 16, "d_ff": 16, "batch_size": 4}


@pytest.fixture
def app():
    app = open_page("training")
    assert not app.exception
    for name, value in TINY.items():
        app.number_input(key=f"toy_reverse_{name}").set_value(value)
    app.run()
    yield app
    if app.session_state["workshop"].training:
        app.session_state["workshop"].training.job.stop()  # the line is shared by all tests


def click(app, name):
    app.button(key=f"toy_{name}").click().run()
    assert not app.exception


def enabled(app):
    names = ("start", "pause", "go_on", "stop", "reset")
    keys = {f"toy_{name}": name for name in names}
    return {keys[button.key] for button in app.button if button.key in keys and not button.disabled}


def wait_until(app, reached):
    """Draw the page again, as a browser does, until the training has come so far."""
    deadline = time.monotonic() + 100
    while not reached(app.session_state["workshop"].training.job.look()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    app.run()
    assert not app.exception


def train(app):
    click(app, "start")
    wait_until(app, lambda state: state.status == "finished")


def pictures(app):
    """The header and the bytes of the curves and, where there is one, of the film."""
    result = canvas_pictures(app)
    curves = [part for part in result if "panels" in part[0]]
    films = [part for part in result if "steps" in part[0]]
    return (curves or [None])[0], (films or [None])[0]


def test_before_the_first_training_that_of_the_shipped_model_is_shown(app):
    assert enabled(app) == {"start"}
    curves, (film, _) = pictures(app)
    assert curves is None
    assert film["steps"] == recorded_training().steps


@pytest.mark.matrix
def test_a_training_is_drawn_as_it_was(app):
    train(app)
    state = app.session_state["workshop"].training.job.look()
    (header, body), (film, weights) = pictures(app)
    drawn = np.split(
        np.frombuffer(body, "<f4"), np.cumsum([2 * n["count"] for n in header["lines"]])
    )
    measured = [state.losses, state.matches, state.learning_rates]
    for line, values in zip(drawn[:3], measured, strict=True):
        np.testing.assert_allclose(line[len(line) // 2 :], values, rtol=1e-6)
    expected = state.snapshots.weights[0]["cross"].numpy()
    levels = np.frombuffer(weights, "<u2").reshape(expected.shape) / 65_535
    np.testing.assert_allclose(levels, expected, atol=8e-6)
    assert film["steps"] == state.snapshots.steps
    assert (film["steps"][0], film["steps"][-1]) == (0, TINY["steps"])
    queries, keys = state.snapshots.tokens(0, "cross")
    assert film["queries"] == and_written(queries, [*queries[1:], "<end>"])
    assert film["keys"] == keys
    assert enabled(app) == {"start", "reset"}


def test_the_film_opens_above_the_curves_on_the_head_of_the_lowest_mean_entropy(app):
    train(app)
    keys = drawn(app)
    assert keys.index("toy_film") < keys.index("toy_curves")
    weights = app.session_state["workshop"].training.job.look().snapshots.weights[0]
    for kind in ("cross", "encoder", "decoder"):
        app.segmented_control(key="toy_kind").set_value(kind).run()
        means = {}
        for layer, heads in enumerate(weights[kind][-1].tolist()):
            for head, rows in enumerate(heads):
                entropies = [-sum(part * log(part) for part in row if part) for row in rows]
                means[layer, head] = sum(entropies) / len(entropies)
        assert pictures(app)[1][0]["selected"] == list(min(means, key=means.get))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_that_smoothing_keeps_a_loss_above_0_is_said_where_there_is_some(app, smoothing):
    app.number_input(key="toy_reverse_label_smoothing").set_value(smoothing)
    train(app)
    told = " ".join(caption.value for caption in app.caption)
    assert ("cannot fall to 0" in told) == (smoothing > 0)


def test_no_time_is_promised_before_steps_were_measured(app):
    assert run.EMPTY in [info.value for info in app.info]
    assert not re.search(r"minute|second|\d", run.EMPTY)


@pytest.mark.matrix
@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_the_film_shows_the_kind_that_is_chosen(app, kind):
    train(app)
    app.segmented_control(key="toy_kind").set_value(kind).run()
    _, (film, weights) = pictures(app)
    history = app.session_state["workshop"].training.job.look().snapshots
    expected = history.weights[0][kind].numpy()
    np.testing.assert_allclose(
        np.frombuffer(weights, "<u2").reshape(expected.shape) / 65_535, expected, atol=8e-6
    )
    queries, keys = history.tokens(0, kind)
    assert [query.partition(" → ")[0] for query in film["queries"]] == queries
    assert film["keys"] == keys


def test_pause_go_on_stop_and_reset(app):
    app.number_input(key="toy_reverse_steps").set_value(10_000)
    click(app, "start")
    assert enabled(app) == {"pause", "stop", "reset"}
    wait_until(app, lambda state: state.step > 3)
    click(app, "pause")
    assert enabled(app) == {"go_on", "stop", "reset"}
    paused = app.session_state["workshop"].training.job.look().step
    time.sleep(0.3)
    assert app.session_state["workshop"].training.job.look().step == paused
    click(app, "go_on")
    wait_until(app, lambda state: state.step > paused)
    click(app, "stop")
    job = app.session_state["workshop"].training.job
    assert job.look().status == "stopped"
    assert pictures(app)[1][0]["steps"][-1] == job.look().step
    click(app, "reset")
    assert enabled(app) == {"start"}
    assert pictures(app)[0] is None


@pytest.mark.matrix
def test_a_second_visitor_is_told_the_place_in_line(app):
    app.number_input(key="toy_reverse_steps").set_value(10_000)
    click(app, "start")
    other = open_page("training")
    click(other, "start")
    assert "place 1 in line" in other.get("progress")[0].proto.text
    assert enabled(other) == {"pause", "stop", "reset"}
    click(app, "stop")
    wait_until(other, lambda state: state.step > 0)
    click(other, "stop")


@pytest.mark.matrix
def test_the_curves_of_earlier_runs_stay_within_bounds(app, monkeypatch):
    monkeypatch.setattr(run, "MOST_RUNS", 2)
    train(app)
    app.number_input(key="toy_reverse_warmup").set_value(7)
    for _ in range(2):
        train(app)
    (header, _), (film, _) = pictures(app)
    assert len(header["runs"]) == 2
    assert header["runs"][-1] == film["name"]
    assert all("warm-up 7" in name for name in header["runs"])
    click(app, "forget")
    assert pictures(app)[0][0]["runs"] == [film["name"]]


def test_a_shape_that_cannot_be_is_told_and_not_trained(app):
    app.number_input(key="toy_reverse_heads").set_value(3).run()
    assert app.error[0].value == "d_model 16 is not a multiple of heads 3."
    assert enabled(app) == set()


def test_an_experiment_sets_what_it_names_and_nothing_else(app):
    app.menu_button(key="toy_experiment").click("No warm-up").run()
    assert not app.exception
    usual = vars(default_options("reverse"))
    for name in TINY:
        assert app.number_input(key=f"toy_reverse_{name}").value == usual[name]
    assert app.number_input(key="toy_reverse_warmup").value == 1


@pytest.mark.matrix
def test_every_task_can_be_started(app):
    for task in app.selectbox(key="toy_task").options:
        app.selectbox(key="toy_task").set_value(task).run()
        assert not app.exception
        name = app.session_state["toy_task"]
        for option, value in TINY.items():
            app.number_input(key=f"toy_{name}_{option}").set_value(value)
        train(app)
        assert app.session_state["workshop"].training.job.options.task == name


@pytest.mark.matrix
def test_an_own_input_gets_an_output_and_the_right_answer(app):
    train(app)
    app.text_input(key="toy_input_reverse").set_value("123").run()
    job = app.session_state["workshop"].training.job
    output, answer = (header for header, _ in canvas_pictures(app) if "chips" in header)
    assert output["text"] == job.reader().translate("123").text
    assert answer["text"] == "321"
    app.text_input(key="toy_input_reverse").set_value("12x").run()
    assert "Type digits only" in app.info[0].value


def test_leaving_and_coming_back_finds_the_training(app):
    train(app)
    job = app.session_state["workshop"].training.job
    app.switch_page("pages/model.py").run()
    app.switch_page("pages/training.py").run()
    assert app.session_state["workshop"].training.job is job
    assert pictures(app)[1][0]["steps"][-1] == TINY["steps"]
    assert app.number_input(key="toy_reverse_steps").value == TINY["steps"]


def test_what_was_trained_is_used_on_another_page(app):
    train(app)
    click(app, "use")
    assert "Reverse digits, trained here for 12 steps" in [text.value for text in app.text]
    app.switch_page("app.py").run()
    assert not app.exception
    assert app.selectbox(key="model").value.startswith("own-")
    assert app.text_input(key="sentence").value == "31415926"


@pytest.fixture
def repeating(app):
    """The page after a short training of a decoder-only model."""
    app.selectbox(key="toy_task").set_value("repeat").run()
    for option, value in TINY.items():
        app.number_input(key=f"toy_repeat_{option}").set_value(value)
    train(app)
    return app


@pytest.mark.matrix
def test_a_decoder_alone_is_shown_with_and_without_a_head_in_a_picture(repeating):
    (header,) = [header for header, _ in canvas_pictures(repeating) if "limits" in header]
    assert header["runs"] == ["All heads on", "That head off"]
    assert header["tokens"][0] == "Induction score"
    job = repeating.session_state["workshop"].training.job
    output, answer = (header for header, _ in canvas_pictures(repeating) if "chips" in header)
    assert output["text"] == job.reader().write("kxqmwbk", longest=5).writing.text
    assert answer["text"] == "xqmwb"


@pytest.mark.matrix
def test_what_a_decoder_alone_loses_without_a_head_is_a_slide(repeating):
    repeating.button(key="add-to-talk").click().run()
    (slide,) = repeating.session_state["talk"]
    assert "toy_lesion" in slide.drawn
    repeating.session_state["talk"] = (replace(slide, pictures=("toy_lesion",)),)
    repeating.session_state["slide"] = 1
    repeating.run()
    assert not repeating.exception
    assert on_stage(repeating) == ["toy_lesion"]


@pytest.mark.matrix
@pytest.mark.parametrize(
    "page",
    first_of(["inside", "positions", "masks", "heads", "cause", "compare", "decoding", "models"]),
)
def test_every_page_takes_a_decoder_alone_that_was_trained(repeating, page):
    click(repeating, "use")
    repeating.session_state["roles"] = True
    repeating.switch_page(f"pages/{page}.py").run()
    assert not repeating.exception
    assert not repeating.error


@pytest.mark.matrix
def test_compare_shows_two_moments_of_the_training_of_a_decoder_alone(repeating):
    repeating.switch_page("pages/compare.py").run()
    name = "Two snapshots of my training"
    next(button for button in repeating.button if button.label == name).click().run()
    assert not repeating.exception
    assert [box.value for box in repeating.selectbox].count("snapshots of toy") == 2


@pytest.mark.parametrize("compared", ["d_model", "warmup"])
def test_the_schedule_is_drawn_for_both(app, compared):
    app.segmented_control(key="toy_compared").set_value(compared).run()
    assert not app.exception
    assert len(app.get("vega_lite_chart")) == 2


@pytest.mark.matrix
def test_an_unzipped_download_is_opened_by_the_name_of_its_folder(app, tmp_path):
    train(app)
    job = app.session_state["workshop"].training.job
    with zipfile.ZipFile(io.BytesIO(packed(job))) as archive:
        archive.extractall(tmp_path)
    opened = open_with(tmp_path, "models")
    assert opened.text_input(key="wanted").value == str(tmp_path)
    ours = shelf().get(str(tmp_path)).reader
    assert ours.translate("2021").text == job.reader().translate("2021").text


def own_reader(state):
    """The model that the visitor chose last."""
    return state["workshop"].models[state["model"]][1]


@pytest.mark.matrix
def test_a_training_is_a_slide_until_it_is_gone(app):
    train(app)
    app.button(key="add-to-talk").click().run()
    (slide,) = app.session_state["talk"]
    assert slide.pictures == ("toy_film",)
    assert {"toy_curves", "toy_output"} <= set(slide.drawn)
    app.session_state["slide"] = 1
    app.run()
    assert not app.exception
    assert on_stage(app) == ["toy_film"]
    assert texts_on_stage(app) == []
    app.session_state["slide"] = None
    train(app)
    del app.session_state["slide_drawn"]
    app.session_state["slide"] = 1
    app.run()
    assert not app.exception
    assert on_stage(app) == []
    assert texts_on_stage(app) == [GONE]


def test_what_is_known_without_a_training_is_a_slide_of_its_own():
    app = open_page("training")
    app.button(key="add-to-talk").click().run()
    (slide,) = app.session_state["talk"]
    assert slide.pictures == ("toy_rates",)
    assert slide.drawn == ("toy_rates", "toy_smoothing")
