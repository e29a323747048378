import pytest
from starlette.websockets import WebSocketDisconnect

from headlight.pages.server.door import COOKIE, access_token, behind_door, same

TOKEN = "a token+with&odd=characters"
LINK = "?token=a+token%2Bwith%26odd%3Dcharacters"


@pytest.fixture
def browser(client, monkeypatch):
    """A browser before an app that opens with a token."""
    monkeypatch.setenv("HEADLIGHT_TOKEN", TOKEN)
    return client(behind_door)


def refused(browser, path):
    """Whether a session is refused before it begins."""
    try:
        with browser.websocket_connect(f"ws://localhost:8501{path}") as session:
            return session.receive_text() != "inside"
    except WebSocketDisconnect:
        return True


def test_without_the_token_nothing_is_seen_but_health(browser):
    for path in (
        "/",
        "/masks?sentence=x",
        "/static/js/index.js",
        "/_stcore/host-config",
        "/media/x",
    ):
        answer = browser.get(path)
        assert answer.status_code == 403
        assert "inside" not in answer.text
    assert browser.put("/_stcore/upload_file/a/b").status_code == 403
    assert refused(browser, "/_stcore/stream")
    assert browser.get("/_stcore/health").text == "inside"


@pytest.mark.parametrize("wrong", ["", "a", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "é"])
def test_a_wrong_token_opens_nothing(browser, wrong):
    answer = browser.get("/", params={"token": wrong})
    assert answer.status_code == 403
    assert "not the right token" in answer.text
    assert "not the right token" not in browser.get("/").text
    browser.cookies[COOKIE] = "46a3057d"
    assert browser.get("/").status_code == 403
    assert refused(browser, "/_stcore/stream")


def test_the_token_is_needed_once_and_leaves_the_address(browser):
    answer = browser.get(f"/masks{LINK}&sentence=a%20b&x=%26&x=2")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/masks?sentence=a+b&x=%26&x=2"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "token" not in cookie
    for path in ("/masks", "/static/js/index.js", "/_stcore/metrics"):
        assert browser.get(path).text == "inside"
    assert not refused(browser, "/_stcore/stream")
    assert browser.get("/?token=wrong").headers["location"] == "/"


def test_what_is_no_browser_may_give_the_token_each_time(browser):
    assert browser.get(f"/_stcore/metrics{LINK}").text == "inside"
    assert not refused(browser, f"/_stcore/stream{LINK}")
    assert refused(browser, "/_stcore/stream?token=wrong")


@pytest.mark.parametrize("path", ["//evil.example/", "/%5Cevil.example/", "///evil.example"])
def test_the_way_on_never_leads_to_another_host(browser, path):
    location = browser.get(f"http://localhost:8501{path}{LINK}").headers["location"]
    assert location.startswith("/evil.example")


def test_the_closed_door_shows_what_was_asked_for_as_text(browser):
    answer = browser.get("/?a=<script>&b=%22x")
    assert "<script>" not in answer.text
    assert 'name="a" value="&lt;script&gt;"' in answer.text
    assert 'name="b" value="&quot;x"' in answer.text
    assert answer.headers["cache-control"] == "no-store"


def test_without_a_token_the_door_is_open_but_what_is_counted_is_for_nobody(client, monkeypatch):
    monkeypatch.delenv("HEADLIGHT_TOKEN", raising=False)
    browser = client(behind_door)
    assert browser.get("/").text == "inside"
    assert not refused(browser, "/_stcore/stream")
    for path in ("/_stcore/metrics", "/_stcore/metrics?token="):
        assert browser.get(path).status_code == 404
    answer = browser.get("/masks?token=old&head=2")
    assert answer.headers["location"] == "/masks?head=2"
    assert "set-cookie" not in answer.headers


def test_below_an_address_of_its_own_the_same_paths_are_open(browser, options):
    options({"server.baseUrlPath": "/talks/"})
    assert browser.get("/talks/_stcore/health").text == "inside"
    assert browser.get("/_stcore/health/").status_code == 403
    assert browser.get(f"/talks/_stcore/metrics{LINK}").text == "inside"


@pytest.mark.parametrize(
    ("embed", "expected"),
    [("", "SameSite=Lax; Secure"), ("https://a.example", "SameSite=None; Secure; Partitioned")],
)
def test_over_https_the_cookie_is_for_https_and_for_frames_where_they_are(
    client, monkeypatch, embed, expected
):
    monkeypatch.setenv("HEADLIGHT_TOKEN", TOKEN)
    monkeypatch.setenv("HEADLIGHT_EMBED", embed)
    for browser, headers in (
        (client(behind_door, scheme="https"), {}),
        (client(behind_door), {"x-forwarded-proto": "https"}),
    ):
        assert browser.get(f"/{LINK}", headers=headers).headers["set-cookie"].endswith(expected)


def test_a_token_that_can_be_guessed_is_refused(monkeypatch):
    monkeypatch.setenv("HEADLIGHT_TOKEN", "attention")
    with pytest.raises(ValueError, match="HEADLIGHT_TOKEN is too short: take at least 12"):
        access_token()


def test_texts_are_compared_whole():
    assert same("é", "é")
    assert not same("", "x")
