"""Who gets in: by name, by page, by token and in a frame; and that nobody else is asked."""

import contextlib
import http.client
import json
import socket
import urllib.request
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from headlight.pages.parts.pages import PAGES
from tests.browser.hosts import listening
from tests.browser.rest import settled

TOKEN = "correct horse+battery"
ELSEWHERE = "http://evil.example"


@pytest.fixture(scope="module")
def closed(start_server):
    """The address of a server that opens with a token."""
    with start_server(HEADLIGHT_TOKEN=TOKEN) as url:
        yield url


def session(url, **options):
    """The status with which a session is answered; 101 opens it."""
    try:
        with connect(f"ws{url.removeprefix('http')}/_stcore/stream", proxy=None, **options):
            return 101
    except InvalidStatus as error:
        return error.response.status_code


def status(url, path, **headers):
    """The status of an answer to a request with these headers."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    connection.request("GET", path, headers=headers)
    with contextlib.closing(connection):
        return connection.getresponse().status


def test_a_name_that_was_pointed_here_is_refused(server):
    port = urlsplit(server).port
    name = f"evil.example:{port}"
    for path in ("/", "/masks", "/_stcore/host-config", "/_stcore/metrics"):
        assert status(server, path, Host=name) == 403
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Origin": f"http://{name}"}
    upgrade |= {"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    assert status(server, "/_stcore/stream", Host=name, **upgrade) == 403
    own = f"localhost:{port}"
    assert status(server, "/", Host=own) == 200
    upgrade["Origin"] = f"http://{own}"
    assert status(server, "/_stcore/stream", Host=own, **upgrade) == 101


def test_a_page_of_another_host_opens_no_session(server):
    assert session(server) == 101
    assert session(server, origin=server) == 101
    for origin in (ELSEWHERE, "http://localhost:1", "null"):
        assert session(server, origin=origin) == 403


def test_no_page_that_shows_the_app_may_steer_it(server):
    with urllib.request.urlopen(f"{server}/_stcore/host-config") as answer:
        assert json.load(answer)["allowedOrigins"] == []


@pytest.mark.matrix
def test_no_other_host_is_asked_before_a_session_is_refused_or_opened(start_server, page):
    friend = "https://talk.example"
    with listening() as (proxy, asked):
        names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
        proxies = dict.fromkeys(names, proxy) | {"NO_PROXY": "", "no_proxy": ""}
        with start_server(STREAMLIT_SERVER_CORS_ALLOWED_ORIGINS=friend, **proxies) as url:
            assert [session(url, origin=ELSEWHERE) for _ in range(5)] == [403] * 5
            assert session(url, origin=friend) == 101
            page.goto(url)
            settled(page)
            assert asked == []


def test_the_sink_sees_what_is_asked_for():
    with (
        listening() as (proxy, asked),
        socket.create_connection(urlsplit(proxy).netloc.split(":")) as one,
    ):
        one.sendall(b"GET http://checkip.example/ HTTP/1.0\r\n\r\n")
        assert one.recv(1)
        assert asked == ["GET http://checkip.example/ HTTP/1.0"]


@pytest.mark.matrix
def test_the_token_opens_the_pages_and_is_in_no_address(page, closed):
    assert session(closed) == 403
    page.goto(f"{closed}/masks?sentence=I+love+my+cat.")
    expect(page.get_by_text("opens with a link that contains a token")).to_be_visible()
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_label("English sentence")).to_have_value("I love my cat.")
    assert "token" not in page.url
    page.get_by_role("link", name="Heads", exact=True).click()
    expect(page.get_by_role("heading", name="Heads", level=1)).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Heads", level=1)).to_be_visible()
    assert "token" not in page.url
    (cookie,) = (item for item in page.context.cookies() if item["name"] == "headlight_door")
    assert cookie["httpOnly"]
    assert (
        session(closed, additional_headers={"Cookie": f"headlight_door={cookie['value']}"}) == 101
    )


def test_a_link_with_the_token_opens_at_once(page, closed):
    page.goto(f"{closed}/?token=correct+horse%2Bbattery&sentence=We+leave+today.")
    expect(page.get_by_label("English sentence")).to_have_value("We leave today.")
    assert "token" not in page.url


def framing(url):
    return f'<iframe src="{url}/masks?embed=true" width="1200" height="700"></iframe>'.encode()


@pytest.mark.matrix
def test_a_page_that_may_frame_the_app_shows_it(start_server, page):
    framing_page = bytearray()
    with listening(framing_page) as (origin, _), start_server(HEADLIGHT_EMBED=origin) as url:
        framing_page += framing(url)
        page.goto(origin)
        frame = page.frame_locator("iframe")
        expect(frame.get_by_label("English sentence")).to_be_visible()
        expect(frame.locator("canvas").first).to_be_visible()


def test_no_other_page_shows_it_in_a_frame(server, page):
    with listening(framing(server)) as (origin, _):
        page.goto(origin)
        page.wait_for_load_state()
        assert any("frame-ancestors" in error for error in page.errors)


@pytest.mark.matrix
def test_every_page_keeps_to_the_policy(page, server):
    page.add_init_script(
        "window.broken = [];"
        "addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) =>"
        "  broken.push(`${effectiveDirective} ${blockedURI}`))"
    )
    for item in PAGES.values():
        page.goto(f"{server}/{'' if item.file == 'app.py' else item.key}")
        page.get_by_role("heading", level=1).first.wait_for()
        settled(page)
        assert page.evaluate("broken") == []
    assert not [error for error in page.errors if "Content Security Policy" in error]
