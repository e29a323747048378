"""What the room is asked on pages and slides."""

from dataclasses import replace

import pytest

from headlight.pages.shared.show.question import LONGEST, NEEDED
from headlight.pages.shared.show.riddle import is_question
from headlight.wings.room.rooms import Question, close_room, open_room
from headlight.wings.room.wing import OWN, ROOM
from headlight.wings.talks.slides import Slide
from tests.pages.apps import drawn, go_back, go_to, new_app, open_page, with_heads_measured

GUESSING = {"guess": "on", "sentence": "My sister sold seven boats."}
HEADS, TOKENS = "Which head matters most", "which token does"
WHOSE = Question("Whose idea?", ("mine", "yours"))


@pytest.fixture
def room():
    room = open_room()
    yield room
    close_room(room)


def with_room(app, room, own=None):
    app.session_state[ROOM] = room
    app.session_state[OWN] = own
    return rerun(app)


def rerun(app):
    app.run()
    assert not app.exception
    assert drawn(app).count("room-panel") == 1
    return app


def answer(app):
    """Show the answer to the first question of Guess first."""
    key = next(filter(is_question, drawn(app)))
    app.session_state[key] = {"guess": -1}
    return rerun(app)


def test_of_two_questions_on_a_page_the_room_is_asked_one_at_a_time(room):
    app = with_room(with_heads_measured(open_page("heads", **GUESSING)), room)
    assert room.poll.question.asks.startswith(HEADS)
    assert sum(layers * heads for _, layers, heads in room.poll.question.boards) == 88
    number = room.poll.number
    rerun(app)
    assert room.poll.number == number
    app.button(key="ask-map").click()
    rerun(app)
    assert TOKENS in room.poll.question.asks
    go_to(app, "attention")
    rerun(app)
    assert TOKENS in room.poll.question.asks


def test_a_slide_asks_about_its_own_picture_alone(room):
    app = new_app(talk="1")
    app.session_state["talk"] = (Slide("heads", GUESSING, "One", pictures=("effects",)),)
    with_room(app, room)
    assert room.poll.question.asks.startswith(HEADS)


def test_a_question_of_ones_own_is_asked_in_place_of_a_slides(room):
    app = new_app(talk="1")
    app.session_state["talk"] = (Slide("heads", GUESSING, "One", pictures=("map", "effects")),)
    with_room(app, room, WHOSE)
    assert room.poll.question == WHOSE


TYPED = "Whose dog?\n\n Anna's \n<b>Ben's"
ASKED = Question("Whose dog?", ("Anna's", "<b>Ben's"), scene="slide 1")


@pytest.mark.parametrize("slide", [Slide(), Slide("heads", GUESSING, pictures=("effects",))])
def test_the_question_of_a_slide_is_asked_before_all_others(room, slide):
    app = new_app(talk="1")
    app.session_state["talk"] = (replace(slide, question=TYPED),)
    with_room(app, room, WHOSE)
    assert room.poll.question == ASKED


def test_a_slide_that_is_shown_again_has_the_guesses_on_its_question(room):
    app = new_app(talk="1")
    app.session_state["talk"] = Slide(question=TYPED), Slide(title="Again", question=TYPED)
    with_room(app, room)
    phone = room.enter()
    room.guess(phone, room.poll.number, 1)
    for number, guess in ((2, None), (1, 1)):
        app.session_state["turning"] = number
        rerun(app)
        assert room.poll.question.scene == f"slide {number}"
        assert room.shown_to_phone(phone)["guess"] == guess


@pytest.mark.parametrize(
    "question",
    [
        "Whose?",
        "Whose?\nmine",
        "Whose?\na\na",
        "Whose?\na\nb\nc\nd\ne",
        f"Whose?\na\n{'b' * (LONGEST + 1)}",
    ],
)
def test_a_slide_says_what_its_question_lacks(room, question):
    app = new_app(talk="1")
    app.session_state["talk"] = (Slide(title="One", question=question),)
    app.session_state[ROOM] = room
    app.run()
    assert not app.exception
    assert [info.value for info in app.info] == [NEEDED]
    assert room.poll.question.asks == ""


def test_a_question_of_ones_own_stays_open_when_the_page_shows_its_answer(room):
    app = answer(with_room(open_page(**GUESSING), room))
    assert room.poll.right
    with_room(app, room, WHOSE)
    assert (room.poll.question, room.poll.is_closed) == (WHOSE, False)
    keys = drawn(app)
    assert keys.index("room-panel") < min(map(keys.index, filter(is_question, keys)))
    with_room(app, room)
    assert TOKENS in room.poll.question.asks


def test_the_room_turns_to_the_question_that_is_left(room):
    app = with_room(with_heads_measured(open_page("heads", **GUESSING, roles="on")), room)
    app.button(key="ask-role-scores").click()
    rerun(app)
    assert room.poll.question.asks.startswith("Which head has the largest")
    go_back(app, **GUESSING)
    assert room.poll.question.asks.startswith(HEADS)
    rerun(app)
