"""The page BERT and others: it shows the run it was asked for, under the right tokens."""

import re
from concurrent.futures import wait
from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from model import Site, load_bert
from model.edits import Edits
from model.library.pieces import merge_words
from model.library.transformers_model import WHY_NOT, load_transformers_model
from pages.shared.runs import limits
from tests.model.library.test_transformers_model import KINDS, save_tokenizer
from tests.pages.pictures import canvas_pictures, heatmaps

ROOT = Path(__file__).parents[2]
FIRST, SECOND = "the cat was playing.", "unbelievable dogs!"


@pytest.fixture(scope="module")
def folder(make_bert_folder):
    return make_bert_folder()


@pytest.fixture(scope="module")
def reader(folder):
    return load_bert(folder)


@pytest.fixture(scope="module")
def foreign_folders(tmp_path_factory, pairs):
    made = {}
    for name in ("T5", "GPT-2"):
        model, config, options = KINDS[name]
        made[name] = tmp_path_factory.mktemp(name)
        torch.manual_seed(2)
        model(config(**options)).save_pretrained(made[name])
        texts = [text for pair in pairs for text in pair]
        spaces = "bytes" if name == "GPT-2" else "sign"
        save_tokenizer(made[name], texts, spaces=spaces, end=name == "T5")
    return made


def visit(**parameters):
    app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    app.query_params.update({name: str(value) for name, value in parameters.items()})
    app.switch_page("pages/bert.py").run()
    assert not app.exception
    return app


def ask_for(app, name):
    app.text_input(key="bert_wanted").set_value(str(name))
    next(button for button in app.button if button.label == "Load").click().run()
    while job := app.session_state["bert_loading"]:
        wait([job.result])
        app.run()
    assert not app.exception
    return app


def open_page(folder, **parameters):
    texts = {"bert_first": FIRST, "bert_second": SECOND}
    return ask_for(visit(**texts | parameters), folder)


def drawn(app):
    """The values of the heatmap, and the tokens of its rows and columns."""
    values, header = heatmaps(app)[0]
    return values, header["rows"], header["columns"]


def chips(app):
    return next(header for header, _ in canvas_pictures(app) if "chips" in header)


def test_before_anything_is_loaded_the_page_says_what_it_is_for():
    app = visit()
    assert "google-bert/bert-base-uncased" in app.pills[0].options
    assert any("safetensors" in text.value for text in app.markdown)
    app.pills[0].set_value("google-bert/bert-base-uncased").run()
    assert app.text_input(key="bert_wanted").value == "google-bert/bert-base-uncased"
    assert not [header for header, _ in canvas_pictures(app) if "strongest" in header]


def test_an_address_alone_loads_nothing(make_bert_folder):
    name = make_bert_folder(seed=7)
    app = visit(bert_name=name)
    assert app.text_input(key="bert_wanted").value == str(name)
    assert not heatmaps(app)
    assert any("Press Load" in info.value for info in app.info)
    assert heatmaps(ask_for(app, name))
    assert app.query_params["bert_name"] == str(name)
    assert heatmaps(visit(bert_name=name)), "what is in memory need not be loaded again"


def test_the_weights_are_those_of_the_run_under_its_tokens(folder, reader):
    app = open_page(folder, bert_layer=2, bert_head=3)
    trace = reader.trace(FIRST, SECOND)
    tokens = [piece.text for piece in trace.source_tokens]
    values, rows, columns = drawn(app)
    np.testing.assert_allclose(values, trace.attention[Site("encoder", 1)].weights[0, 2], atol=1e-6)
    assert rows == columns == tokens
    assert [chip["text"] for chip in chips(app)["chips"]] == tokens
    segments = [piece.segment for piece in trace.source_tokens]
    assert [chip["segment"] for chip in chips(app)["chips"]] == segments


@pytest.mark.parametrize("layer", ["2", "mean", "max"])
@pytest.mark.parametrize("head", ["mean", "max", "4"])
def test_means_and_maxima_over_heads_and_layers(layer, head, folder, reader):
    app = open_page(folder, bert_layer=layer, bert_head=head)
    weights = reader.trace(FIRST, SECOND).weights("encoder").numpy()  # (layers, H, Q, K)
    over = {"mean": np.mean, "max": np.max}
    heads = over[head](weights, axis=1) if head in over else weights[:, int(head) - 1]
    expected = over[layer](heads, axis=0) if layer in over else heads[int(layer) - 1]
    np.testing.assert_allclose(drawn(app)[0], expected, atol=1e-6)


def test_filters_choose_rows_and_columns_with_their_tokens(folder, reader):
    app = open_page(folder, bert_between="first to second", bert_special="hidden", bert_layer=3)
    trace = reader.trace(FIRST, SECOND)
    values, rows, columns = drawn(app)
    assert rows == ["the", "cat", "was", "play", "##ing", "."]
    assert columns == ["un", "##believ", "##able", "dog", "##s", "!"]
    mean = trace.attention[Site("encoder", 2)].weights[0].mean(0).numpy()
    np.testing.assert_allclose(values, mean[1:7, 8:14], atol=1e-6)
    assert (values.sum(-1) < 0.999).all()
    app.segmented_control(key="bert_rows").set_value("scaled to 1").run()
    assert any("divided by the sum" in caption.value for caption in app.caption)
    scaled = trace.attention[Site("encoder", 2)].weights[0][:, 1:7, 8:14].numpy()
    scaled = (scaled / scaled.sum(-1, keepdims=True)).mean(0)
    np.testing.assert_allclose(drawn(app)[0], scaled, atol=1e-6)


def test_pieces_merge_to_words_by_the_rule_on_screen(folder, reader):
    app = open_page(folder, bert_units="words", bert_head=2)
    trace = reader.trace(FIRST, SECOND)
    values, rows, columns = drawn(app)
    assert rows == columns
    assert rows[4] == "playing"
    words = [piece.word for piece in trace.source_tokens]
    expected = merge_words(trace.attention[Site("encoder", 0)].weights[0, 1].numpy(), words)
    np.testing.assert_allclose(values, expected, atol=1e-6)
    assert any("sum over its pieces" in caption.value for caption in app.caption)


def test_a_masked_word_is_predicted_and_the_run_is_the_masked_one(folder, reader):
    app = open_page(folder, bert_head=1)
    app.session_state["bert_masked"] = "4,5"
    app.run()
    reading = reader.trace(FIRST, SECOND, masked=[4, 5])
    assert [chip["kind"] for chip in chips(app)["chips"]][4:6] == ["mask", "mask"]
    weights = reading.attention[Site("encoder", 0)].weights[0, 0]
    np.testing.assert_allclose(drawn(app)[0], weights, atol=1e-6)
    (box,) = [box for box in app.selectbox if box.label == "Masked place"]
    assert box.options == ["5: play", "6: ##ing"]
    likelihood = reader.probabilities(reading, [4])[0]
    written = reader.read(FIRST, SECOND)[4]
    (said,) = [text.value for text in app.text if "itself" in text.value]
    assert said.startswith(f"“play” itself: {likelihood[written.id]:.4f}")
    assert app.query_params["bert_masked"] == "4,5"
    app.text_input(key="bert_first").set_value("a dog").run()
    assert app.session_state["bert_masked"] == ""


def test_a_model_without_masked_word_head_says_so(make_bert_folder):
    app = open_page(make_bert_folder("BertModel"))
    app.session_state["bert_masked"] = "2"
    app.run()
    assert any("without the masked-word head" in info.value for info in app.info)
    assert drawn(app)[1][2] == "[MASK]"


def test_switched_heads_are_those_of_the_run_drawn(folder, reader):
    edits = Edits(gates={("encoder", 0, 1): 0.0, ("encoder", 1, 3): 0.5})
    app = open_page(folder, bert_layer=3, bert_head=1)
    app.session_state["histories"] = {"bert_history": [Edits(), edits]}
    app.run()
    changed = reader.trace(FIRST, SECOND, edits=edits.at_sites(reader.model.config, 1))
    weights = changed.attention[Site("encoder", 2)].weights[0, 0]
    np.testing.assert_allclose(drawn(app)[0], weights, atol=1e-6)
    unchanged = reader.trace(FIRST, SECOND).attention[Site("encoder", 2)].weights[0, 0]
    assert np.abs(drawn(app)[0] - unchanged.numpy()).max() > 1e-3
    app.session_state["bert_tab"] = "Switch heads"
    app.run()
    board = next(header for header, _ in canvas_pictures(app) if "kinds" in header)
    assert board["kinds"][0]["gates"][0] == [1, 0, 1, 1]
    next(button for button in app.button if button.label == "Undo").click().run()
    assert app.session_state["histories"]["bert_history"] == [Edits()]


def test_an_address_holds_the_tab_and_the_switched_heads(folder, reader):
    switched = "gate.encoder.1.2.0~gate.encoder.2.4.50"
    app = open_page(folder, bert_name=str(folder), bert_tab="Switch heads", bert_edits=switched)
    assert app.query_params["bert_edits"] == switched
    assert app.query_params["bert_tab"] == "switches"
    board = next(header for header, _ in canvas_pictures(app) if "kinds" in header)
    assert board["kinds"][0]["gates"][:2] == [[1, 0, 1, 1], [1, 1, 1, 0.5]]
    next(button for button in app.button if button.label == "All heads on").click().run()
    assert "bert_edits" not in app.query_params


def test_switched_heads_that_the_model_does_not_have_are_told_and_left_out(folder):
    switched = "gate.encoder.1.2.0~gate.encoder.99.1.0"
    open_page(folder)
    app = visit(bert_name=str(folder), bert_edits=switched)
    assert not app.exception
    assert any("damaged" in info.value for info in app.info)
    assert "bert_edits" not in app.query_params


@pytest.mark.parametrize("masked", ["", "2"])
def test_inside_a_head_tells_the_numbers_of_the_run(masked, folder, reader):
    place = {"bert_layer": 2, "bert_head": 4, "bert_query": 3, "bert_key": 6}
    app = open_page(folder, **place)
    app.session_state.bert_masked = masked
    app.session_state.bert_tab = "Inside a head"
    app.run()
    assert not app.exception
    reading = reader.trace(FIRST, SECOND, masked=[int(masked)] if masked else [])
    weight = reading.attention[Site("encoder", 1)].weights[0, 3, 2, 5]
    assert app.metric[0].value == f"{weight:.4f}"
    for tab in ("Beyond the weight", "Switches", "Residual stream"):
        app.session_state.bert_inside_tab = tab
        app.run()
        assert not app.exception
        if tab == "Beyond the weight":
            assert any("mask a word" in text.value for text in app.markdown) == (not masked)


def test_the_difference_from_transformers_is_measured_on_the_text(folder, reader):
    app = open_page(folder)
    next(b for b in app.button if b.label.startswith("Same numbers")).click().run()
    measured = reader.parity(FIRST, SECOND)
    (said,) = [c.value for c in app.caption if c.value.startswith("Largest differences")]
    assert f"{measured.states:.1e}" in said
    assert f"{measured.weights:.1e}" in said
    app.text_input(key="bert_first").set_value("a dog").run()
    assert not [c for c in app.caption if c.value.startswith("Largest differences")]


def test_what_cannot_be_loaded_is_said_and_the_page_goes_on(folder, tmp_path):
    app = open_page(folder)
    before = drawn(app)[0]
    for name in (tmp_path, "no such **name**", tmp_path / "nothing"):
        ask_for(app, name)
        assert app.error[0].value == "This model could not be loaded."
        assert any(text.value.startswith(str(name)) for text in app.text)
        np.testing.assert_array_equal(drawn(app)[0], before)
    app.run()
    assert not app.error
    (tmp_path / "config.json").write_text("{}")
    said = [text.value for text in ask_for(app, tmp_path).text]
    assert any("model_type" in text for text in said), "a failure is not remembered"


def test_long_text_and_unknown_pieces_are_told(folder):
    app = open_page(folder, bert_first="zebra " * 40)
    said = [info.value for info in app.info]
    assert any("longer than the 32 tokens" in text for text in said)
    assert any(re.search(r"no piece for \d+ of the tokens", text) for text in said)


@pytest.mark.parametrize("name", ["T5", "GPT-2"])
def test_other_models_show_their_own_weights(name, foreign_folders):
    model = load_transformers_model(foreign_folders[name])
    app = open_page(foreign_folders[name], bert_first="I love my cat.", bert_head=2)
    found = model.attentions("I love my cat.")
    assert any(WHY_NOT in info.value for info in app.info)
    for kind in model.kinds:
        app.segmented_control(key="bert_kind").set_value(kind).run()
        assert not app.exception
        values, rows, columns = drawn(app)
        np.testing.assert_allclose(values, found.weights[kind][0, 1], atol=1e-6)
        assert len(rows) == len(found.query_tokens(kind))
        assert len(columns) == len(found.key_tokens(kind))
    assert not any(button.label.startswith("Same") for button in app.button)


def test_the_decoder_reads_the_text_it_is_given(foreign_folders):
    model = load_transformers_model(foreign_folders["T5"])
    app = open_page(foreign_folders["T5"], bert_first="I love my cat.")
    app.text_input(key="bert_target").set_value("J'aime mon chat.").run()
    found = model.attentions("I love my cat.", "J'aime mon chat.")
    mean = found.weights["cross"][0].mean(0)
    np.testing.assert_allclose(drawn(app)[0], mean, atol=1e-6)


def test_an_empty_text_leaves_the_last_one(folder):
    app = open_page(folder)
    before = drawn(app)[0]
    app.text_input(key="bert_first").set_value("  ").run()
    assert not app.exception
    assert any("nothing to read" in text.value for text in app.text)
    np.testing.assert_array_equal(drawn(app)[0], before)


def test_places_that_the_model_does_not_have_are_brought_back(folder):
    app = open_page(
        folder, bert_layer=99, bert_head=50, bert_query=400, bert_key=400, bert_masked="0,7,300"
    )
    assert drawn(app)[0].shape == (15, 15)
    app.session_state.bert_tab = "Inside a head"
    app.run()
    assert not app.exception


def test_of_three_models_the_last_ones_stay(make_bert_folder):
    folders = [make_bert_folder(seed=10 + number) for number in range(4)]
    for folder in folders:
        assert heatmaps(open_page(folder))
    assert not heatmaps(visit(bert_name=folders[0]))
    assert heatmaps(visit(bert_name=folders[3]))


def test_a_host_can_switch_other_models_off(monkeypatch):
    monkeypatch.setattr(limits, "OTHER_MODELS", False)
    app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    app.switch_page("pages/bert.py").run()
    assert not app.exception
    assert "switched off" in app.info[0].value
    assert not app.text_input
