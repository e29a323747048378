"""The knockout map: its numbers, its links, and what it says where there is nothing to measure."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from headlight.model.edits import CellEdit, Edits, write_edits
from headlight.model.library.loading import load_model
from headlight.pages.shared.state.models import LIBRARY
from headlight.wings.cause.knockout import edges_of, knock_out
from headlight.wings.cause.page import knockout
from headlight.wings.cause.page.knockout import ALL, LAYERS, in_words, windows
from headlight.wings.cause.page.page import READS
from headlight.wings.talks.slides import Slide
from tests.pages.apps import address, button, drawn, new_app, on_stage, open_page, open_with, said
from tests.pages.pictures import heatmaps

SENTENCE = "My sister sold seven boats."


def maps(app):
    """What is drawn: the changes, the weights, and what rows and columns are called."""
    (changes, header), (weights, other) = heatmaps(app)[:2]
    assert (header["rows"], header["columns"]) == (other["rows"], other["columns"])
    return changes, weights, header["rows"], header["columns"]


def expected(reader, trace, edits=None, layers=None, writing=None):
    edges = edges_of(trace, reader, layers, writing)
    weights, parts = knock_out(reader, trace, edges, edits)
    return torch.cat(list(parts), dim=-1).numpy(), weights.numpy()


def check(app, *numbers):
    assert not app.exception
    for shown, wanted in zip(maps(app)[:2], numbers, strict=True):
        np.testing.assert_allclose(shown, wanted, atol=1e-4)


def test_unknown_tokens_are_not_said_to_be_framed_where_none_are_drawn(bert_folder):
    words = said(open_with(bert_folder, "cause", sentence="the 😀 sat"))
    assert "does not know 1 of the tokens: it" in words
    side = f"model={LIBRARY}{bert_folder}&kind=encoder&sentence=the 😀 sat"
    words = said(open_page("compare", compare_a=side))
    assert "A: The model does not know 1 of the tokens: it" in words


@pytest.mark.parametrize("edits", [Edits(), Edits(gates={("cross", 1, 3): 0.0})])
def test_the_maps_are_those_of_the_model_with_the_changes_in_force(shipped, edits):
    app = open_page("cause", sentence=SENTENCE, edits=write_edits(edits))
    written = shipped.translate(SENTENCE)
    trace = shipped.trace(SENTENCE, written)
    check(app, *expected(shipped, trace, edits.at_sites(shipped.shape, 40), writing=written))
    _, _, rows, words = maps(app)
    texts = [token.text for token in written.target_tokens]
    assert rows == [" → ".join(pair) for pair in zip(["<start>", *texts], texts, strict=False)]
    assert words == ["My", "sister", "sold", "seven", "boats.", "<end>"]
    captions = [caption.value for caption in app.caption]
    assert (READS in captions) == (edits != Edits())


def test_a_known_target_is_what_the_edges_lead_from(shipped):
    app = open_page("cause", sentence=SENTENCE, target="Ma sœur a vendu.")
    check(app, *expected(shipped, shipped.trace(SENTENCE, "Ma sœur a vendu.")))
    app = open_page("cause", sentence=SENTENCE, target="Ma sœur a vendu.", edits="look-ahead.off")
    assert READS not in [caption.value for caption in app.caption]


@pytest.mark.parametrize(("window", "layers"), [("2", range(1, 2)), ("2-3", range(1, 3))])
def test_a_link_says_in_which_layers_edges_are_closed(shipped, window, layers):
    app = open_page("cause", sentence=SENTENCE, knockout_layers=window)
    written = shipped.translate(SENTENCE)
    check(app, *expected(shipped, shipped.trace(SENTENCE, written), None, layers, written))
    assert address(app)["knockout_layers"] == window


@pytest.mark.parametrize("window", ["4", "0", "2-4", "3-2", "1-", "two", "1-2-3"])
def test_layers_that_there_are_not_are_refused(window, shipped):
    with pytest.raises(ValueError, match=r"is neither all, nor|is not within the layers 1 to 3"):
        LAYERS.read(window, shipped.shape)


def test_layers_that_there_are_not_are_told_and_left_out():
    app = open_page("cause", sentence=SENTENCE, knockout_layers="4")
    assert any("damaged" in info.value for info in app.info)
    assert "knockout_layers" not in address(app)
    assert drawn(app).count("knockout") == 1


def test_every_window_of_layers_is_offered_once_and_named():
    names = ["all layers", "layer 1", "layer 2", "layer 3", "layers 1 to 2", "layers 2 to 3"]
    assert list(map(in_words, windows(3))) == names
    assert windows(1) == [ALL]


@pytest.mark.parametrize("name", ["GPT-2", "Llama", "Marian"])
def test_the_maps_of_other_models_are_those_of_what_they_wrote(name, transformers_folders):
    app = open_with(transformers_folders[name], "cause", sentence=SENTENCE)
    reader = load_model(transformers_folders[name])
    writing = reader.write(SENTENCE).writing
    trace = reader.trace(SENTENCE, writing)
    check(app, *expected(reader, trace, writing=writing))


def test_a_closed_cell_of_a_decoder_that_wrote_is_in_force(transformers_folders):
    cell = CellEdit("decoder", 6, 1, opened=False)
    edits = Edits(cells=(cell,))
    folder = transformers_folders["GPT-2"]
    app = open_with(folder, "cause", sentence=SENTENCE, edits=write_edits(edits))
    reader = load_model(folder)
    writing = reader.write(SENTENCE).writing
    trace = reader.trace(SENTENCE, writing)
    check(app, *expected(reader, trace, edits.at_sites(reader.shape, 80), writing=writing))


def test_a_prompt_that_leaves_no_room_is_said_in_a_sentence(transformers_folders):
    app = open_with(transformers_folders["GPT-2"], "cause", sentence="I love my cat. " * 60)
    assert not app.exception
    assert "knockout" not in drawn(app)
    assert said(app)


def test_what_takes_long_is_measured_when_asked_for(monkeypatch):
    monkeypatch.setattr(knockout, "KNOCKOUT", replace(knockout.KNOCKOUT, unasked=0))
    app = open_page("cause", sentence="She sold eight boats.")
    assert "knockout" not in drawn(app)
    assert knockout.WAITS in [caption.value for caption in app.caption]
    button(app, "Measure every edge").click().run()
    assert {"knockout", "looked-at"} <= {*drawn(app)}
    app.run()
    assert {"knockout", "looked-at"} <= {*drawn(app)}, "it is known now"
    assert not [item for item in app.button if item.label == "Measure every edge"]


@pytest.mark.parametrize("tab", ["knockout", "truth"])
def test_what_rounding_leaves_where_nothing_is_lost_is_no_effect(tab):
    off = "~".join(f"gate.cross.{layer}.1-8.0" for layer in (1, 2, 3))
    app = open_page("cause", sentence="We sing.", edits=off, guess="on", cause_tab=tab)
    assert knockout.NOTHING_LOST in [text.value for text in app.text]
    assert not app.metric
    assert not [key for key in drawn(app) if key.startswith("question-")]
    if tab == "knockout":
        changes, header = heatmaps(app)[0]
        assert np.abs(changes).max() < header["limit"] / 10


def test_a_slide_measures_unasked(monkeypatch):
    monkeypatch.setattr(knockout, "KNOCKOUT", replace(knockout.KNOCKOUT, unasked=0))
    app = new_app(talk="1")
    scene = {"sentence": "She sold nine boats."}
    app.session_state["talk"] = (Slide("cause", scene, pictures=("knockout", "looked-at")),)
    app.run()
    assert not app.exception
    assert on_stage(app) == ["knockout", "looked-at"]


def test_every_edge_that_is_named_is_apart_as_its_list_says():
    app = open_page("cause", sentence=SENTENCE)
    line = re.compile(r"weight ([\d.]+), share ([\d.]+), ([−+]?[\d.]+) nats")
    named = [line.findall(text.value) for text in app.text if "share" in text.value]
    for found, is_looked_at in zip(named, (True, False), strict=True):
        assert found
        assert all((float(weight) >= float(share)) == is_looked_at for weight, share, _ in found)
