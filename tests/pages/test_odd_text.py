"""Text that no one would call a sentence, on every page that takes one."""

from pathlib import Path
from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[2]
PAGES = ("masks", "heads", "inside", "positions", "decoding")
TEXTS = {
    "markup": "<script>alert(1)</script> **bold** $x$ :red[x] [a](javascript:alert(1)) `<img>`",
    "signs": "\u202eright to left \u05d0\u05d1 👩‍👩‍👧‍👦 e\u0301\u0301 \x00\x07\ufeff =1+1 #000001",
    "one sign": "!",
    "long": "word " * 119,
}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", TEXTS)
def test_nothing_a_person_types_breaks_a_page(page, name):
    app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    app.query_params["sentence"] = TEXTS[name]
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    assert not app.error


@pytest.fixture(scope="module")
def bert_folder(make_bert_folder):
    return make_bert_folder(max_position_embeddings=64)


@pytest.mark.parametrize("tab", ["Attention", "Switch heads", "Inside a head"])
@pytest.mark.parametrize("units", ["pieces", "words"])
@pytest.mark.parametrize("name", TEXTS)
def test_a_bert_takes_it(name, units, tab, bert_folder):
    app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    app.query_params.update({"bert_first": TEXTS[name], "bert_second": TEXTS[name]})
    app.query_params.update({"bert_units": units, "bert_special": "hidden", "bert_masked": "1,2,9"})
    app.session_state["bert_tab"] = tab
    app.switch_page("pages/bert.py").run()
    app.text_input(key="bert_wanted").set_value(str(bert_folder))
    next(button for button in app.button if button.label == "Load").click().run()
    assert not app.exception
    assert not app.error


@pytest.mark.parametrize("name", TEXTS)
def test_no_name_of_a_model_breaks_its_page(name):
    app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    app.query_params["bert_name"] = TEXTS[name]
    app.switch_page("pages/bert.py").run()
    next(button for button in app.button if button.label == "Load").click().run()
    assert not app.exception
    assert app.error[0].value == "This model could not be loaded."


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("strategy", ["beam", "sample"])
def test_every_strategy_takes_it(name, strategy):
    app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    parameters = {"strategy": strategy, "beam_size": "8", "temperature": "2.0", "longest": "255"}
    app.query_params.update({"sentence": TEXTS[name], **parameters})
    app.switch_page("pages/decoding.py").run()
    assert not app.exception
    assert not app.error


@pytest.mark.parametrize("tab", ["Beyond the weight", "Switches", "Residual stream", "Words"])
@pytest.mark.parametrize("name", TEXTS)
def test_every_tab_of_the_page_inside_takes_it(name, tab):
    app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    app.query_params.update({"sentence": TEXTS[name], "kind": "encoder", "inside_tab": tab})
    app.switch_page("pages/inside.py").run()
    assert not app.exception
    assert not app.error


@pytest.mark.parametrize("name", TEXTS)
def test_both_sides_of_the_page_compare_take_it(name):
    app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    side = urlencode({"sentence": TEXTS[name], "target": TEXTS[name]})
    app.query_params.update({"compare_a": side, "compare_b": TEXTS[name]})
    app.query_params["compare_a_edits"] = TEXTS[name]
    app.switch_page("pages/compare.py").run()
    for key in ("side_b_sentence", "side_b_target", "side_a_link", "side_b_link"):
        app.text_input(key=key).set_value(TEXTS[name]).run()
        assert not app.exception
        assert not app.error


@pytest.mark.parametrize("name", TEXTS)
def test_the_training_page_takes_it(name):
    app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    app.session_state["toy_input_reverse"] = TEXTS[name][:60]
    app.switch_page("pages/training.py").run()
    app.number_input(key="toy_reverse_steps").set_value(10)
    app.button(key="toy_start").click().run()
    app.session_state["toy_run"].job.stop()
    app.run()
    assert not app.exception
    assert not app.error
    assert app.info[0].value == "Type digits only, such as 31415926."
