"""BERTs and other models side by side: the weights drawn are those of their own runs."""

from urllib.parse import urlencode

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from model import Site, load, load_bert
from model.edits import Edits
from model.library.transformers_model import load_transformers_model
from pages.parts.compare.links import HELD
from pages.shared.runs.shelf import shelf
from pages.shared.state.catalog import EXAMPLES
from tests.model.library.test_transformers_model import KINDS, save_tokenizer
from tests.pages.test_compare import ROOT, WIDE, click, maps, open_page, texts, told, widget

FIRST, SECOND = "the cat was playing.", "unbelievable dogs!"
EDITS = Edits(gates={("encoder", 0, 1): 0.0})


@pytest.fixture(scope="module")
def folder(make_bert_folder):
    return str(make_bert_folder())


@pytest.fixture(scope="module")
def reader(folder):
    return load_bert(folder)


@pytest.fixture
def compared(folder):
    """A factory of the page, in a session that shows a BERT on the page BERT and others."""

    def make(**parameters):
        shelf().ask(folder).result.result()
        texts = {"bert_name": folder, "bert_first": FIRST, "bert_second": SECOND}
        shown = {name: text for name, text in parameters.items() if name in HELD}
        app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
        for name, text in (texts | shown).items():
            app.session_state[name] = HELD[name].read(text, None)
        app.query_params.update({name: parameters[name] for name in parameters.keys() - shown})
        app.switch_page("pages/compare.py").run()
        assert not app.exception
        return app

    return make


def take(app, name):
    return click(app, f"Take what BERT and others shows as {name}")


def expect(app, side, weights, tokens):
    header, numbers = maps(app)
    np.testing.assert_allclose(numbers[side], weights, atol=1e-5)
    assert tuple(header["sides"][side].values()) == (texts(tokens), texts(tokens))


def test_the_two_sentences_with_it(compared, reader):
    app = click(compared(bert_layer="2", bert_head="3"), "It, in the model loaded last")
    for side, sentence in enumerate((EXAMPLES[0], WIDE)):
        reading = reader.trace(sentence)
        weights = reading.attention[Site("encoder", 1)].weights[0, 2]
        expect(app, side, weights, reading.source_tokens)
    assert "nothing that it writes" in " ".join(caption.value for caption in app.caption)
    assert "decoder" not in told(app)


@pytest.mark.parametrize(
    ("layer", "head", "summary"),
    [
        ("1", "mean", lambda weights: weights[0].mean(axis=0)),
        ("mean", "4", lambda weights: weights[:, 3].mean(axis=0)),
        ("max", "mean", lambda weights: weights.mean(axis=1).max(axis=0)),
    ],
)
def test_a_side_shows_a_mean_or_a_maximum(compared, reader, layer, head, summary):
    app = take(compared(bert_layer=layer, bert_head=head), "B")
    reading = reader.trace(FIRST, SECOND)
    sites = sorted(site for site in reading.attention)
    weights = np.stack([reading.attention[site].weights[0].numpy() for site in sites])
    expect(app, 1, summary(weights), reading.source_tokens)


def test_masked_words_and_switched_heads_before_and_after(compared, reader):
    app = compared(bert_masked="2", bert_layer="2", bert_head="1")
    app.session_state["histories"] = {"bert_history": [Edits(), EDITS]}
    take(take(app.run(), "A"), "B")
    widget(app.toggle, "side_a_changed").set_value(False).run()
    changes = EDITS.at_sites(reader.model.config, 1)
    for side, edits in enumerate(({}, changes)):
        reading = reader.trace(FIRST, SECOND, masked=[2], edits=edits)
        weights = reading.attention[Site("encoder", 1)].weights[0, 0]
        expect(app, side, weights, reading.source_tokens)
    header, _ = maps(app)
    assert ["heads switched" in title for title in header["titles"]] == [False, True]
    assert "Masked: the tokens at 3" in told(app)
    widget(app.text_input, "side_b_bert_first").set_value("dogs!").run()
    reading = reader.trace("dogs!", SECOND, edits=changes)
    weights = reading.attention[Site("encoder", 1)].weights[0, 0]
    expect(app, 1, weights, reading.source_tokens)


def test_a_sentence_stays_from_one_model_to_the_other_and_back(compared, folder, reader):
    app = compared()
    widget(app.selectbox, "side_a_model").set_value(f"library's {folder}").run()
    reading = reader.trace(EXAMPLES[0])
    mean = reading.attention[Site("encoder", 0)].weights[0].mean(dim=0)
    expect(app, 0, mean, reading.source_tokens)
    widget(app.text_input, "side_a_bert_first").set_value("I love my cat.").run()
    widget(app.selectbox, "side_a_model").set_value("en-fr-learned").run()
    assert widget(app.text_input, "side_a_sentence").value == "I love my cat."
    trace = load("en-fr-learned").trace("I love my cat.")
    _, numbers = maps(app)
    np.testing.assert_allclose(
        numbers[0], trace.attention[Site("cross", 1)].weights[0].mean(dim=0), atol=1e-5
    )


def test_a_pasted_link_of_the_page_and_the_own_address(compared, folder, reader):
    link = {"bert_name": folder, "bert_first": "dogs!", "bert_second": "", "bert_head": "2"}
    app = compared()
    pasted = f"http://localhost/bert?{urlencode(link | {'sentence': 'We sing.'})}"
    app.text_input(key="side_b_link").set_value(pasted).run()
    reading = reader.trace("dogs!")
    weights = reading.attention[Site("encoder", 0)].weights[0, 1]
    expect(app, 1, weights, reading.source_tokens)
    again = open_page(compare_b=app.query_params["compare_b"])
    expect(again, 1, weights, reading.source_tokens)


def test_a_decoder_reads_what_it_is_given(compared, tmp_path, pairs):
    model, config, options = KINDS["T5"]
    torch.manual_seed(2)
    model(config(**options)).save_pretrained(tmp_path)
    save_tokenizer(tmp_path, [text for pair in pairs for text in pair], spaces="sign", end=True)
    shelf().ask(str(tmp_path)).result.result()
    given = {"bert_kind": "cross", "bert_target": "J'aime mon chat.", "bert_second": ""}
    app = take(compared(bert_name=str(tmp_path), **given, bert_first="I love my cat."), "B")
    found = load_transformers_model(tmp_path).attentions("I love my cat.", "J'aime mon chat.")
    _, numbers = maps(app)
    np.testing.assert_allclose(numbers[1], found.weights["cross"][0].mean(0), atol=1e-5)
    assert f"B's decoder reads: {' '.join(texts(found.target_tokens))}" in told(app)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bert_name": "<b>nowhere"}, "<b>nowhere is not in memory here"),
        ({"bert_first": "", "bert_second": ""}, "nothing to read"),
    ],
)
def test_what_cannot_be_shown_is_told(compared, folder, change, words):
    side = {"bert_name": folder, "bert_layer": "99", "bert_edits": "gate.encoder.99.1.0"} | change
    app = compared(compare_a=urlencode(side))
    assert not app.exception
    assert words in told(app)
    widget(app.selectbox, "side_a_model").set_value("en-fr").run()
    assert maps(app)


def test_what_others_loaded_is_not_listed(compared, folder):
    compared()
    app = open_page()
    assert not any(folder in option for option in widget(app.selectbox, "side_a_model").options)
