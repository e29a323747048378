"""The text that every page begins with, and the model that reads it."""

import pytest

from headlight.pages.shared.controls import sentence
from headlight.pages.shared.state.choices import MASKED
from headlight.pages.shared.state.models import EXAMPLES, Workshop
from tests.pages.apps import address, drawn, go_to, open_page, open_with
from tests.pages.pictures import canvas_pictures, heatmaps
from tests.pages.shared.state.test_models import OWN

FIRST, SECOND = "the cat was playing.", "unbelievable dogs!"


def strips(app):
    """The rows of tokens on the page: their texts and their labels."""
    headers = [header for header, _ in canvas_pictures(app) if "chips" in header]
    return {header["label"]: [chip["text"] for chip in header["chips"]] for header in headers}


def pictures(app):
    """The keys of the pictures on the page, without what every page has."""
    return set(drawn(app)) - {"library", "workshop-key", "kept"}


def said(app):
    return " ".join(item.value for kind in (app.text, app.info, app.caption) for item in kind)


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("en-fr", ["English sentence"]),
        ("BERT", ["Text", "Second sentence, or nothing"]),
        ("T5", ["Text"]),
        ("GPT-2", ["Prompt"]),
        ("classes by a decoder", ["Text"]),
        ("DistilBERT", ["Text", "Second sentence, or nothing"]),
    ],
)
def test_the_boxes_ask_for_what_the_model_reads(name, labels, transformers_folders, bert_folder):
    folders = {**transformers_folders, "BERT": bert_folder}
    app = open_with(folders[name]) if name in folders else open_page(model=name)
    boxes = [box for box in app.text_input if box.key in ("sentence", "second")]
    assert [box.label for box in boxes] == labels
    assert boxes[0].value == EXAMPLES[0]


@pytest.mark.matrix
def test_a_model_of_ones_own_asks_for_an_input(translator):
    app = open_page()
    app.session_state["workshop"] = Workshop(models={OWN.key: (OWN, translator)})
    app.run()
    app.selectbox(key="model").set_value(OWN.key).run()
    assert app.text_input(key="sentence").label == "Input"


@pytest.mark.parametrize(
    ("page", "name", "why"),
    [
        ("decoding", "BERT", "A BERT reads a text and does not write one."),
        ("decoding", "classes", "This model has no head that writes."),
        ("positions", "DistilBERT", "Where this model uses its positions is not known"),
    ],
)
def test_a_page_that_needs_what_a_model_lacks_says_so(
    page, name, why, transformers_folders, bert_folder
):
    folders = {**transformers_folders, "BERT": bert_folder}
    tab = {"positions_tab": "sentence"} if page == "positions" else {}
    app = open_with(folders[name], page, **tab)
    assert why in said(app)
    assert not pictures(app)
    assert app.text_input(key="sentence").value == EXAMPLES[0]


def test_the_last_texts_that_could_be_read_stay(bert_folder):
    app = open_with(bert_folder, sentence=FIRST, second=SECOND, kind="encoder")
    before = heatmaps(app)[0][1]["rows"]
    app.text_input(key="second").set_value("the mat").run()
    rows = heatmaps(app)[0][1]["rows"]
    assert rows != before
    app.text_input(key="sentence").set_value("  ").run()
    assert not app.exception
    asked = sentence.EMPTY.format(asked="a text")
    assert app.text[0].value == f"{asked} {sentence.BEFORE.format(f'{FIRST} / the mat')}"
    assert heatmaps(app)[0][1]["rows"] == rows


def test_why_a_text_cannot_be_read_is_told():
    app = open_page("heads", sentence="We sing.")
    app.text_input(key="sentence").set_value("▁").run()
    why = "There is nothing to translate: type a sentence."
    assert app.text[0].value == f"{why} {sentence.BEFORE.format('We sing.')}"
    assert pictures(app)


def test_an_emptied_box_leaves_the_previous_text_with_its_hidden_and_lit_words(bert_folder):
    app = open_with(bert_folder, sentence=FIRST, masked="2", lit="q3", picture="lines")

    def shown():
        return [picture for picture in canvas_pictures(app) if {"chips", "lit"} & picture[0].keys()]

    before = shown()
    app.text_input(key="sentence").set_value(" ").run()
    assert app.text[0].value.endswith(sentence.BEFORE.format(FIRST))
    assert shown() == before
    assert any(header.get("lit") for header, _ in before)
    app.text_input(key="sentence").set_value(SECOND).run()
    assert not {"masked", "lit"} & address(app).keys()


def test_without_a_text_that_could_be_read_there_is_nothing():
    app = open_page("heads", sentence="▁")
    assert app.text[0].value == "There is nothing to translate: type a sentence."
    assert not pictures(app)


def test_the_tokens_are_labelled_with_who_reads_them(transformers_folders, bert_folder, bert):
    texts = [piece.text for piece in bert.read(FIRST, SECOND)]
    label = f"What the model reads: {len(texts)} tokens. {sentence.MASK_HINT}"
    assert strips(open_with(bert_folder, sentence=FIRST, second=SECOND))[label] == texts
    app = open_with(transformers_folders["GPT-2"], sentence="I love my cat.")
    ((label, texts),) = strips(app).items()
    assert label == f"What the model reads: {len(texts)} tokens."
    assert "".join(texts).replace("Ġ", "") == "Ilovemycat."


def test_words_are_clicked_only_where_they_can_be_hidden(transformers_folders, bert_folder):
    for folder, clickable in ((bert_folder, True), (transformers_folders["headless"], False)):
        (header,) = [h for h, _ in canvas_pictures(open_with(folder)) if "chips" in h]
        assert header["clickable"] is clickable


def test_unknown_tokens_and_cut_texts_are_told(bert_folder):
    words = said(open_with(bert_folder, sentence="zebra " * 40))
    assert "does not know" in words
    assert "longer than the model can take" in words
    assert "longer" not in said(open_with(bert_folder, sentence=FIRST))


@pytest.fixture
def click(monkeypatch, bert):
    """A function that clicks tokens of a text, and returns the places that are hidden then."""
    state = {}
    monkeypatch.setattr(sentence, "put", lambda choice, value: state.update({choice.key: value}))
    monkeypatch.setattr(sentence, "chosen", lambda choice: state.get(choice.key, choice.default))
    tokens = bert.read("the cat was playing.")  # [CLS] the cat was play ##ing . [SEP]

    def clicked(*places):
        monkeypatch.setattr(sentence, "all_picked", lambda key: places)
        sentence.mask(tokens)
        return state.get(MASKED.key, MASKED.default)

    return clicked


def test_a_click_hides_a_word_with_all_of_its_pieces_and_brings_it_back(click):
    assert click(2) == "2"
    assert click(5) == "2,4,5"
    assert click(2) == "4,5"
    assert click(4) == ""


def test_clicks_add_up(click):
    assert click(1, 2, 5, 1) == "2,4,5"


def test_special_tokens_and_places_beyond_the_text_are_not_hidden(click):
    assert click(0, 7, 8, 400) == ""


def test_a_word_of_which_a_link_hides_a_piece_is_hidden_whole(click, monkeypatch):
    monkeypatch.setattr(sentence, "chosen", lambda choice: "4")
    assert click(5) == "4,5"


def test_hidden_words_are_in_the_link_and_forgotten_with_their_text(bert_folder):
    app = open_with(bert_folder, sentence=FIRST, second=SECOND, masked="4,5")
    (hidden,) = strips(app).values()
    assert hidden[4:6] == ["[MASK]", "[MASK]"]
    app.run()
    assert address(app)["masked"] == "4,5"
    app.text_input(key="second").set_value("the mat").run()
    assert "masked" not in address(app)
    assert "[MASK]" not in str(strips(app))


def test_another_model_begins_without_hidden_words_and_target(bert_folder):
    app = open_with(bert_folder, "heads", sentence=FIRST, masked="2", kind="encoder")
    assert "[MASK]" in str(strips(app))
    app.selectbox(key="model").set_value("en-fr").run()
    assert not app.exception
    assert app.text_input(key="sentence").value == FIRST
    assert (app.session_state["masked"], app.session_state["target"]) == ("", "")


def test_the_text_stays_from_page_to_page(bert_folder):
    app = open_with(bert_folder, sentence=FIRST, second=SECOND, masked="2", kind="encoder")
    for page in ("heads", "masks", "inside", "attention"):
        go_to(app, page)
        assert not app.exception
        assert [app.text_input(key=key).value for key in ("sentence", "second")] == [FIRST, SECOND]
        assert "[MASK]" in str(strips(app))
