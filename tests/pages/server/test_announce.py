import pytest

from headlight.pages.server import announce
from headlight.pages.server.announce import announcement, link

TOKEN = "correct horse+battery"


@pytest.fixture(autouse=True)
def alone(monkeypatch, options):
    monkeypatch.delenv("HEADLIGHT_TOKEN", raising=False)
    monkeypatch.setattr(announce, "get_internal_ip", lambda: "192.0.2.7")
    options({"browser.serverPort": 8501})


def test_by_itself_it_is_open_to_this_machine_only():
    for on_terminal in (True, False):
        said = announcement(on_terminal)
        assert "Headlight: http://localhost:8501\n" in said
        assert "this machine only" in said


def test_shared_without_a_token_it_says_that_all_may_come_in(options):
    options({"server.address": "0.0.0.0"})
    said = announcement(on_terminal=False)
    assert "Headlight: http://192.0.2.7:8501\n" in said
    assert "Open to everyone" in said
    assert "headlight --share" in said


def test_shared_with_a_token_the_terminal_has_link_and_code_and_a_log_neither(options, monkeypatch):
    options({"server.address": "0.0.0.0"})
    monkeypatch.setenv("HEADLIGHT_TOKEN", TOKEN)
    said = announcement(on_terminal=True)
    assert "http://192.0.2.7:8501/?token=correct+horse%2Bbattery\n" in said
    assert "has the link with the token" in said
    assert "▄" in said
    log = announcement(on_terminal=False)
    assert "horse" not in log
    assert "set HEADLIGHT_TOKEN yourself and open http://192.0.2.7:8501/?token=TOKEN" in log
    assert "▄" not in log


def test_the_link_has_the_address_that_it_listens_to_and_the_path(options):
    options({"server.address": "192.0.2.9", "server.baseUrlPath": "talks"})
    assert "http://192.0.2.9:8501/talks\n" in announcement(on_terminal=False)
    assert link("localhost") == "http://localhost:8501/talks"
