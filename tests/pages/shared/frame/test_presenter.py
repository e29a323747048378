"""Presenting: slides drawn in place, turned, left, and gone back to."""

import json

import pytest
import streamlit

from pages.parts.pages import PAGES
from pages.shared.frame import presenter
from pages.shared.frame.talk import SHIPPED
from pages.shared.link.slides import Slide, read_talk
from pages.shared.state.workshop import Workshop
from tests.pages.apps import (
    address,
    button,
    drawn,
    edited,
    go_to,
    key_of,
    new_app,
    on_stage,
    open_page,
    texts_on_stage,
)
from tests.pages.pictures import canvas_pictures

TALK, _ = read_talk(SHIPPED.read_bytes())
OWN_TALK = (
    Slide("masks", {"sentence": "We sing.", "edits": "look-ahead.off"}, pictures=("matrix",)),
    Slide("attention", {"layer": "3", "head": "5"}, "Title", "Words", pictures=("grid", "source")),
    Slide("attention", {"picture": "lines", "layer": "1"}, pictures=("lines",), size=2.0),
)


def with_talk(*slides, page="attention", **parameters):
    app = new_app(**parameters)
    app.session_state["talk"] = slides or OWN_TALK
    return go_to(app, page)


@pytest.fixture
def asked(monkeypatch):
    """What the slide answers: the number of another one, or 0 to leave."""

    def answer(app, number):
        left = [presenter.turn]

        def begin(**options):  # a run, whose callbacks come first
            if left:
                left.pop()()

        with monkeypatch.context() as patch:
            patch.setattr(presenter, "picked", lambda key: number)
            patch.setattr(streamlit, "set_page_config", begin)
            return app.run()

    return answer


def words_of(app):
    """What the slide says."""
    (header,) = (header for header, _ in canvas_pictures(app) if "count" in header)
    return header


@pytest.mark.parametrize("number", range(1, len(TALK) + 1))
def test_every_slide_opens_by_its_link_with_its_pictures_alone(number):
    app = open_page(talk=str(number))
    slide = TALK[number - 1]
    assert not app.exception
    assert not app.error
    assert on_stage(app) == list(slide.pictures)
    assert app.session_state["page"] is PAGES[slide.page]
    assert address(app) == {"talk": str(number)}
    assert words_of(app)["title"] == slide.title


@pytest.mark.parametrize("page", PAGES)
def test_a_slide_is_drawn_in_place_whatever_page_is_open(page):
    app = open_page(page)
    app.button(key="present").click().run()
    assert not app.exception
    assert on_stage(app) == list(TALK[0].pictures)
    assert address(app) == {"talk": "1"}
    assert not app.sidebar
    assert not app.title


@pytest.mark.parametrize("page", PAGES)
def test_the_link_of_a_slide_opens_it_on_any_page(page):
    app = with_talk(page=page, talk="2")
    assert not app.exception
    assert on_stage(app) == ["grid", "source"]
    assert app.segmented_control(key="head").value == 4
    assert words_of(app) == words_of(app) | {"title": "Title", "words": "Words", "number": 2}


def test_all_else_of_the_page_is_off_stage():
    app = with_talk(talk="2")
    assert {"heatmap", "target-tokens", "grid-selection"} <= set(drawn(app))
    top = [key_of(block) for block in app.main.children.values()]
    assert [key for key in top if key in ("stage", "offstage")] == ["stage", "offstage"]


def test_a_slide_has_the_size_that_it_says():
    app = with_talk(talk="3")
    styles = " ".join(part.proto.body for part in app.get("html"))
    assert "--slide-size: 2.0" in styles
    assert ".st-key-offstage { display: none; }" in styles


def test_turning_shows_another_slide_with_its_own_choices(asked):
    app = with_talk(talk="2")
    asked(app, 3)
    assert on_stage(app) == ["lines"]
    assert app.segmented_control(key="layer").value == 0
    assert app.segmented_control(key="head").value == "mean"  # the slide does not name one
    assert address(app) == {"talk": "3"}
    asked(app, 1)
    assert on_stage(app) == ["matrix"]
    assert not edited(app.toggle, "look_ahead").value


def test_what_a_slide_cannot_ask_for_changes_nothing(asked):
    app = with_talk(talk="2")
    for number in (4, -1, 1.5, "1", None):
        asked(app, number)
        assert on_stage(app) == ["grid", "source"]


@pytest.mark.parametrize("page", ["attention", "talk"])
def test_leaving_a_talk_opened_by_its_link_goes_to_the_page_of_the_slide(asked, page):
    app = with_talk(page=page, talk="1")
    asked(app, 0)
    assert not app.exception
    assert app.title[0].value == "Masks"
    assert app.text_input(key="sentence").value == "We sing."
    assert not edited(app.toggle, "look_ahead").value
    expected = {"v": "2", "sentence": "We sing.", "edits": "look-ahead.off"}
    assert address(app) == expected


@pytest.mark.parametrize("page", PAGES)
def test_leaving_goes_back_to_where_the_talk_was_begun(asked, page):
    edits = "gate.cross.3.8.0"
    app = open_page(page, sentence="We sing.", layer="1", edits=edits)
    before = address(app)
    app.session_state["talk"] = OWN_TALK
    app.button(key="present").click().run()
    for number in (2, 3, 0):
        asked(app, number)
    assert not app.exception
    assert app.title[0].value == PAGES[page].title
    assert address(app) == before == before | {"sentence": "We sing.", "layer": "1"}
    assert before["edits"] == edits


def test_leaving_goes_back_to_what_was_changed_and_what_can_be_undone(asked):
    app = open_page("masks")
    edited(app.toggle, "look_ahead").set_value(False).run()
    app.session_state["talk"] = (Slide("heads", {"edits": "gate.encoder.1.2.0"}),)
    app.button(key="present").click().run()
    asked(app, 0)
    assert not edited(app.toggle, "look_ahead").value
    button(app, "Undo").click().run()
    assert edited(app.toggle, "look_ahead").value


def test_leaving_twice_is_leaving_once(asked):
    app = with_talk(talk="2")
    asked(app, 0)
    asked(app, 0)
    asked(app, 3)
    assert app.title[0].value == "Attention"
    assert not app.exception


def test_going_back_from_a_slide_shows_what_was_there():
    app = with_talk(talk="3", page="masks")
    app.session_state["address"] = app.session_state["address"][0], 0.0
    app.query_params.clear()
    app.query_params.update(v="2", sentence="We sing.")
    app.run()
    assert app.title[0].value == "Masks"
    assert app.text_input(key="sentence").value == "We sing."
    app.session_state["address"] = app.session_state["address"][0], 0.0
    app.query_params.clear()
    app.query_params.update(talk="2")
    app.run()
    assert on_stage(app) == ["grid", "source"]


@pytest.mark.parametrize("number", ["0", "-1", "abc", "1.5", "9" * 400, "<b>"])
def test_a_damaged_number_of_a_slide_is_told_and_shows_the_page(number):
    app = open_page(talk=number)
    assert not app.exception
    assert any("damaged" in info.value for info in app.info)
    assert app.title[0].value == "Attention"


def test_a_number_beyond_the_end_is_the_last_slide():
    app = with_talk(talk="99")
    assert on_stage(app) == ["lines"]
    assert address(app) == {"talk": "3"}


def test_changes_on_a_slide_are_allowed_and_forgotten(asked):
    app = with_talk(talk="2")
    app.segmented_control(key="head").set_value(6).run()
    assert app.session_state["head"] == 6
    assert address(app) == {"talk": "2"}
    for number in (3, 2):
        asked(app, number)
    assert app.session_state["head"] == 4


def test_presenting_leaves_the_choices_of_other_pages_alone(asked):
    app = open_page("masks", mask_kind="cross", pad_to="20")
    app.session_state["talk"] = OWN_TALK[1:]
    app.button(key="present").click().run()
    asked(app, 2)
    asked(app, 0)
    go_to(app, "masks")
    assert app.segmented_control(key="mask_kind").value == "cross"
    assert app.selectbox(key="pad_to").value == 20


@pytest.mark.parametrize(
    "scene",
    [
        Slide("attention", {"layer": "1"}, pictures=("heatmap",)),
        Slide("heads", {"head": "2"}, pictures=("map",)),
        Slide("masks", {}, pictures=("matrix",)),
    ],
    ids=lambda scene: scene.page,
)
def test_no_map_of_a_slide_leads_to_another_page(scene):
    app = with_talk(scene, talk="1")
    assert on_stage(app) == list(scene.pictures)
    maps = [header for header, _ in canvas_pictures(app) if "axes" in header]
    assert maps
    assert not any(header["clickable"] for header in maps)


def test_a_slide_whose_pictures_are_not_drawn_says_so():
    app = with_talk(Slide("attention", {"picture": "heatmap"}, pictures=("lines",)), talk="1")
    assert texts_on_stage(app) == [presenter.NOT_DRAWN]
    drawn_there = app.session_state["talk"][0].drawn
    assert {"heatmap", "grid", "source"} <= set(drawn_there)
    assert "lines" not in drawn_there


def test_a_slide_says_that_its_model_is_gone():
    app = with_talk(Slide("attention", {"model": "own-1"}, pictures=("grid",)), talk="1")
    assert any("model of this slide is no longer" in info.value for info in app.info)
    assert on_stage(app) == ["grid"]


def test_a_slide_has_the_model_of_the_visitors_own(translator):
    from pages.shared.state.catalog import CatalogEntry

    entry = CatalogEntry("own-1", "Mine", ("I love my cat.",), "input", "output")
    slide = Slide("attention", {"model": "own-1", "layer": "2", "sentence": "We leave today."})
    app = new_app(talk="1")
    app.session_state["workshop"] = Workshop(models={"own-1": (entry, translator)})
    app.session_state["talk"] = (slide,)
    app.run()
    assert not app.exception
    assert not app.info
    expected = translator.translate("We leave today.").text
    assert expected in [header.get("text") for header, _ in canvas_pictures(app)]


def test_a_talk_that_got_shorter_while_presented_shows_its_last_slide():
    app = with_talk(talk="3")
    app.session_state["talk"] = OWN_TALK[:1]
    app.run()
    assert on_stage(app) == ["matrix"]


def test_a_saved_scene_of_a_slide_is_of_its_page():
    app = with_talk(talk="2")
    app.session_state["file_asked_for"] = app.session_state["page"], "grid", "json"
    app.run()
    bodies = [part.proto.bytes for part in app.get("bidi_component")]
    (body,) = (body for body in bodies if b'"headlight_talk"' in body)
    start = body.index(b'{\n  "headlight_talk"')
    scene, _ = json.JSONDecoder().raw_decode(body[start:].decode("utf-8", "replace"))
    assert scene["slides"][0]["page"] == "attention"
    assert scene["slides"][0]["parameters"] == {"v": "2", "layer": "3", "head": "5"}
