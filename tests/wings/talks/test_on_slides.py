"""What single pages draw and say on a slide."""

import pytest

from headlight.pages.parts.masks.own import PICTURES
from headlight.wings.talks.slides import Slide
from tests.pages import apps
from tests.pages.apps import new_app, on_stage
from tests.pages.test_decoding import OTHER, SENTENCE, branch_to, opened_by_link, player


@pytest.mark.parametrize("picture", PICTURES)
def test_a_slide_draws_the_tab_that_holds_its_picture(picture):
    app = new_app(talk="1")
    app.session_state["talk"] = (Slide("masks", {"sentence": SENTENCE}, pictures=(picture,)),)
    app.run()
    assert not app.exception
    assert on_stage(app) == [picture]


def test_a_forced_token_and_the_step_come_back_on_a_slide(shipped):
    other, parameters, decoding = opened_by_link(shipped)
    next(one for one in other.button if one.label == "Add to talk").click().run()
    (slide,) = other.session_state["talk"]
    assert slide.parameters == parameters
    other.text_input(key="sentence").set_value(OTHER).run()
    assert player(other)[0]["texts"][-1] == shipped.translate(OTHER).text
    assert player(other)[0]["start"] == 0
    next(one for one in other.button if one.label == "Present").click().run()
    header, *_ = player(other)
    assert (header["texts"][-1], header["start"]) == (decoding.writing.text, 2)
    assert not header["tells"]


def test_branches_made_on_a_slide_stay_there(shipped):
    slides = [Slide("decoding", {"sentence": SENTENCE}, pictures=("player",)) for _ in range(2)]
    app = apps.new_app(talk="1")
    app.session_state["talk"] = tuple(slides)
    apps.go_to(app, "decoding")
    plain = shipped.translate(SENTENCE).text
    assert player(app)[0]["texts"][-1] == plain
    branch_to(app, shipped, (40,), 0)
    assert player(app)[0]["texts"][-1] != plain
    app.session_state["slide"] = 2
    del app.session_state["slide_drawn"]
    app.run()
    assert not app.exception
    assert player(app)[0]["texts"][-1] == plain


def test_on_a_slide_nothing_is_said_of_where_weight_goes_without_positions():
    app = apps.open_page("positions", talk="4")
    assert not app.exception
    assert not any("moves to other tokens" in text.value for text in app.text)
