"""Text that no one would call a sentence, on every page that takes one."""

from itertools import product
from urllib.parse import urlencode

import pytest

from headlight.pages.parts.pages import PAGES
from headlight.pages.shared.state.choices import LONGEST_SENTENCE
from headlight.pages.shared.state.models import LONGEST_NAME
from tests.matrix import first_of
from tests.odd_texts import ODD_TEXTS
from tests.pages.apps import button, open_page, open_with
from tests.pages.test_compare import widget

FIRST = next(iter(PAGES))
LONGEST_BOX = 16_000  # characters
TEXTS = {name: text for name, text in ODD_TEXTS.items() if name not in ("empty", "blank")}
LONG = "100,000 characters"
ONE_LONG = {name: text for name, text in TEXTS.items() if name != LONG}
SHORT_TEXTS = {name: text for name, text in ODD_TEXTS.items() if len(text) < LONGEST_SENTENCE}


def expect_no_error(app, name):
    assert not app.exception, name
    assert not app.error, name


@pytest.mark.parametrize(
    ("page", "name"),
    first_of([*product(PAGES, ["markup"]), *product([FIRST], sorted(ODD_TEXTS))]),
)
def test_no_address_breaks_a_page(page, name):
    app = open_page(page, sentence=ODD_TEXTS[name], target=ODD_TEXTS[name], nonsense="1")
    expect_no_error(app, name)
    assert "nonsense" in app.text[0].value


@pytest.mark.parametrize("page", first_of(PAGES))
def test_nothing_that_is_typed_breaks_a_page(page):
    app = open_page(page)
    for name, text in (ODD_TEXTS if page == FIRST else SHORT_TEXTS).items():
        for box in app.text_input:
            if not box.disabled:
                box.set_value(text[: box.max_chars])
        app.run()
        expect_no_error(app, name)


def test_a_sentence_too_long_for_a_link_is_cut_and_that_is_told():
    app = open_page(sentence=ODD_TEXTS[LONG])
    assert app.text_input(key="sentence").value == ODD_TEXTS[LONG][:LONGEST_SENTENCE]
    assert "too long" in app.info[0].value
    assert app.text[0].value == "sentence"


@pytest.mark.parametrize(
    "page", first_of(["attention", "inside", "positions", "masks", "heads", "decoding"])
)
def test_every_page_says_once_that_a_text_is_cut(page):
    expect_cut(page)


def expect_cut(page):
    app = open_page(page, sentence="the cat and the dog " * 80)
    expect_no_error(app, page)
    (note,) = [info.value for info in app.info if "longer than the model can take" in info.value]
    assert "it read the first 255 tokens" in note


@pytest.mark.matrix
def test_every_box_has_a_limit():
    for page in PAGES:
        for box in open_page(page).text_input:
            assert 0 < box.max_chars <= LONGEST_BOX, (page, box.label)


@pytest.fixture(scope="module")
def bert_folder(make_bert_folder):
    return make_bert_folder(max_position_embeddings=64)


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("page", "choices"),
    [
        ("attention", {"units": "pieces", "special": "hidden"}),
        ("attention", {"units": "words", "special": "hidden"}),
        ("masks", {}),
        ("heads", {}),
        ("inside", {}),
        ("positions", {}),
    ],
)
def test_a_bert_takes_it(page, choices, bert_folder):
    app = open_with(bert_folder, page, masked="1,2,9", **choices)
    for name, text in ODD_TEXTS.items():
        for key in ("sentence", "second"):
            box = app.text_input(key=key)
            box.set_value(text[: box.max_chars])
        app.run()
        expect_no_error(app, name)


def test_no_name_of_a_model_breaks_its_page():
    app = open_page("models")
    for name, text in TEXTS.items():
        app.text_input(key="wanted").set_value(text[:LONGEST_NAME])
        button(app, "Load").click().run()
        assert not app.exception, name
        assert app.error[0].value == "This model could not be loaded.", name


@pytest.mark.matrix
@pytest.mark.parametrize("strategy", ["beam", "sample"])
def test_every_strategy_takes_it(strategy):
    parameters = {"strategy": strategy, "beam_size": "2", "temperature": "2.0", "longest": "40"}
    app = open_page("decoding", **parameters)
    for name, text in ONE_LONG.items():
        app.text_input(key="sentence").set_value(text[:LONGEST_SENTENCE]).run()
        expect_no_error(app, name)


@pytest.mark.matrix
@pytest.mark.parametrize("tab", ["Beyond the weight", "Switches", "Residual stream", "Words"])
def test_every_tab_of_the_page_inside_takes_it(tab):
    app = open_page("inside", kind="encoder", inside_tab=tab)
    for name, text in ONE_LONG.items():
        app.text_input(key="sentence").set_value(text[:LONGEST_SENTENCE]).run()
        expect_no_error(app, name)


@pytest.mark.matrix
@pytest.mark.parametrize("name", first_of(TEXTS))
def test_both_sides_of_the_page_compare_take_it(name):
    text = TEXTS[name]
    side = urlencode({"sentence": text, "target": text})
    app = open_page("compare", compare_a=side, compare_b=text, compare_a_edits=text)
    for key in ("side_b_sentence", "side_b_target", "side_a_link", "side_b_link"):
        box = widget(app.text_input, key)
        box.set_value(text[: box.max_chars]).run()
        expect_no_error(app, name)
