import socket

import pytest
from starlette.websockets import WebSocketDisconnect

from headlight.pages.server.guards import is_own, only_own_names
from headlight.pages.shared.runs.limits import is_shared, open_to_others

HERE = ("localhost", "localhost:8501", "LOCALHOST", "127.0.0.1:8501", "[::1]:8501")
OTHERS = (
    "evil.example",
    "localhost.evil.example:8501",
    "evil.example:80",
    "",
    "[",
    "a b",
    "host:x",
)
ADDRESSES = ("192.0.2.7:8501", "[2001:db8::7]:8501")


def test_by_itself_the_app_answers_to_its_machine_alone():
    assert not open_to_others()
    assert not is_shared()
    assert all(map(is_own, HERE))
    assert not any(map(is_own, (*OTHERS, *ADDRESSES, socket.gethostname())))


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.0.2.7", None])
def test_open_to_others_it_answers_to_addresses_and_the_name_of_the_machine(options, address):
    options({"server.address": address, "browser.serverAddress": "Talk.example"})
    assert open_to_others()
    assert is_shared()
    name = socket.gethostname()
    assert all(map(is_own, (*HERE, *ADDRESSES, name, f"{name}.local:8501", "talk.example")))
    assert not any(map(is_own, OTHERS))


def test_names_that_are_given_are_the_only_ones(options):
    options({"server.address": "0.0.0.0", "server.allowedHosts": ["A.example", "*.b.example"]})
    assert all(map(is_own, ("a.example:8501", "A.EXAMPLE", "x.b.example")))
    assert not any(map(is_own, (*HERE, *OTHERS, *ADDRESSES, "b.example", "a.example.evil.example")))


@pytest.mark.parametrize(
    ("option", "name"),
    [
        ("server.allowedHosts", "headlight.example.org"),
        ("server.corsAllowedOrigins", "https://headlight.example.org"),
    ],
)
def test_an_app_that_a_proxy_can_give_another_name_is_shared(options, option, name):
    options({option: ["localhost"] if option == "server.allowedHosts" else ["http://localhost"]})
    assert not is_shared()
    options({option: [name]})
    assert is_shared()
    assert not open_to_others()


def test_every_path_is_refused_under_another_name_but_for_health(client):
    other = client(only_own_names, "evil.example:8501")
    for path in ("/", "/masks", "/_stcore/metrics", "/_stcore/host-config", "/x/_stcore/health"):
        assert other.get(path).status_code == 403
    assert "--server.allowedHosts" in other.get("/").text
    assert other.get("/_stcore/health").text == "inside"
    assert client(only_own_names).get("/").text == "inside"


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        (None, True),
        ("http://localhost:8501", True),
        ("http://localhost:3000", False),
        ("https://evil.example", False),
        ("null", False),
    ],
)
def test_a_page_of_another_host_opens_no_session(client, origin, allowed):
    headers = {"origin": origin} if origin else {}
    browser = client(only_own_names)
    assert (browser.get("/", headers=headers).status_code == 200) == allowed
    if allowed:
        with browser.websocket_connect(
            "ws://localhost:8501/_stcore/stream", headers=headers
        ) as session:
            assert session.receive_text() == "inside"
    else:
        with (
            pytest.raises(WebSocketDisconnect),
            browser.websocket_connect("ws://localhost:8501/_stcore/stream", headers=headers),
        ):
            pass


def test_an_origin_that_is_allowed_comes_in(client, options):
    options({"server.corsAllowedOrigins": ["https://talk.example"]})
    browser = client(only_own_names)
    assert browser.get("/", headers={"origin": "https://talk.example"}).text == "inside"
