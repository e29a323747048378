"""Where the running app shows the scene of a slide."""

from types import SimpleNamespace

import pytest

import pages.parts.pages  # noqa: F401, what slides are of
from pages.shared.link import live
from pages.shared.link.slides import Slide

SCENE = {"v": "2", "sentence": "Is “it” <b>&?"}
QUERY = "v=2&sentence=Is+%E2%80%9Cit%E2%80%9D+%3Cb%3E%26%3F"


@pytest.mark.parametrize(
    ("url", "page", "link"),
    [
        ("http://localhost:8501/talk?talk=1", "masks", "http://localhost:8501/masks?"),
        ("http://localhost:8501/talk", "attention", "http://localhost:8501/?"),
        ("http://localhost:8501", "masks", "http://localhost:8501/masks?"),
        ("https://a.org/base/talk#x", "masks", "https://a.org/base/masks?"),
    ],
)
def test_a_scene_is_at_its_page_of_the_same_app(monkeypatch, url, page, link):
    monkeypatch.setattr(live.st, "context", SimpleNamespace(url=url))
    assert live.link_of(Slide(page, SCENE)) == link + QUERY
    assert live.link_of(Slide(title="Words")) == ""


@pytest.mark.parametrize("url", [None, "", "javascript:alert(1)"])
def test_without_an_address_there_is_no_link(monkeypatch, url):
    monkeypatch.setattr(live.st, "context", SimpleNamespace(url=url))
    assert live.link_of(Slide("masks", SCENE)) == ""


def test_an_address_of_this_machine_is_one_that_phones_cannot_reach():
    for host in ("localhost:8501", "127.0.0.1", "[::1]:8501"):
        assert live.is_of_this_machine(f"http://{host}/masks")
    for link in ("http://192.168.0.2:8501/", "https://localhost.org", ""):
        assert not live.is_of_this_machine(link)
