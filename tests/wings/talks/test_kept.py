"""The visitor's talk as the browser keeps it: what the session sends, and what it takes up."""

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

import headlight.pages.parts.pages  # noqa: F401, what slides are of
from headlight.wings.talks import kept, talk
from headlight.wings.talks.slides import LARGEST_FILE, MOST_SLIDES, Slide, write_talk
from tests.pages.apps import button, open_page
from tests.pages.pictures import canvas_pictures

KEPT = tuple(Slide("attention", title=f"<b>{name}") for name in "abc")
MADE = (Slide("masks", title="made"),)
ANSWER = "from headlight.wings.talks import kept; kept.take_up(); kept.keep()"


@pytest.fixture
def told(monkeypatch):
    """A factory of sessions that the browser has told something, one answer after the other."""

    def make(*answers, **state):
        app = AppTest.from_string(ANSWER)
        for name, value in state.items():
            app.session_state[name] = value
        for answer in answers:
            monkeypatch.setattr(kept, "picked", lambda key, answer=answer: answer)
            app.run()
            assert not app.exception
        return app

    return make


def sent(app):
    """What the browser is to keep."""
    (header,) = (header for header, _ in canvas_pictures(app) if "heard" in header)
    return header["text"], header["heard"]


def answer_with(slides, first=True):
    return {"text": write_talk(slides) if slides else "", "first": first}


def own(app):
    return app.session_state["talk"] if "talk" in app.session_state else ()  # noqa: SIM401


def test_a_new_session_takes_up_what_was_kept_before_it(told):
    app = told(answer_with(KEPT))
    assert own(app) == KEPT
    assert sent(app) == (write_talk(KEPT), True)


def test_a_session_that_knows_of_no_talk_sends_none(told):
    assert sent(told(None)) == (None, False)


@pytest.mark.parametrize(("slides", "drawn"), [((), 1), (KEPT, None)])
def test_a_slide_keeps_what_was_chosen_in_it_unless_another_talk_comes(told, slides, drawn):
    state = told(answer_with(slides), slide=1, slide_drawn=1).session_state
    assert (state["slide_drawn"] if "slide_drawn" in state else None) == drawn  # noqa: SIM401


def test_slides_added_before_the_kept_ones_were_told_of_come_after_them(told):
    app = told(answer_with(KEPT), talk=MADE)
    assert own(app) == (*KEPT, *MADE)
    assert sent(app) == (write_talk((*KEPT, *MADE)), True)


def test_what_is_told_twice_is_taken_up_once(told):
    assert own(told(answer_with(KEPT), answer_with(KEPT), talk=MADE)) == (*KEPT, *MADE)


def test_the_talk_of_another_tab_takes_the_place_of_this_one_and_can_be_undone(told):
    app = told(answer_with(KEPT), answer_with(MADE, first=False))
    assert own(app) == MADE
    assert app.session_state["earlier_talks"] == [KEPT]
    assert own(told(answer_with((), first=False), talk=MADE)) == ()


def test_slides_that_another_tab_keeps_are_still_known_by_their_names(told):
    mine = (*KEPT, *KEPT[:1])  # two of them alike
    completed = replace(mine[1], pictures=("grid",), drawn=("grid",))
    app = told(answer_with((*MADE, mine[0], completed, mine[3]), first=False), talk=mine)
    made, *others = own(app)
    assert [slide.name for slide in others] == [mine[0].name, mine[1].name, mine[3].name]
    assert made.name not in {item.name for item in mine}


@pytest.mark.parametrize(
    "answer",
    [
        None,
        7,
        "text",
        [],
        {},
        {"text": 3, "first": True},
        {"text": write_talk(KEPT)},
        {"text": None, "first": False},
        answer_with(KEPT) | {"first": "yes"},
        {"text": "<script>", "first": True},
        {"text": "\ud800", "first": False},
        {"text": "[" * 100_000, "first": True},
        {"text": " " * (LARGEST_FILE + 1), "first": True},
        {"text": '{"headlight_talk": 2, "slides": [{"page": "</script>"}]}', "first": False},
    ],
)
@pytest.mark.parametrize("made", [MADE, pytest.param((), marks=pytest.mark.matrix)])
def test_what_is_no_talk_is_left_alone(told, answer, made):
    app = told(answer, **({"talk": made} if made else {}))
    assert own(app) == made
    assert sent(app)[0] == (write_talk(made) if made else None)


def test_a_browser_that_keeps_nothing_is_told_of(told):
    app = told({"failed": True}, talk=MADE)
    assert own(app) == MADE
    assert [toast.value for toast in app.toast] == [kept.NOT_KEPT]


@pytest.mark.parametrize("page", ["attention", "talk"])
@pytest.mark.parametrize("parameters", [{}, {"talk": "1"}])
def test_every_page_and_every_slide_has_the_talk_kept(page, parameters):
    app = open_page(page, **parameters)
    app.session_state["talk"] = MADE
    app.run()
    text, _ = sent(app)
    assert '"made"' in text


def test_a_talk_takes_no_more_slides_than_can_be_read_again():
    for full in (KEPT[:1] * MOST_SLIDES, (Slide("masks", {"edits": "a" * LARGEST_FILE}),)):
        app = open_page("masks")
        app.session_state["talk"] = full
        button(app, "Add to talk").click().run()
        assert app.session_state["talk"] == full
        assert [toast.value for toast in app.toast] == [talk.TOO_LARGE]
