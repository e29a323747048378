"""The ready talk, and the page that talks are made on."""

from dataclasses import replace
from urllib.parse import urlencode

import pytest

from model import PositionEdit
from model.edits import read_edits
from model.insight.scoring import trace_log_probabilities
from model.trace import Site
from pages.parts.pages import PAGES
from pages.shared.frame import talk
from pages.shared.frame.talk import SHIPPED
from pages.shared.link import address, link
from pages.shared.link.slides import Slide, read_talk, write_talk
from pages.shared.runs.shelf import shelf
from pages.shared.state.catalog import LIBRARY
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
    values, _ = link.read(slide.parameters, page.linked, shipped.shape)
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
        shape = address.shape_for(slide.parameters)
        assert link.read(slide.parameters, PAGES[slide.page].linked, shape)[1] == ()


@pytest.fixture(scope="module")
def models(make_bert_folder, transformers_folders):
    """Addresses of the shipped model, of one with a hidden word, and of one that goes on."""
    names = [str(folder) for folder in (make_bert_folder(), transformers_folders["GPT-2"])]
    for name in names:
        shelf().ask(name).result.result()
    bert, goes_on = ({"model": LIBRARY + name} for name in names)
    return {}, bert | {"masked": "2", "kind": "encoder"}, goes_on | {"kind": "decoder"}


@pytest.mark.parametrize(
    "page", [page for page in PAGES.values() if page.pictures], ids=lambda page: page.key
)
def test_the_pictures_that_can_be_chosen_are_on_their_pages(page, models):
    scenes = [{}, *({one.key: key} for one in page.choices for key in one.options)]
    missing = set(page.pictures)
    for base in models:
        for scene in scenes:
            if missing:
                missing -= set(drawn(open_page(page.key, **base, **scene)))
    assert not missing


@pytest.mark.parametrize(
    ("page", "parameters"),
    [
        ("attention", {"model": f"{LIBRARY}<b>gone"}),
        ("compare", {"compare_a": urlencode({"model": f"{LIBRARY}<b>gone"})}),
        ("compare", {"compare_a": "bert_name=<b>gone"}),
    ],
)
def test_a_slide_says_why_its_picture_cannot_be_shown(page, parameters):
    app = new_app(talk="1")
    app.session_state["talk"] = (Slide(page, parameters, pictures=tuple(PAGES[page].pictures)[:1]),)
    app.run()
    assert not app.exception
    assert any("<b>gone is not in memory" in text for text in texts_on_stage(app))


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
    edits = read_edits(slide.parameters["edits"], config.shape).at_sites(config.shape, 100)
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
    expected = Slide("masks", {"v": "2", "sentence": "We sing."}, "Masks", "", ("matrix",))
    assert first == replace(expected, drawn=first.drawn)
    parameters = {"v": "2", "sentence": "We sing.", "picture": "lines"}
    expected = Slide("attention", parameters, "Attention", "", ("lines",))
    assert second == replace(expected, drawn=("source", "target-tokens", "grid", "lines"))
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


def test_a_new_slide_offers_and_shows_what_its_page_draws_then():
    app = open_page("positions")
    button(app, "Add to talk").click().run()
    assert [toast.value for toast in app.toast] == [talk.ADDED.format(number=1)]
    (slide,) = app.session_state["talk"]
    assert slide.pictures == slide.drawn == ("clocks",)
    app.segmented_control(key="positions_tab").set_value("beyond").run()
    assert not set(PAGES["positions"].pictures) & set(drawn(app))
    button(app, "Add to talk").click().run()
    assert [toast.value for toast in app.toast] == [talk.NOTHING_DRAWN]
    assert app.session_state["talk"] == (slide,)
    go_to(app, "talk")
    assert edited(app.multiselect, "slide-0-pictures").options == ["positions as clocks"]


def test_a_slide_of_pictures_that_its_scene_does_not_draw_says_so_and_offers_others():
    slide = Slide("attention", {}, pictures=("lines",), drawn=("grid", "heatmap"))
    app = new_app()
    app.session_state["talk"] = (slide, replace(slide, pictures=("grid",)))
    go_to(app, "talk")
    (warning,) = app.warning
    assert "one head as lines" in warning.value
    first, second = app.multiselect
    assert first.options == ["all heads", "one head as a heatmap", "one head as lines"]
    assert second.options == ["all heads", "one head as a heatmap"]


def test_removing_all_slides_can_be_undone_and_so_can_other_changes():
    app = open_page("talk")
    assert button(app, "Undo").disabled
    button(app, "Edit a copy of the ready talk").click().run()
    app.button(key="slide-0-Remove").click().run()
    button(app, "Remove all slides").click().run()
    assert app.session_state["talk"] == ()
    for slides in (TALK[1:], TALK, ()):
        button(app, "Undo").click().run()
        assert app.session_state["talk"] == slides
    assert button(app, "Undo").disabled


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
