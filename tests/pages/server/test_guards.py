import pytest

from headlight.pages.server.guards import framing_origins, with_policy


def test_no_other_page_shows_the_app_in_a_frame(client, monkeypatch):
    monkeypatch.delenv("HEADLIGHT_EMBED", raising=False)
    headers = client(with_policy).get("/").headers
    assert "frame-ancestors 'self'" in headers["content-security-policy"]
    assert headers["x-frame-options"] == "SAMEORIGIN"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


def test_pages_that_are_named_may_show_it(client, monkeypatch):
    monkeypatch.setenv(
        "HEADLIGHT_EMBED", "https://a.example, http://localhost:3000 https://*.b.example"
    )
    headers = client(with_policy).get("/").headers
    origins = "https://a.example http://localhost:3000 https://*.b.example"
    assert headers["content-security-policy"].endswith(f"frame-ancestors 'self' {origins}")
    assert "x-frame-options" not in headers


@pytest.mark.parametrize(
    "embed",
    ["a.example", "*", "https://", "https://a.example/path", "'self'", "https://a;script-src"],
)
def test_what_is_no_origin_is_refused(monkeypatch, embed):
    monkeypatch.setenv("HEADLIGHT_EMBED", embed)
    with pytest.raises(ValueError, match=r"HEADLIGHT_EMBED has .* but takes origins such as"):
        framing_origins()


def test_scripts_come_from_the_server_alone(client):
    policy = dict(
        part.split(" ", 1)
        for part in client(with_policy).get("/").headers["content-security-policy"].split("; ")
    )
    assert policy["default-src"] == "'self'"
    assert "'unsafe-inline'" not in policy["script-src"]
    assert "'unsafe-eval'" not in policy["script-src"]
    assert "'sha256-" in policy["script-src"]  # of the one in Streamlit's own page


def test_a_session_is_left_as_it_is(client):
    with client(with_policy).websocket_connect("ws://localhost:8501/_stcore/stream") as session:
        assert session.receive_text() == "inside"
