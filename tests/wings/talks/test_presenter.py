"""Presenting: slides drawn in place, turned, left, and gone back to."""

import json
from dataclasses import replace

import pytest
import streamlit
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.exceptions import StopException

from headlight.pages.parts.pages import PAGES
from headlight.pages.shared.state.choices import HEAD, SENTENCE, put
from headlight.pages.shared.state.models import CatalogEntry, Workshop
from headlight.wings.talks import presenter, talk, turning
from headlight.wings.talks.slides import Slide
from headlight.wings.talks.stage import thumbnail_key
from tests.matrix import first_of
from tests.pages.apps import (
    address,
    below,
    blocks_below,
    button,
    drawn,
    edited,
    go_back,
    go_to,
    key_of,
    new_app,
    on_stage,
    open_page,
    texts_on_stage,
)
from tests.pages.pictures import canvas_pictures

OWN_TALK = (
    Slide("masks", {"sentence": "We sing.", "edits": "look-ahead.off"}, pictures=("matrix",)),
    Slide("attention", {"layer": "3", "head": "5"}, "Title", "Words", pictures=("grid", "source")),
    Slide("attention", {"picture": "lines", "layer": "1"}, pictures=("lines",), size=0.5),
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
            patch.setattr(presenter, "picked", lambda key: [number, 1])
            patch.setattr(streamlit, "set_page_config", begin)
            return app.run()

    return answer


def labels(app):
    """The labels of all buttons."""
    return [item.label for item in app.button]


def words_of(app):
    """What the slide says."""
    (header,) = (header for header, _ in canvas_pictures(app) if "count" in header)
    return header


@pytest.mark.parametrize("page", ["attention", "masks", "talk"])
def test_the_link_of_a_slide_opens_it_on_any_page(page):
    app = with_talk(page=page, talk="2")
    assert not app.exception
    assert on_stage(app) == ["grid", "source"]
    assert app.selectbox(key="head").value == 4
    assert words_of(app) == words_of(app) | {"title": "Title", "words": "Words", "number": 2}


def test_a_slide_has_the_size_that_it_says():
    app = with_talk(talk="3")
    assert words_of(app)["size"] == 0.5
    styles = " ".join(part.proto.body for part in app.get("html"))
    assert ".st-key-offstage { display: none; }" in styles


def footer(app):
    """What is below the pictures of a slide."""
    (block,) = (block for block in blocks_below(app.main) if key_of(block) == "slide-footer")
    return [element.value for element in below(block)]


@pytest.mark.parametrize(
    ("scene", "expected"),
    [
        (
            Slide("attention", {"kind": "encoder", "layer": "1", "head": "4"}, pictures=("lines",)),
            "“The dog ate the meat because it was hungry.” · Encoder, layer 1, head 4, as lines",
        ),
        (
            Slide(
                "heads",
                {"sentence": "<b>We</b> sing.", "edits": "gate.cross.1.5.0"},
                pictures=("trained", "changed"),
            ),
            "“<b>We</b> sing.” · Changed: Cross-attention, layer 1, head 5 off",
        ),
        (
            Slide("decoding", {"sentence": "We sing.", "strategy": "beam"}, pictures=("tree",)),
            "“We sing.” · Decoding: beam, beam size 4, length penalty 1.0, at most 64 tokens",
        ),
        (Slide("compare", pictures=("maps",)), ""),  # what differs is in the titles of the maps
        (
            Slide(
                "compare",
                {
                    "compare_a": "sentence=We+sing.",
                    "compare_b": "sentence=We+sing.",
                    "compare_b_edits": "gate.cross.1.5.0",
                },
                pictures=("maps",),
            ),
            "“We sing.” · Changed: in B, Cross-attention, layer 1, head 5 off",
        ),
    ],
)
def test_the_footer_says_which_sentence_which_place_and_what_is_changed(scene, expected):
    if scene.page == "attention":
        scene = replace(scene, parameters={"picture": "lines", **scene.parameters})
    app = with_talk(scene, talk="1")
    assert footer(app) == [expected]


def test_a_slide_of_words_alone_leaves_the_choices_and_needs_no_page(asked):
    title = Slide(title="Attention", words="A **talk**", notes="Welcome")
    app = with_talk(title, OWN_TALK[1], title, talk="1")
    assert not app.exception
    assert words_of(app)["alone"]
    assert drawn(app)[-1] == "slide-words"
    asked(app, 2)
    assert not words_of(app)["alone"]
    asked(app, 3)
    assert app.session_state["head"] == 4
    asked(app, 0)
    assert not app.exception
    assert app.title[0].value == "Attention"


def test_the_speaker_hears_of_the_notes_and_the_next_slide(asked):
    slides = (Slide(title="One", notes="Say <b>hello</b>"), OWN_TALK[0], OWN_TALK[1])
    app = with_talk(*slides, talk="1")
    told = words_of(app)
    assert told["notes"] == "Say <b>hello</b>"
    assert told["coming"] == {
        "title": "Masks",
        "typed": slides[1].typed,
        "pictures": [PAGES["masks"].pictures["matrix"]],
        "thumbnail": thumbnail_key(slides[1]),
    }
    asked(app, 3)
    assert words_of(app)["coming"] is None


def test_what_was_clicked_on_a_slide_just_before_it_was_left_is_not_chosen_on_the_page(monkeypatch):
    app = open_page("attention", head="2")
    app.session_state["talk"] = OWN_TALK[1:]
    app.button(key="present").click().run()

    def begin(**options):  # of clicks that come together, the later callback is called first
        if left:
            left.pop()()
            put(HEAD, 6)

    left = [presenter.turn]
    with monkeypatch.context() as patch:
        patch.setattr(presenter, "picked", lambda key: [0, 1])
        patch.setattr(streamlit, "set_page_config", begin)
        app.run()
    assert app.title[0].value == "Attention"
    assert app.selectbox(key="head").value == 1


@pytest.mark.parametrize("presses_again", [True, False])
def test_what_a_browser_sends_that_still_shows_the_slide_is_not_chosen_on_the_page(
    asked, presses_again
):
    app = open_page("attention", head="2")
    app.session_state["talk"] = OWN_TALK[1:]
    app.button(key="present").click().run()
    app.selectbox(key="head").set_value(6)
    on_slide = app._tree  # with its choices, which the browser sends until the page has come
    asked(app, 0)
    assert app.selectbox(key="head").value == 1
    app._tree = on_slide
    app.query_params.clear()
    app.query_params.update(talk="1")
    if presses_again:
        asked(app, 0)
    else:
        app.run()
    assert app.title[0].value == "Attention"
    assert app.selectbox(key="head").value == 1
    assert address(app) == {"v": "2", "head": "2"}


def test_leaving_goes_back_to_the_texts_that_were_forced(asked, shipped):
    first, *_ = shipped.write("We sing.", forced=(40,))
    app = open_page("decoding", sentence="We sing.", branch=f"1:40:{first.token.text}")
    _, _, branches = app.session_state["branches"]
    assert len(branches.kept) == 2
    app.session_state["talk"] = (
        Slide("decoding", {"sentence": "We leave."}, pictures=("player",)),
    )
    app.button(key="present").click().run()
    assert app.session_state["branches"][-1] is not branches
    asked(app, 0)
    assert app.session_state["branches"][-1] is branches
    assert app.session_state["branch"] == branches.kept[1]
    assert any(branches.kept[1].name in text.value for text in app.text)


def test_turning_shows_another_slide_with_its_own_choices(asked):
    app = with_talk(talk="2")
    asked(app, 3)
    assert on_stage(app) == ["lines"]
    assert app.selectbox(key="layer").value == 0
    assert app.selectbox(key="head").value == "mean"  # the slide does not name one
    assert address(app) == {"talk": "3", "ready_talk": "own"}
    asked(app, 1)
    assert on_stage(app) == ["matrix"]
    assert not edited(app.toggle, "look-ahead").value


def test_what_a_slide_cannot_ask_for_changes_nothing(asked):
    app = with_talk(talk="2")
    for number in (4, -2, 1.5, "1", None):
        asked(app, number)
        assert on_stage(app) == ["grid", "source"]


@pytest.mark.parametrize("page", ["attention", "talk"])
def test_leaving_a_talk_opened_by_its_link_goes_to_the_page_of_the_slide(asked, page):
    app = with_talk(page=page, talk="1")
    asked(app, 0)
    assert not app.exception
    assert app.title[0].value == "Masks"
    assert app.text_input(key="sentence").value == "We sing."
    assert not edited(app.toggle, "look-ahead").value
    expected = {"v": "2", "sentence": "We sing.", "head": "1", "edits": "look-ahead.off"}
    assert address(app) == expected


@pytest.mark.parametrize("page", first_of(PAGES))
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
    edited(app.toggle, "look-ahead").set_value(False).run()
    app.session_state["talk"] = (Slide("heads", {"edits": "gate.encoder.1.2.0"}),)
    app.button(key="present").click().run()
    asked(app, 0)
    assert not edited(app.toggle, "look-ahead").value
    button(app, "Undo").click().run()
    assert edited(app.toggle, "look-ahead").value


@pytest.mark.parametrize("begun_on", ["masks", None])  # None: the talk was opened by its link
def test_a_slide_opens_its_scene_live_and_comes_back_unchanged(asked, begun_on):
    app = with_talk(page="masks", **({} if begun_on else {"talk": "2"}))
    if begun_on:
        app.text_input(key="sentence").set_value("They go.").run()
        app.button(key="present").click().run()
        asked(app, 2)
    before = app.session_state["talk"]
    asked(app, turning.LIVE)
    asked(app, turning.LIVE)  # the browser still shows the slide
    assert app.title[0].value == "Attention"
    assert "talk" not in address(app)
    assert app.selectbox(key="head").value == 4
    app.selectbox(key="head").set_value(1).run()
    button(app, "Back to slide 2").click().run()
    assert on_stage(app) == ["grid", "source"]
    assert app.selectbox(key="head").value == 4
    assert app.session_state["talk"] == before
    asked(app, 0)
    assert not app.exception
    assert app.title[0].value == PAGES[begun_on or "attention"].title
    if begun_on:
        assert app.text_input(key="sentence").value == "They go."


def test_what_is_changed_live_can_be_kept_for_the_slide(asked):
    app = with_talk(talk="2")
    asked(app, turning.LIVE)
    app.selectbox(key="head").set_value(1).run()
    button(app, "Update slide 2").click().run()
    go_to(app, "heads")
    assert "Update slide 2" not in labels(app)
    button(app, "Back to slide 2").click().run()
    assert (app.selectbox(key="head").value, words_of(app)["title"]) == (1, "Title")
    assert app.session_state["talk"][1].parameters["head"] == "2"


def test_the_scene_of_a_question_answers_live_and_asks_again_on_the_slide(asked):
    asks = Slide("attention", {"layer": "2", "head": "2", "guess": "on"}, pictures=("heatmap",))
    app = with_talk(asks, talk="1")
    assert on_stage(app) != ["heatmap"]
    asked(app, turning.LIVE)
    assert "heatmap" in drawn(app)
    app.text_input(key="sentence").set_value("They go.").run()
    button(app, "Update slide 1").click().run()
    assert "heatmap" in drawn(app)
    (slide,) = app.session_state["talk"]
    assert (slide.parameters["guess"], slide.parameters["sentence"]) == ("on", "They go.")
    assert slide.title in ("", "Cross-attention, layer 2, head 2")
    button(app, "Back to slide 1").click().run()
    assert on_stage(app) != ["heatmap"]
    go_back(app)
    assert "heatmap" in drawn(app)


def test_a_slide_of_words_alone_has_no_scene_to_open(asked):
    app = with_talk(OWN_TALK[0], Slide(title="Thanks"), talk="2")
    assert not words_of(app)["live"]
    asked(app, turning.LIVE)
    assert words_of(app)["number"] == 2


def test_presenting_goes_on_where_it_was_left_or_begins_again(asked):
    app = with_talk()
    assert "From the start" not in labels(app)
    button(app, "Present").click().run()
    asked(app, 3)
    asked(app, 0)
    button(app, "Present from slide 3").click().run()
    assert words_of(app)["number"] == 3
    asked(app, 0)
    button(app, "From the start").click().run()
    assert words_of(app)["number"] == 1
    asked(app, 3)
    asked(app, 0)
    first, second, third = app.session_state["talk"]
    app.session_state["talk"] = (third, first, second)  # moved, and now the first one
    go_to(app, "talk")
    assert "Present" in labels(app)
    app.session_state["talk"] = (first, third)
    app.run()
    app.button(key="present-all").click().run()
    assert words_of(app)["number"] == 2


def test_the_tour_goes_on_from_a_live_scene_next_to_own_slides(asked):
    app = with_talk()
    app.button(key="tour-in-sidebar").click().run()
    asked(app, 4)
    title = words_of(app)["title"]
    asked(app, turning.LIVE)
    assert "Update slide 4" not in labels(app)
    button(app, "Back to slide 4").click().run()
    assert (words_of(app)["title"], words_of(app)["count"]) == (title, len(talk.shipped()))
    assert app.session_state["talk"] == OWN_TALK


def test_leaving_twice_is_leaving_once(asked):
    app = with_talk(talk="2")
    asked(app, 0)
    asked(app, 0)
    asked(app, 3)
    assert app.title[0].value == "Attention"
    assert not app.exception


def test_going_back_from_a_slide_shows_what_was_there():
    app = with_talk(talk="3", page="masks")
    go_back(app, v="2", sentence="We sing.")
    assert app.title[0].value == "Masks"
    assert app.text_input(key="sentence").value == "We sing."
    go_back(app, talk="2")
    assert on_stage(app) == ["grid", "source"]


@pytest.mark.parametrize("number", ["0", "9" * 400, "<b>"])
def test_a_damaged_number_of_a_slide_is_told_and_shows_the_page(number):
    app = open_page(talk=number)
    assert not app.exception
    assert any("damaged" in info.value for info in app.info)
    assert app.title[0].value == "Attention"


def test_a_number_beyond_the_end_is_the_last_slide():
    app = with_talk(talk="99")
    assert on_stage(app) == ["lines"]
    assert address(app) == {"talk": "3", "ready_talk": "own"}


def test_changes_on_a_slide_are_allowed_and_forgotten(asked):
    app = with_talk(talk="2")
    app.selectbox(key="head").set_value(6).run()
    assert app.session_state["head"] == 6
    assert address(app) == {"talk": "2", "ready_talk": "own"}
    for number in (3, 2):
        asked(app, number)
    assert app.session_state["head"] == 4


def titles(app):
    """The titles of the slide that is shown."""
    return [header["title"] for header, _ in canvas_pictures(app) if "coming" in header]


@pytest.mark.parametrize(("lead", "follows"), [("We look.", True), ("Nobody's words", False)])
def test_a_title_that_nobody_gave_follows_what_the_visitor_does(asked, lead, follows):
    scene = {"sentence": "We sing.", "kind": "encoder", "head": "2"}
    slide = Slide("attention", scene, "We look.", "", ("lines",), lead=lead)
    app = with_talk(slide, talk="1")
    (before,) = titles(app)
    app.selectbox(key="head").set_value(6).run()
    (after,) = titles(app)
    assert (before != after) == follows
    assert ("of the attention" in after) == follows
    asked(app, 1)
    assert titles(app) == [before]


@pytest.mark.parametrize(("lead", "typed"), [("“*” or “*”", False), ("", True)])
def test_marks_are_read_only_in_a_title_that_somebody_typed(lead, typed):
    scene = {"positions_tab": "sinusoids"}
    slide = Slide("positions", scene, "“*” or “*”", pictures=("curves",), lead=lead)
    app = with_talk(slide, talk="1")
    assert words_of(app)["typed"] == typed


def test_a_slide_of_an_own_talk_waits_until_the_browser_sends_it():
    app = open_page(talk="2", ready_talk="own")
    assert presenter.AWAITED in [info.value for info in app.info]
    assert titles(app) == []
    app.session_state["talk"] = OWN_TALK
    app.run()
    assert on_stage(app) == ["grid", "source"]
    assert titles(app) == ["Title"]


def test_a_slide_that_never_comes_can_be_left():
    app = open_page(talk="99", ready_talk="own")
    button(app, "Leave the talk").click().run()
    assert not app.exception
    assert presenter.AWAITED not in [info.value for info in app.info]
    assert "talk" not in address(app)


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
    assert "thumbnail" not in drawn(app), "It would be of another model."


def test_a_slide_has_the_model_of_the_visitors_own(translator):
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


def cut(monkeypatch, after, act):
    """Do what ends in a run, and have the next click end that run at its `after`-th chance."""
    chances = iter(range(after))

    def check(runner):
        if runner._execing and next(chances, None) is None:
            raise StopException

    with monkeypatch.context() as patch:
        patch.setattr(ScriptRunner, "_maybe_handle_execution_control_request", check)
        act()


CUTS = (*range(8, 60, 3), *range(60, 400, 80))


@pytest.mark.matrix
def test_a_turn_that_the_next_click_cuts_short_mixes_no_slides(asked, monkeypatch):
    masks = {"v": "2", "sentence": "We sing.", "edits": "look-ahead.off"}
    of_slides = {
        ("Masks", "We sing."): {**masks, "head": "1"},
        ("Attention", SENTENCE.default): {"v": "2", "layer": "3", "head": "5"},
    }
    seen = set()
    for after in CUTS:
        app = with_talk(*OWN_TALK[:2], talk="1")
        cut(monkeypatch, after, lambda app=app: asked(app, 2))
        asked(app, 0)
        assert not app.exception
        scene = app.title[0].value, app.text_input(key="sentence").value
        assert address(app) == of_slides[scene], after
        seen.add(scene)
    assert len(seen) == 2


@pytest.mark.matrix
def test_leaving_that_the_next_click_cuts_short_goes_back_all_the_same(asked, monkeypatch):
    for after in CUTS:
        app = open_page("attention", head="2", sentence="We eat.")
        app.session_state["talk"] = OWN_TALK[1:]
        app.button(key="present").click().run()
        cut(monkeypatch, after, lambda app=app: asked(app, 0))
        asked(app, 0)
        assert not app.exception
        assert address(app) == {"v": "2", "head": "2", "sentence": "We eat."}, after


@pytest.mark.parametrize("pictures", [("grid",), ()])
def test_a_slide_shows_the_code_of_its_scene(pictures, monkeypatch):
    monkeypatch.setattr(presenter, "link_of", lambda page, parameters: f"http://a.org/{page}")
    scene = Slide("attention", {"sentence": "We sing."}, "Try it", "", pictures, qr_code=True)
    app = with_talk(scene, talk="1")
    assert on_stage(app) == [*pictures, presenter.QR_CODE]
    (code,) = (header for header, _ in canvas_pictures(app) if "address" in header)
    assert code["address"] == "http://a.org/attention"
    (words,) = (header for header, _ in canvas_pictures(app) if "count" in header)
    assert not words["alone"]
    assert presenter.QR_CODE not in on_stage(with_talk(replace(scene, qr_code=False), talk="1"))


def test_a_scene_that_is_too_long_for_a_code_says_so(monkeypatch):
    monkeypatch.setattr(presenter, "link_of", lambda page, parameters: "http://a.org/" + "x" * 3000)
    app = with_talk(replace(OWN_TALK[1], qr_code=True), talk="1")
    assert on_stage(app)[:2] == ["grid", "source"]
    assert presenter.QR_CODE not in app.session_state["pictures_drawn"]
    assert [note.value for note in app.info] == [
        "This address is too long for a QR code: shorten the text."
    ]
