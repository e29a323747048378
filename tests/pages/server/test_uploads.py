import contextlib
from types import SimpleNamespace

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from headlight.pages.server import guards
from headlight.pages.server.guards import bounded_uploads
from headlight.pages.streamlit_fixes import kept_uploads

MEGABYTE = 1024**2


@pytest.fixture
def kept(monkeypatch, options):
    """The files that Streamlit keeps, of at most a megabyte each."""
    options({"server.maxUploadSize": 1})
    manager = MemoryUploadedFileManager("/_stcore/upload_file")
    manager.active = True
    runtime = SimpleNamespace(
        uploaded_file_mgr=manager, is_active_session=lambda session: manager.active
    )
    for module in (kept_uploads, guards):
        monkeypatch.setattr(module, "get_instance", lambda: runtime)
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
    refused = browser.put("/_stcore/upload_file/one/x", content=b"x")
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
    assert browser.put("/_stcore/upload_file/e/x", content=b"x").status_code == 413
    kept.remove_file("a", "0")
    assert browser.put("/_stcore/upload_file/e/x").text == "inside"


UPLOAD = "/_stcore/upload_file/one/x"


def upload(guard, declared, session="one"):
    """An upload as the server hears of it: a function that sends it bytes, and what it answers."""
    path = UPLOAD.replace("one", session)
    headers = [(b"content-length", str(declared).encode())] if declared is not None else []
    scope = {"type": "http", "method": "PUT", "path": path, "headers": headers}
    answers = []

    async def send(message):
        answers.append(message.get("status"))

    class Bytes:
        def __await__(self):
            return (yield)

    async def receive():
        return await Bytes()

    running = guard(scope, receive, send)
    with contextlib.suppress(StopIteration):
        running.send(None)

    def come(count):
        """Send bytes of the body; return the error that ends the upload, or its answers."""
        try:
            running.send({"type": "http.request", "body": bytes(count), "more_body": True})
        except (HTTPException, StopIteration) as ended:
            return ended
        return None

    return SimpleNamespace(come=come, answers=answers, end=running.close)


async def reading(scope, receive, send):
    while True:
        await receive()


def test_an_unfinished_file_takes_only_the_room_of_what_has_come(kept):
    guard = bounded_uploads(reading)
    begun = [upload(guard, 1000, f"visitor {number % 5}") for number in range(200)]
    assert all(each.come(10) is None for each in begun)
    other = upload(guard, MEGABYTE, "other")
    assert other.come(MEGABYTE) is None
    assert other.answers == []


def test_what_has_come_counts_until_the_upload_ends(kept):
    guard = bounded_uploads(reading)
    begun = [upload(guard, declared=None) for _ in range(5)]
    assert all(each.come(MEGABYTE) is None for each in begun[:4])
    assert begun[4].come(1).status_code == 413
    assert upload(guard, 1).answers[0] == 413
    begun[0].end()
    again = upload(guard, MEGABYTE)
    assert again.come(MEGABYTE) is None
    assert again.come(1).status_code == 413


def test_it_ends_with_the_visit(kept):
    left = upload(bounded_uploads(reading), 1000)
    assert left.come(10) is None
    kept.active = False
    assert left.come(10).status_code == 413


def test_a_connection_that_ends_is_no_fault(kept):
    async def app(scope, receive, send):
        raise ClientDisconnect

    guard = bounded_uploads(app)
    with pytest.raises(StopIteration):
        guard({"type": "http", "method": "PUT", "path": UPLOAD, "headers": []}, None, None).send(
            None
        )
