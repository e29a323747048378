from types import SimpleNamespace

import pytest
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from headlight.pages.server.guards import bounded_uploads
from headlight.pages.streamlit_fixes import kept_uploads

MEGABYTE = 1024**2


@pytest.fixture
def kept(monkeypatch, options):
    """The files that Streamlit keeps, of at most a megabyte each."""
    options({"server.maxUploadSize": 1})
    manager = MemoryUploadedFileManager("/_stcore/upload_file")
    runtime = SimpleNamespace(uploaded_file_mgr=manager)
    monkeypatch.setattr(kept_uploads, "get_instance", lambda: runtime)
    return manager


def add(manager, session, count):
    for number in range(count):
        file = UploadedFileRec(f"{number}", "name", "type", bytes(MEGABYTE))
        manager.add_file(session, file)


def test_a_visitor_uploads_four_files_and_others_go_on(client, kept):
    browser = client(bounded_uploads)
    add(kept, "one", 3)
    assert browser.put("/_stcore/upload_file/one/x").text == "inside"
    add(kept, "one", 4)
    refused = browser.put("/_stcore/upload_file/one/x")
    assert refused.status_code == 413
    assert "Too much was uploaded" in refused.text
    assert browser.put("/_stcore/upload_file/two/x").text == "inside"
    assert browser.delete("/_stcore/upload_file/one/x").text == "inside"
    kept.remove_session_files("one")
    assert browser.put("/_stcore/upload_file/one/x").text == "inside"


def test_all_visitors_together_upload_sixteen(client, kept):
    browser = client(bounded_uploads)
    for session in "abcd":
        add(kept, session, 4)
    assert browser.put("/_stcore/upload_file/e/x").status_code == 413
    kept.remove_file("a", "0")
    assert browser.put("/_stcore/upload_file/e/x").text == "inside"


def test_files_on_their_way_count(kept):
    inside = []

    async def app(scope, receive, send):
        inside.append(len(inside))
        if len(inside) <= 12:  # the next one comes while this one is on its way
            await guard(scope, receive, send)

    async def send(message):
        inside.append(message.get("status", 0))

    guard = bounded_uploads(app)
    scope = {"type": "http", "method": "PUT", "path": "/_stcore/upload_file/one/x", "headers": []}
    with pytest.raises(StopIteration):
        guard(scope, None, send).send(None)
    assert inside == [*range(4), 413, 0]
