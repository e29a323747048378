"""Where a notebook runs, and what shows the app there."""

import sys
from types import SimpleNamespace

import pytest

from headlight.frames import Place, address_of, frame, place

QUERY = "?token=abc&sentence=<b>&x=%22"


@pytest.fixture
def plain(monkeypatch):
    for name in ("JUPYTERHUB_SERVICE_PREFIX", "JUPYTERHUB_PUBLIC_URL", "VSCODE_PID"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_a_notebook_elsewhere_may_not_show_the_app(plain):
    where = place()
    assert where == Place("jupyter")
    assert where.framing == "http://localhost:* http://127.0.0.1:*"
    assert where.hosts == []


def test_a_hub_shows_it_below_the_persons_own_path(plain):
    plain.setenv("JUPYTERHUB_SERVICE_PREFIX", "/user/ada/")
    where = place()
    assert where.framing == ""
    assert address_of(where, 81) == "/user/ada/proxy/81/"
    plain.setenv("JUPYTERHUB_PUBLIC_URL", "https://hub.example/user/ada/")
    assert address_of(where, 81) == "https://hub.example/user/ada/proxy/81/"
    assert "<iframe" in frame(where, "a", 81, QUERY)


@pytest.mark.parametrize("kind", ["vscode", "colab"])
def test_where_no_frame_can_be_shown_there_is_a_link_and_a_sentence(plain, kind):
    if kind == "vscode":
        plain.setenv("VSCODE_PID", "1")
        address = "http://localhost:81/"
    else:
        address = "https://81.colab.example/"
        asked = []
        output = SimpleNamespace(eval_js=lambda code: asked.append(code) or address)
        plain.setitem(sys.modules, "google.colab", SimpleNamespace(output=output))
        plain.setitem(sys.modules, "google.colab.output", output)
    where = place()
    shown = frame(where, "a", 81, QUERY)
    assert where.kind == kind
    assert where.framing == ""
    assert "iframe" not in shown
    assert f'href="{address}?token=abc&amp;sentence=&lt;b&gt;' in shown
    assert "no app in a cell" in shown


@pytest.mark.parametrize("where", [Place("jupyter"), Place("proxy", "/user/a</script>/")])
def test_what_a_person_typed_is_no_markup(where):
    shown = frame(where, "a", 81, '?sentence=</script><script>alert("x")')
    assert shown.count("<script>") == shown.count("</script>") == 1
