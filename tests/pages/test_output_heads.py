"""Pages about models that give scores, labels and tags: the model's own numbers in true units."""

import numpy as np
import pytest

from headlight.model.edits import Edits, write_edits
from headlight.model.insight.ablation import head_removals
from headlight.model.insight.scoring import log_probabilities
from headlight.pages.shared.runs.shelf import shelf
from headlight.viz.numbers import number_text
from tests.pages.apps import keep, metrics, open_with, said, with_heads_measured
from tests.pages.pictures import canvas_pictures

TEXT, SECOND = "I love my cat.", "Where is the school?"
LABELS = ["rude", "short", "kind"]
EDITS = Edits(gates={("encoder", layer, head): 0.0 for layer in (0, 1) for head in range(4)})
NAMES = ("score", "labels", "tags")


@pytest.fixture
def read(transformers_folders):
    """A function from the name of a model to its reader, and its trace of both texts."""

    def get(name, edits=None):
        reader = shelf().get(keep(transformers_folders[name])).reader
        sites = edits.at_sites(reader.shape, 40) if edits else None
        return reader, reader.trace(TEXT, second=SECOND, edits=sites)

    return get


def open_on(folders, name, page, **place):
    return open_with(folders[name], page, sentence=TEXT, second=SECOND, **place)


def bars(app):
    """The names and the numbers (runs, names) of each picture of bars."""
    return [
        (header["tokens"], np.frombuffer(body, "<f4").reshape(len(header["runs"]), -1))
        for header, body in canvas_pictures(app)
        if "limits" in header
    ]


def test_a_pair_is_typed_in_two_boxes_and_its_score_is_drawn(transformers_folders, read):
    _, trace = read("score")
    app = open_with(transformers_folders["score"], sentence=TEXT)
    app.text_input(key="second").set_value(SECOND).run()
    assert app.query_params["second"] in (SECOND, [SECOND])
    ((names, values),) = bars(app)
    assert names == ["The score"]
    np.testing.assert_allclose(values, trace.logits[0].numpy(), atol=1e-5)


def test_labels_have_probabilities_of_their_own(transformers_folders, read):
    _, trace = read("labels")
    ((names, values),) = bars(open_on(transformers_folders, "labels", "attention"))
    assert names == LABELS
    expected = trace.logits[0].diff(dim=-1).sigmoid()[:, 0]
    np.testing.assert_allclose(values[0], expected.numpy(), atol=1e-5)


def test_a_tag_of_a_chosen_token_is_drawn(transformers_folders, read):
    reader, trace = read("tags")
    app = open_on(transformers_folders, "tags", "attention")
    (box,) = (box for box in app.selectbox if box.label == "Shown")
    box.set_value("The tag of “love”, token 3").run()
    ((names, values),) = bars(app)
    expected = trace.logits[0, 2].softmax(dim=-1)
    assert names == [
        reader.answers.classes[index] for index in expected.argsort(descending=True).tolist()
    ]
    np.testing.assert_allclose(values[0], expected.sort(descending=True).values, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_heads_measures_the_models_own_numbers(name, transformers_folders, read):
    reader, usual = read(name)
    _, trace = read(name, EDITS)
    objective = reader.objective(usual)
    app = open_on(transformers_folders, name, "heads", edits=write_edits(EDITS))
    now, before = (
        log_probabilities(each.logits, objective).sum().item() for each in (trace, usual)
    )
    value = metrics(app)[objective.description.capitalize()]
    assert value == number_text(now) + ("" if name == "score" else " nats")
    assert f"({number_text(now - before, signed=True)})." in said(app)
    app = with_heads_measured(open_on(transformers_folders, name, "heads"))
    (header,) = (header for header, _ in canvas_pictures(app) if "effects" in header)
    unit = "units of the score" if name == "score" else "nats"
    assert header["measure"] == f"{unit} without it"
    expected = [changes.tolist() for _, changes in head_removals(reader, usual)]
    np.testing.assert_allclose(header["effects"][0]["effects"], expected, atol=1e-4)


def test_one_tag_is_measured_alone(transformers_folders, read):
    reader, trace = read("tags")
    app = with_heads_measured(open_on(transformers_folders, "tags", "heads", measured="2"))
    (header,) = (header for header, _ in canvas_pictures(app) if "effects" in header)
    only = reader.objective(trace).only(1)
    expected = [changes.tolist() for _, changes in head_removals(reader, trace, None, only)]
    np.testing.assert_allclose(header["effects"][0]["effects"], expected, atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("page", ["masks", "inside", "positions", "compare", "models"])
def test_the_other_pages_draw_without_errors(page, name, transformers_folders):
    app = open_on(transformers_folders, name, page, inside_tab="beyond")
    assert not app.exception
    assert not app.error
