"""A room in Firefox and WebKit: a phone that guesses, and the lecturer's page."""

import threading
from contextlib import closing
from socket import create_server

import pytest
import uvicorn

from headlight.wings.room import routes
from headlight.wings.room.rooms import Question, close_room, open_room
from tests.browsers.conftest import SETTLED

HOSTILE = "<b>نعم</b>"
TYPED = Question("Is it “$x$”?", ("yes", HOSTILE))
HEADS = Question(
    "Which head?",
    ("Encoder, head 1", "Encoder, head 2", "Decoder, head 1"),
    boards=(("Encoder", 1, 2), ("Decoder", 1, 1)),
)
BUTTONS = "all('.options button').map((button) => button.textContent)"
PRESSED = "document.querySelectorAll('[aria-pressed=true]').length"


@pytest.fixture(scope="module")
def phones():
    """The address of a server for phones alone, whose rooms are in this process."""
    with closing(create_server(("127.0.0.1", 0))) as socket:
        serving = uvicorn.Server(uvicorn.Config(routes.app, log_level="error"))
        thread = threading.Thread(target=serving.run, args=[[socket]])
        thread.start()
        yield f"http://127.0.0.1:{socket.getsockname()[1]}/room"
        serving.should_exit = True
        thread.join()


def test_a_phone_guesses_reloads_and_is_told_the_answer(browser, phones):
    room = open_room()
    browser.open(f"{phones}/{room.code.lower()}")
    browser.see("says", "Wait for the next question.")
    room.pose(TYPED)
    browser.see("says", TYPED.asks)
    assert browser.evaluate(BUTTONS) == ["yes", HOSTILE]
    browser.click_on(".options button", "yes")
    browser.see("says", "Your guess counts.")
    browser.click_on(".options button", HOSTILE)
    browser.see(f"{PRESSED} === 1 && seen('[aria-pressed=true]', 'نعم').length")
    browser.open(f"{phones}/{room.code}")
    browser.see(f"{PRESSED} === 1 && seen('[aria-pressed=true]', 'نعم').length")
    assert [*room.poll.guesses.values()] == [1]
    room.close_guesses((0,))
    browser.see("says", "It is yes.")
    assert browser.evaluate(BUTTONS) == ["yes ✓", f"{HOSTILE}1"]
    room.pose(HEADS)
    browser.click_on(".layer button", "Decoder, head 1")
    browser.see(f"{PRESSED} === 1")
    assert [*room.poll.guesses.values()] == [2]
    assert browser.evaluate("wordsOf('h2')") == ["Encoder", "Decoder"]
    close_room(room)
    browser.see("says", "or it has ended")


def test_a_page_shows_a_room_and_its_guesses(browser, server):
    browser.open(f"{server}/?guess=on")
    browser.see(f"seen('button', 'Keys: ?').length && {SETTLED}")
    browser.click_on("button", "Room")
    browser.click_on("button", "Open a room")
    browser.see("says", "Code: ")
    browser.click_on("[role=dialog] [aria-label=Close]")
    browser.see("says", "0 of 0 phones have guessed")
    browser.click_on(".room .enlarge")
    browser.see("seen('.room dialog').length")
    browser.press("Escape")
    browser.see("!seen('.room dialog').length")
    browser.press("g")
    browser.see("says", "Nobody has guessed.")
