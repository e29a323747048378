"""What phones and the lecturer's page are answered."""

import json

import pytest
from starlette.testclient import TestClient

from headlight.wings.room import rooms, routes
from headlight.wings.room.rooms import CLOSED, NOT_IN_ROOM, Question, close_room, open_room
from headlight.wings.room.routes import COOKIE, KEY, LECTURER, LONGEST, NO_GUESS, NO_ROOM

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def room():
    room = open_room()
    room.pose(Question("Which?", ("one", "two"), HOSTILE))
    yield room
    close_room(room)


@pytest.fixture
def phone(room):
    phone = TestClient(routes.app)
    assert phone.get(f"/room/{room.code}").status_code == 200
    return phone


def guess(phone, room, option, number=1):
    return phone.post(f"/room/{room.code}/guess", json={"number": number, "option": option})


def count(client, room, path="count", key=None):
    ask = client.get if path == "count" else client.post
    return ask(f"/room/{room.code}/{path}", headers={KEY: room.key if key is None else key})


def test_a_code_leads_to_its_room_however_it_is_typed(room):
    visitor = TestClient(routes.app)
    assert "The code on the screen" in visitor.get("/room").text
    for path in (f"/room?code=+{room.code.lower()}+", f"/room/{room.code.lower()}"):
        answer = visitor.get(path)
        assert answer.url.path == f"/room/{room.code}"
        assert f"Room {room.code}" in answer.text
    for path in ("/room?code=WRONG", "/room/WRONG", f"/room?code={HOSTILE}"):
        answer = visitor.get(path)
        assert answer.status_code == 404
        assert NO_ROOM in answer.text
        assert HOSTILE not in answer.text


def test_a_phone_that_reloads_is_the_same_phone(phone, room):
    guess(phone, room, 1)
    assert phone.get(f"/room/{room.code}").status_code == 200
    state = phone.get(f"/room/{room.code}/now").json()
    assert state == {
        "sentence": HOSTILE,
        "asks": "Which?",
        "options": ["one", "two"],
        "boards": [],
        "guess": 1,
        "number": 1,
        "closed": False,
        "counts": [],
        "right": [],
    }
    assert guess(phone, room, 0).json()["guess"] == 0
    assert count(TestClient(routes.app), room).json()["guesses"] == 1


def test_what_is_no_guess_is_refused(phone, room):
    path = f"/room/{room.code}/guess"
    for sent in (
        b"",
        b"1",
        b"null",
        b"\xff",
        b"[" * 150,
        json.dumps({"number": 1}).encode(),
        json.dumps({"number": 1, "option": "1"}).encode(),
        json.dumps({"number": 1, "option": 1.5}).encode(),
        b" " * (LONGEST + 1),
    ):
        answer = phone.post(path, content=sent)
        assert (answer.status_code, answer.json()["said"]) == (409, NO_GUESS)
    assert guess(phone, room, 7).status_code == 409
    assert guess(phone, room, 0, number=2).status_code == 409
    assert guess(TestClient(routes.app), room, 0).json()["said"] == NOT_IN_ROOM
    assert room.poll.guesses == {}


def test_only_the_lecturer_closes_guesses_and_sees_how_many_there_are(phone, room):
    guess(phone, room, 1)
    for path in ("count", "close", "leave"):
        for key in ("", "é".encode(), "wrong"):
            assert count(phone, room, path, key).status_code == 404
    assert phone.get(f"/room/{room.code}/close").status_code == 405
    lecturer = TestClient(routes.app)
    assert count(lecturer, room).json()["counts"] == []
    assert count(lecturer, room, "close").json()["counts"] == [0, 1]
    assert lecturer.cookies[LECTURER].strip('"') == f"{room.code} {room.key}"
    assert guess(phone, room, 0).json()["said"] == CLOSED
    assert count(lecturer, room, "leave").status_code == 200
    assert phone.get(f"/room/{room.code}/now").json()["asks"] == ""
    count(lecturer, room)
    assert phone.get(f"/room/{room.code}/now").json()["counts"] == [0, 1]


def test_a_phone_of_one_room_is_nobody_in_another(phone, room):
    other = open_room()
    name = phone.cookies[COOKIE]
    answer = TestClient(routes.app, cookies={COOKIE: name}).get(f"/room/{other.code}/now")
    assert answer.json()["said"] == NOT_IN_ROOM
    close_room(other)


def test_a_room_that_has_ended_or_is_full_says_so(phone, room, monkeypatch):
    monkeypatch.setattr(rooms, "MOST_PHONES", 1)
    full = TestClient(routes.app).get(f"/room/{room.code}")
    assert full.status_code == 503
    assert "This room is full" in full.text
    assert phone.get(f"/room/{room.code}").status_code == 200
    close_room(room)
    assert phone.get(f"/room/{room.code}/now").json()["said"] == NO_ROOM
    assert guess(phone, room, 0).json()["said"] == NO_ROOM
    assert phone.get(f"/room/{room.code}").status_code == 404


def test_the_files_of_the_page_are_these_alone(phone):
    assert phone.get("/room/file/phone.js").headers["content-type"].startswith("text/javascript")
    assert phone.get("/room/file/phone.css").headers["content-type"].startswith("text/css")
    assert phone.get("/room/file/phone.html").status_code == 404
    assert phone.get("/room/file/..%2Frooms.py").status_code == 404
