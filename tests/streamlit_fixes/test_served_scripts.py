import pytest

from headlight.pages.streamlit_fixes import served_scripts
from headlight.pages.streamlit_fixes.served_scripts import published, with_scripts

SCRIPT = "console.log('é');" * 100


@pytest.fixture
def browser(client, monkeypatch):
    monkeypatch.setattr(served_scripts, "_scripts", {})
    return client(with_scripts)


def test_a_script_is_fetched_from_its_address_and_kept(browser):
    address = published("it", SCRIPT)
    assert address == "/_stcore/it.js"
    for encoding in ("gzip", "identity"):
        answer = browser.get(address, headers={"accept-encoding": encoding})
        assert answer.text == SCRIPT
        assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
        assert "immutable" in answer.headers["cache-control"]
    assert "content-encoding" not in answer.headers
    assert int(browser.get(address).headers["content-length"]) < len(SCRIPT) / 2


def test_the_address_is_below_that_of_the_app(browser, options):
    options({"server.baseUrlPath": "/lecture/"})
    assert published("it", SCRIPT) == "/lecture/_stcore/it.js"
    assert browser.get("/lecture/_stcore/it.js").text == SCRIPT


def test_what_was_not_published_is_left_to_the_app(browser):
    published("it", SCRIPT)
    assert browser.get("/_stcore/other.js").text == "inside"
    assert browser.get("/").text == "inside"
