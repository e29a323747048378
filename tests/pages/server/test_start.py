from queue import Queue

import pytest

from headlight.pages.server import start


@pytest.mark.parametrize("headless", [True, False])
def test_the_browser_of_who_starts_it_opens_the_app_with_the_token(
    monkeypatch, options, capsys, headless
):
    opened = []
    monkeypatch.setenv("HEADLIGHT_TOKEN", "correct horse")
    monkeypatch.setattr(start.webbrowser, "open", opened.append)
    monkeypatch.setattr(start, "ask_no_other_host", lambda: None)
    loaded = Queue()
    monkeypatch.setattr(start, "import_module", loaded.put)
    options({"server.headless": headless, "browser.serverPort": 8501})
    begin = start.announced(None).__aenter__()
    with pytest.raises(StopIteration):
        begin.send(None)
    assert loaded.get(timeout=60) == "headlight.pages.parts.pages"
    assert opened == ([] if headless else ["http://localhost:8501/?token=correct+horse"])
    assert "Headlight: http://localhost:8501" in capsys.readouterr().out
