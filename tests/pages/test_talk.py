"""The talk that ships, files of talks, and presenter mode."""

import contextlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from model import PositionEdit
from model.edits import read_edits
from model.insight.scoring import trace_log_probabilities
from model.trace import Site
from pages.shared.frame.frame import PAGES
from pages.shared.frame.talk import SHIPPED
from pages.shared.link.slides import (
    FORMAT,
    LARGEST_FILE,
    LONGEST_TITLE,
    MOST_SLIDES,
    PICTURES,
    VERSION,
    Slide,
    first_pictures,
    read_talk,
    write_talk,
)
from pages.shared.runs.shelf import shelf
from pages.shared.state.scene import BERT_TABS, matters, read_scene
from tests.pages.pictures import canvas_pictures

ROOT = Path(__file__).parents[2]
FILES = {title: file for file, title, _ in PAGES}
TALK, _ = read_talk(SHIPPED.read_bytes())


def open_page(page="app.py", **parameters):
    app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    app.query_params.update(parameters)
    return app.switch_page(page).run()


def button(app, label):
    return next(one for one in app.button if one.label == label)


def slide_called(words):
    """The only slide whose words or title have this in them."""
    (found,) = (slide for slide in TALK if words in slide.title + slide.words)
    return found


def weights_of(shipped, slide, **other):
    """The weights of a slide's head and the tokens of their rows and columns."""
    read, _ = read_scene(slide.parameters, shipped.model.config)
    trace, site = shipped.trace(read.sentence), Site(read.kind, read.layer - 1)
    weights = trace.attention[site].weights[0, int(read.head) - 1]
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


def test_the_choices_of_every_slide_are_those_of_its_page(shipped):
    for slide in TALK:
        assert read_scene(slide.parameters, shipped.model.config)[1] == ()
        assert all(matters(name, slide.page) for name in slide.parameters)


@pytest.mark.parametrize("number", range(1, len(TALK) + 1))
def test_every_slide_opens_by_its_link_with_its_pictures(number):
    app = open_page(talk=str(number))
    assert not app.exception
    assert not app.error
    slide = TALK[number - 1]
    assert app.session_state["page"] == slide.page
    assert app.query_params["talk"] in (str(number), [str(number)])
    drawn = " ".join(part.proto.id for part in app.get("bidi_component"))
    for key in slide.pictures:
        assert key in drawn


@pytest.mark.parametrize("page", PICTURES)
def test_the_pictures_that_can_be_chosen_are_on_their_pages(page, make_bert_folder):
    tabs = {"Inside a head": "inside_tab", "Positions": "positions_tab"}
    drawn = ""
    scenes = [{}, {"picture": "lines"}, {"strategy": "beam"}]
    if page == "BERT and others":
        bert = {"bert_name": str(make_bert_folder()), "bert_masked": "2"}
        shelf().ask(bert["bert_name"]).result.result()
        scenes = [bert | {"bert_tab": tab} for tab in BERT_TABS]
        scenes.append(bert | {"bert_picture": "lines"})
    if page in tabs:
        scenes = [{tabs[page]: name} for name in ("Step by step", "Beyond the weight")]
        scenes += [{tabs[page]: name} for name in ("Sinusoids", "Your sentence")]
    for parameters in scenes:
        app = open_page(FILES[page], **parameters)
        parts = [*app.get("bidi_component"), *app.get("plotly_chart")]
        drawn += " ".join(part.proto.id for part in parts)
    for key in PICTURES[page]:
        assert key in drawn, key


@pytest.mark.parametrize(
    ("page", "parameters", "words"),
    [
        ("BERT and others", {"bert_name": "<b>gone"}, "not in memory now"),
        ("Compare", {"compare_a": "bert_name=<b>gone"}, "<b>gone is not in memory here"),
    ],
)
def test_a_slide_says_why_its_picture_cannot_be_shown(page, parameters, words):
    slide = Slide(page, parameters, pictures=first_pictures(page, parameters))
    app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    app.session_state["talk"] = (slide,)
    app.query_params["talk"] = "1"
    app.switch_page(FILES[page]).run()
    assert not app.exception
    assert any(words in text.value for text in [*app.info, *app.text])
    style = next(header["style"] for header, _ in canvas_pictures(app) if "style" in header)
    assert ".st-key-slide-note" in style


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


def test_a_talk_written_is_the_talk_read():
    assert read_talk(write_talk(TALK).encode()) == (TALK, ())
    odd = replace(TALK[0], title="</script>\x00 # *é*", words="漢")
    assert read_talk(write_talk([odd]).encode()) == ((odd,), ())


def file_of(*slides, **changes):
    return json.dumps({FORMAT: VERSION, "slides": list(slides)} | changes).encode()


GOOD = {"page": "Attention"}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "JSON"),
        (b"\xff", "JSON"),
        (b"[" * 100_000, "JSON"),
        (b"[]", "no talk"),
        (file_of(GOOD, **{FORMAT: 2}), "no talk"),
        (file_of(), "list of 1 to"),
        (file_of(*[GOOD] * (MOST_SLIDES + 1)), "list of 1 to"),
        (b" " * (LARGEST_FILE + 1), "kB"),
        (file_of("Attention"), "Slide 1 is no JSON object"),
        (file_of(GOOD, {"page": 3}), "page of slide 2"),
        (file_of(GOOD | {"title": "a" * (LONGEST_TITLE + 1)}), "title of slide 1"),
        (file_of(GOOD | {"words": "\ud800"}), "broken character"),
        (file_of(GOOD | {"parameters": {"layer": 2}}), "parameters of slide 1"),
        (file_of(GOOD | {"pictures": "grid"}), "pictures of slide 1"),
        (file_of(GOOD | {"size": True}), "size of slide 1"),
        (file_of(GOOD | {"size": float("nan")}), "size of slide 1"),
        (file_of(GOOD | {"size": 1e9}), "size of slide 1"),
        (file_of({"page": "Moon"}), "None of the talk's slides"),
    ],
)
def test_a_file_that_is_no_talk_is_refused_with_a_reason(data, words):
    with pytest.raises(ValueError, match=words):
        read_talk(data)


def test_what_does_not_exist_here_is_left_out_with_a_note():
    parameters = {"layer": "9", "head": "5", "moon": "1", "model": "own-1"}
    damaged = GOOD | {"parameters": parameters, "pictures": ["grid", "</style>", "grid"]}
    slides, notes = read_talk(file_of({"page": "<b>"}, damaged))
    assert slides == (Slide("Attention", {"head": "5"}, pictures=("grid",)),)
    assert "no page <b>" in notes[0]
    assert all(name in notes[1] for name in ("layer", "moon", "model", "</style>"))


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
ENTRIES = st.fixed_dictionaries(
    {"page": st.sampled_from([*PICTURES, "Moon"]) | JSON},
    optional={
        "parameters": st.dictionaries(
            st.sampled_from(["layer", "edits", "model", "sentence", "seed"]) | st.text(),
            st.text() | JSON,
            max_size=4,
        )
        | JSON,
        "title": st.text() | JSON,
        "words": st.text() | JSON,
        "pictures": st.lists(st.sampled_from(["grid", "tree"]) | st.text(), max_size=3) | JSON,
        "size": st.floats() | JSON,
    },
)


@settings(max_examples=150, deadline=None)
@given(st.binary() | st.lists(ENTRIES | JSON, max_size=4).map(lambda slides: file_of(*slides)))
def test_whatever_a_file_holds_it_is_a_talk_or_a_value_error(data):
    with contextlib.suppress(ValueError):
        slides, _ = read_talk(data)
        assert read_talk(write_talk(slides).encode()) == (slides, ())


def test_a_kept_talk_holds_on_to_models_that_may_come_back():
    slide = Slide("Attention", {"model": "own-1", "layer": "1"}, pictures=("grid",))
    data = write_talk([slide]).encode()
    assert read_talk(data, kept=True) == ((slide,), ())
    (without,), (note,) = read_talk(data)
    assert without.parameters == {"layer": "1"}
    assert "model" in note


def test_a_slide_says_where_its_model_is_gone():
    app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    app.session_state["talk"] = (Slide("Attention", {"model": "own-1"}, pictures=("grid",)),)
    app.query_params["talk"] = "1"
    app.run()
    assert any("model of this slide is not here" in info.value for info in app.info)


def test_presenting_leaves_the_choices_of_other_pages_alone():
    app = open_page("pages/compare.py", compare_a="head=6", bert_first="One.")
    app.button(key="present").click().run()
    assert app.session_state["slide"] == 1
    assert app.session_state["compare_a"] == "head=6"
    assert app.session_state["bert_first"] == "One."


def test_a_slide_has_nothing_of_the_page_around_it():
    app = open_page(talk="6")
    assert not app.sidebar
    assert not app.title
    assert app.segmented_control(key="head").value == "4"


@pytest.mark.parametrize("number", ["0", "-1", "abc", "1.5", "9" * 400, "<b>"])
def test_a_damaged_number_of_a_slide_is_told_and_shows_the_page(number):
    app = open_page(talk=number)
    assert not app.exception
    assert any("damaged" in info.value for info in app.info)
    assert app.title[0].value == "Attention"


def test_a_number_beyond_the_end_is_the_last_slide():
    app = open_page(talk="99")
    assert app.session_state["slide"] == len(TALK)
    assert app.session_state["page"] == TALK[-1].page


def test_changes_on_a_slide_are_allowed_and_forgotten():
    app = open_page(talk="6")
    app.segmented_control(key="head").set_value("7").run()
    assert app.session_state["head"] == "7"
    assert app.query_params["talk"] in ("6", ["6"])
    for number in (7, 6):
        app.session_state["slide"], app.session_state["turned"] = number, True
        app.run()
    assert app.session_state["head"] == "4"


def test_a_scene_is_added_given_words_moved_and_removed():
    app = open_page("pages/masks.py", sentence="We sing.")
    button(app, "Add to talk").click().run()
    app.switch_page("pages/decoding.py").run()
    button(app, "Add to talk").click().run()
    app.switch_page("pages/talk.py").run()
    first, second = app.session_state["talk"]
    assert (first.page, second.page) == ("Masks", "Decoding")
    assert first.parameters["sentence"] == second.parameters["sentence"] == "We sing."
    app.text_input(key="slide-0-1-title").set_value("<b>Words").run()
    app.multiselect(key="slide-0-1-pictures").set_value(["tree", "player"]).run()
    button(app, "Down").click().run()
    first, second = app.session_state["talk"]
    assert (first.title, first.pictures) == ("<b>Words", ("tree", "player"))
    assert app.text_input(key="slide-1-0-title").value == "<b>Words"
    button(app, "Remove").click().run()
    assert app.session_state["talk"] == (second,)


def test_a_file_is_loaded_and_a_bad_one_leaves_the_talk():
    app = open_page("pages/talk.py")
    data = write_talk(TALK[:2]).encode()
    app.file_uploader[0].upload("talk.json", data, "application/json").run()
    assert app.session_state["talk"] == TALK[:2]
    app.file_uploader[0].upload("bad.json", b"{}", "application/json").run()
    assert not app.exception
    assert any("no talk" in text.value for text in app.text)
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
