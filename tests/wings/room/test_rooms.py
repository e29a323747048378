"""Rooms: what counts as a guess, and who may know it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.wings.room import rooms
from headlight.wings.room.rooms import (
    AWAY,
    CHANGED,
    CLOSED,
    FORGOTTEN,
    FULL,
    NO_OPTION,
    NO_QUESTION,
    NOT_IN_ROOM,
    NOTHING_ASKED,
    ROOMS,
    TOO_MANY,
    Question,
    Room,
    close_room,
    lecturers_room,
    open_room,
)

WHICH = Question("Which?", ("one", "two", "three"), "We sing.")
OTHER = Question("Which?", ("one", "two", "three"), "They sing.")


@pytest.fixture(autouse=True)
def no_rooms(monkeypatch):
    monkeypatch.setattr(rooms, "ROOMS", {})
    monkeypatch.setitem(globals(), "ROOMS", rooms.ROOMS)


@pytest.fixture
def room():
    room = Room("ABCDE")
    room.pose(WHICH)
    return room


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), max_size=60))
def test_the_last_guess_of_every_phone_counts_once(guesses):
    room = Room("ABCDE")
    room.pose(WHICH)
    phones = [room.enter() for _ in range(10)]
    for phone, option in guesses:
        room.guess(phones[phone], room.poll.number, option)
    last = dict(guesses)
    assert room.shown_to_lecturer()["guesses"] == len(last)
    assert room.shown_to_lecturer()["counts"] == []
    room.close_guesses()
    assert room.shown_to_lecturer()["counts"] == [
        sum(option == guess for guess in last.values()) for option in range(3)
    ]


def test_nobody_sees_guesses_before_they_are_closed_or_guesses_after(room):
    first, second = room.enter(), room.enter()
    room.guess(first, 1, 2)
    assert room.shown_to_phone(second)["counts"] == []
    assert room.shown_to_phone(second)["guess"] is None
    assert room.shown_to_phone(first)["guess"] == 2
    room.close_guesses()
    with pytest.raises(ValueError, match=CLOSED):
        room.guess(second, 1, 0)
    assert room.shown_to_phone(second)["counts"] == [0, 0, 1]
    assert room.shown_to_phone(second)["right"] == ()
    room.close_guesses((1,))
    assert room.shown_to_phone(second)["right"] == (1,)


def test_another_question_has_no_guesses_and_the_same_one_keeps_them(room):
    phone = room.enter()
    room.guess(phone, 1, 2)
    room.pose(Question(*vars(WHICH).values()))
    assert room.shown_to_phone(phone)["guess"] == 2
    room.close_guesses((2,))
    room.pose(OTHER)
    state = room.shown_to_phone(phone)
    assert (state["guess"], state["closed"], state["right"]) == (None, False, ())
    assert state["sentence"] == "They sing."
    with pytest.raises(ValueError, match=CHANGED):
        room.guess(phone, 1, 2)
    room.guess(phone, 2, 0)
    room.pose(OTHER, again=True)
    assert room.shown_to_phone(phone)["guess"] is None
    with pytest.raises(ValueError, match=CHANGED):
        room.guess(phone, 2, 0)
    room.pose(WHICH)
    assert room.shown_to_phone(phone)["right"] == (2,)
    assert room.shown_to_lecturer()["counts"] == [0, 0, 1]


def test_a_room_keeps_the_guesses_on_so_many_questions(room, monkeypatch):
    monkeypatch.setattr(rooms, "MOST_POLLS", 2)
    phone = room.enter()
    room.guess(phone, 1, 2)
    room.pose(OTHER)
    room.guess(phone, 2, 1)
    room.pose(NO_QUESTION)
    room.pose(WHICH)
    assert room.shown_to_phone(phone)["guess"] is None
    assert room.poll.number == 4


def test_a_guess_comes_from_a_phone_in_the_room_and_names_an_option(room):
    phone = room.enter()
    for option in (-1, 3):
        with pytest.raises(ValueError, match=NO_OPTION):
            room.guess(phone, 1, option)
    with pytest.raises(ValueError, match=NOT_IN_ROOM):
        room.guess("somebody", 1, 0)
    with pytest.raises(ValueError, match=NOT_IN_ROOM):
        room.shown_to_phone("")


def test_phones_wait_while_the_screen_shows_no_question(room):
    phone = room.enter()
    room.guess(phone, 1, 1)
    room.hide()
    waiting = room.shown_to_phone(phone)
    assert (waiting["asks"], waiting["options"]) == ("", ())
    with pytest.raises(ValueError, match=CHANGED):
        room.guess(phone, NOTHING_ASKED.number, 0)
    room.show()
    assert room.shown_to_phone(phone)["guess"] == 1


def test_phones_that_are_away_count_only_if_they_have_guessed(room, monkeypatch):
    now = [1_000.0]
    monkeypatch.setattr(rooms.time, "monotonic", lambda: now[0])
    there, away, guessed = (room.enter() for _ in range(3))
    assert room.shown_to_lecturer()["phones"] == 0  # none has opened the page yet
    for phone in (there, away, guessed):
        room.shown_to_phone(phone)
    room.guess(guessed, 1, 0)
    assert room.shown_to_lecturer()["phones"] == 3
    now[0] += AWAY
    room.shown_to_phone(there)
    assert room.shown_to_lecturer()["phones"] == 2


def test_a_room_takes_so_many_phones_and_the_server_so_many_rooms(monkeypatch):
    monkeypatch.setattr(rooms, "MOST_PHONES", 2)
    monkeypatch.setattr(rooms, "MOST_ROOMS", 2)
    first, second = open_room(), open_room()
    assert first.code != second.code
    assert {*ROOMS} == {first.code, second.code}
    for _ in range(2):
        first.enter()
    with pytest.raises(ValueError, match=FULL):
        first.enter()
    with pytest.raises(ValueError, match=TOO_MANY.split(":")[0]):
        open_room()
    first.lecturer_seen -= FORGOTTEN + 1
    assert open_room().code in ROOMS
    assert first.code not in ROOMS


def test_a_closed_room_is_gone_and_a_key_opens_only_its_own():
    room, other = open_room(), open_room()
    assert lecturers_room(room.code, room.key) is room
    assert lecturers_room(room.code, other.key) is None
    assert lecturers_room(room.code, "é") is None
    close_room(room)
    close_room(room)
    assert lecturers_room(room.code, room.key) is None
