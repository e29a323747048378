"""What the browser's tab answers, when it is asked whose workshop it shows."""

import pytest
from streamlit.testing.v1 import AppTest

from headlight.pages.parts.pages import PAGES
from headlight.pages.shared.frame import frame
from headlight.pages.shared.state.models import Training, Workshop, new_key, workshop, workshops
from headlight.pages.shared.state.wings import Wing

ANSWER = "from headlight.pages.shared.frame import frame; frame._come_back()"


@pytest.fixture
def left():
    """A workshop with a training, as a session left it before a reload."""
    result = Workshop(training=Training("1. Reverse", None))
    workshops()[result.key] = result
    return result


@pytest.fixture
def answered(monkeypatch):
    """A factory of sessions whose tab gave an answer, its own key if none is given."""

    def make(answer=None, page="masks", **state):
        gone_to = []
        monkeypatch.setattr(frame, "picked", lambda name: answer or workshop().key)
        monkeypatch.setattr(frame.address, "go_again", gone_to.append)
        app = AppTest.from_string(ANSWER)
        for name, value in {"page": PAGES[page], **state}.items():
            app.session_state[name] = value
        app.run()
        assert not app.exception
        return app.session_state, gone_to

    return make


def test_an_answer_goes_again_to_the_address_that_waited_for_it(answered, left):
    state, gone_to = answered(left.key, awaited={"model": "own-1"})
    assert state["workshop"] is left
    assert gone_to == [{"model": "own-1"}]
    assert "awaited" not in state


def test_what_a_link_has_lost_is_noted_again_after_what_came_back(monkeypatch, left):
    monkeypatch.setattr(frame, "picked", lambda name: left.key)
    app = AppTest.from_string(ANSWER)
    app.session_state["page"], app.session_state["noted"] = PAGES["masks"], ("edits",)
    assert app.run().session_state["refused_parameters"] == ("edits",)


def test_the_own_key_after_a_reset_changes_nothing(answered):
    state, gone_to = answered(awaited={"model": "own-1"})
    assert not gone_to
    assert "awaited" not in state


@pytest.mark.parametrize(
    ("key", "why"),
    [
        (new_key(), frame.LEFT),
        ("another." + new_key().partition(".")[2], frame.RESTARTED),
        ("stale", frame.RESTARTED),
    ],
    ids=["left", "restarted", "older"],
)
def test_wings_are_told_what_is_gone_on_which_page_and_why(key, why, answered, monkeypatch):
    told = []
    monkeypatch.setattr(Wing, "lost", lambda wing, *given: told.append(given))
    monkeypatch.setattr(frame, "WINGS", [Wing()])
    state, _ = answered(key)
    assert state["workshop"].gone
    assert told == [(PAGES["masks"], why)]
