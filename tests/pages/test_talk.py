"""The ready talk, and the page that talks are made on."""

from functools import cache

import pytest

from model import PositionEdit
from model.edits import read_edits
from model.insight.scoring import trace_log_probabilities
from model.trace import Site
from pages.parts.pages import PAGES
from pages.shared.frame.talk import SHIPPED
from pages.shared.link import address, link
from pages.shared.link.slides import Slide, read_talk, write_talk
from pages.shared.runs.shelf import shelf
from tests.pages.apps import address as address_of
from tests.pages.apps import (
    button,
    drawn,
    edited,
    go_to,
    new_app,
    on_stage,
    open_page,
    texts_on_stage,
)

TALK, _ = read_talk(SHIPPED.read_bytes())


def slide_called(words):
    """The only slide whose words or title have this in them."""
    (found,) = (slide for slide in TALK if words in slide.title + slide.words)
    return found


def weights_of(shipped, slide, **other):
    """The weights of a slide's head and the tokens of their rows and columns."""
    page = PAGES[slide.page]
    values, _ = link.read(slide.parameters, page.linked, shipped.model.config)
    trace, site = shipped.trace(values["sentence"]), Site(values["kind"], values["layer"])
    weights = trace.attention[site].weights[0, values["head"]]
    queries, keys = trace.query_tokens(site), trace.key_tokens(site)
    return weights, [token.text for token in queries], [token.text for token in keys]


def test_the_talk_has_ten_to_twelve_slides_with_words_and_nothing_left_out():
    slides, notes = read_talk(SHIPPED.read_bytes())
    assert notes == ()
    assert 10 <= len(slides) <= 12
    for slide in slides:
        assert slide.title
        assert slide.words
        assert slide.pictures
        assert slide.parameters["sentence"]


def test_the_choices_of_every_slide_are_those_of_its_page():
    for slide in TALK:
        config = address.config_for(slide.parameters)
        assert link.read(slide.parameters, PAGES[slide.page].linked, config)[1] == ()


@cache
def a_bert(make_folder):
    """The address of a BERT that is in memory, with a masked word."""
    name = str(make_folder())
    shelf().ask(name).result.result()
    return {"bert_name": name, "bert_masked": "2"}


@pytest.mark.parametrize(
    "page", [page for page in PAGES.values() if page.pictures], ids=lambda page: page.key
)
def test_the_pictures_that_can_be_chosen_are_on_their_pages(page, make_bert_folder):
    base = a_bert(make_bert_folder) if page.key == "bert" else {}
    scenes = [{}, *({one.key: key} for one in page.choices for key in one.options)]
    missing = set(page.pictures)
    for scene in scenes:
        if missing:
            missing -= set(drawn(open_page(page.key, **base, **scene)))
    assert not missing


@pytest.mark.parametrize(
    ("page", "parameters", "words"),
    [
        ("bert", {"bert_name": "<b>gone"}, "not in memory now"),
        ("compare", {"compare_a": "bert_name=<b>gone"}, "<b>gone is not in memory here"),
    ],
)
def test_a_slide_says_why_its_picture_cannot_be_shown(page, parameters, words):
    if page not in PAGES:
        pytest.skip("this page is not listed")
    app = new_app(talk="1")
    app.session_state["talk"] = (Slide(page, parameters, pictures=tuple(PAGES[page].pictures)[:1]),)
    app.run()
    assert not app.exception
    assert any(words in text for text in texts_on_stage(app))


def test_tokens_are_pieces_where_the_first_slide_says_so(shipped):
    slide = slide_called("“ble” and “ue”")
    made = shipped.translate(slide.parameters["sentence"])
    assert "bleue" in made.text
    assert [token.text for token in made.target_tokens][-4:-2] == ["ble", "ue"]


def test_without_positions_the_dog_sees_a_dog(shipped):
    sentence = slide_called("the dog sees a dog").parameters["sentence"]
    edits = {"encoder": PositionEdit(off=True)}
    assert shipped.translate(sentence).text == "Le chien voit le chat."
    assert shipped.translate(sentence, edits=edits).text == "Le chien voit le chien."


@pytest.mark.parametrize("words", ["A query meets a key", "more than half of its weight"])
def test_it_looks_at_animal(shipped, words):
    slide = slide_called(words)
    weights, queries, keys = weights_of(shipped, slide)
    query, key = (int(slide.parameters[name]) - 1 for name in ("query", "key"))
    assert (queries[query], keys[key]) == ("it", "animal")
    assert weights[query, key] > 0.5
    assert shipped.model.config.head_width == 32


def test_the_head_one_token_back_is_a_line_beside_the_diagonal(shipped):
    slide = slide_called("Head 5 of layer 3 looks one token back")
    weights, queries, _ = weights_of(shipped, slide)
    assert (weights.argmax(-1)[1:] == weights.new_tensor(range(len(queries) - 1))).sum() >= 9
    assert weights.diagonal(-1).mean() > 0.6
    assert "24 heads" in slide.words
    assert shipped.model.config.heads * shipped.model.config.encoder_layers == 24


def test_the_decoder_looks_at_the_word_it_writes_next(shipped):
    weights, queries, keys = weights_of(shipped, slide_called("this head looks at “red”"))
    query = queries.index("voiture")
    assert keys[weights[query].argmax()] == "red"
    assert queries[query + 1] == "rouge"


def test_without_one_head_a_car_is_a_carpet(shipped):
    slide = slide_called("le tapis rouge")
    config = shipped.model.config
    edits = read_edits(slide.parameters["edits"], config).at_sites(config, 100)
    made = shipped.translate(slide.parameters["sentence"], edits=edits)
    assert made.text.startswith("Le tapis rouge")
    assert sum(config.layers(kind) for kind in ("encoder", "decoder", "cross")) * 8 == 72
    assert slide.parameters["edits"] == "gate.cross.3.8.0"


def test_the_beam_finds_a_likelier_text_than_greedy_decoding(shipped):
    slide = slide_called("Following three texts")
    sentence, size = slide.parameters["sentence"], int(slide.parameters["beam_size"])
    greedy = shipped.translate(sentence)
    beam = shipped.translate(sentence, strategy="beam", beam_size=size)
    assert greedy.text in slide.words
    assert beam.text in slide.words
    scores = [
        trace_log_probabilities(shipped.trace(sentence, made)).sum() for made in (greedy, beam)
    ]
    assert scores[1] > scores[0]


def test_a_scene_is_added_given_words_moved_and_removed():
    app = open_page("masks", sentence="We sing.")
    button(app, "Add to talk").click().run()
    app.query_params.clear()
    go_to(app, "attention")
    app.segmented_control(key="picture").set_value("lines").run()
    button(app, "Add to talk").click().run()
    app.query_params.clear()
    go_to(app, "talk")
    first, second = app.session_state["talk"]
    assert first == Slide("masks", {"v": "2", "sentence": "We sing."}, "Masks", "", ("matrix",))
    parameters = {"v": "2", "sentence": "We sing.", "picture": "lines"}
    assert second == Slide("attention", parameters, "Attention", "", ("lines",))
    app.text_input(key="slide-0-title").set_value("<b>Words").run()
    app.multiselect(key="slide-0-pictures").set_value(["trained", "matrix"]).run()
    app.button(key="slide-0-Down").click().run()
    first, second = app.session_state["talk"]
    assert (first.title, second.title) == ("Attention", "<b>Words")
    assert second.pictures == ("trained", "matrix")
    assert edited(app.text_input, "slide-1-title").value == "<b>Words"
    assert edited(app.multiselect, "slide-1-pictures").value == ["trained", "matrix"]
    app.button(key="slide-0-Remove").click().run()
    assert app.session_state["talk"] == (second,)
    assert edited(app.text_input, "slide-0-title").value == "<b>Words"


def test_a_slide_is_presented_from_its_row():
    app = open_page("talk")
    button(app, "Edit a copy of the ready talk").click().run()
    app.button(key="slide-1-Present from here").click().run()
    assert on_stage(app) == list(TALK[1].pictures)
    assert address_of(app) == {"talk": "2"}


def test_a_file_is_loaded_and_a_bad_one_leaves_the_talk():
    app = open_page("talk")
    data = write_talk(TALK[:2]).encode()
    app.file_uploader[0].upload("talk.json", data, "application/json").run()
    assert app.session_state["talk"] == TALK[:2]
    app.file_uploader[0].upload("bad.json", b"{}", "application/json").run()
    assert not app.exception
    assert any("not a talk" in text.value for text in app.text)
    assert app.session_state["talk"] == TALK[:2]


def test_the_tour_is_offered_until_it_was_taken():
    app = open_page()
    label = f"Take the tour ({len(TALK)} scenes)"
    button(app, label).click().run()
    assert app.session_state["slide"] == 1
    app.session_state["slide"] = None
    app.run()
    assert app.title[0].value == "Attention"
    assert app.text_input(key="sentence").value == TALK[0].parameters["sentence"]
    assert label not in [one.label for one in app.button]
