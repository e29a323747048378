"""What a visitor types stays in the session: in no file, in no log, with no other host."""

import contextlib
import os
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from headlight.pages.parts.pages import PAGES
from tests.browser.entries import of_wings
from tests.browser.rest import settled, until
from tests.matrix import first_of

ROOT = Path(__file__).resolve().parents[2]
WITHOUT_BOX = {"model": None} | of_wings("WITHOUT_BOX")  # before anything is done
MARK = "quincunx zeugma"  # typed nowhere else
# Written by the tests and tools, not by the app.
OWN = (
    ".venv",
    "test-results",
    ".pytest_cache",
    ".hypothesis",
    ".git",
    ".ruff_cache",
)


def changed_files(folders, since):
    """The files that were written since then."""
    for folder in folders:
        for path, names, files in os.walk(folder):
            if Path(path) == ROOT:
                names[:] = [name for name in names if name not in OWN]
            for file in map(Path(path).joinpath, files):
                with contextlib.suppress(OSError):  # gone again
                    if file.stat().st_mtime >= since:
                        yield file


@pytest.fixture(scope="module")
def watched(start_server, tmp_path_factory):
    """A server with folders of its own; yields its address, its log, and what to look through."""
    home, temporary = (tmp_path_factory.mktemp(name) for name in ("home", "temporary"))
    path = tmp_path_factory.mktemp("log") / "log.txt"
    places = {"HOME": str(home), "TMPDIR": str(temporary), "HF_HOME": str(home / "hub")}
    with (
        path.open("w+", errors="replace") as log,
        start_server(log=log, HF_HUB_OFFLINE="1", **places) as address,
    ):
        yield address, path, (home, temporary, ROOT)


def visit(page, address):
    """Open a page and wait until it has nothing left to do."""
    page.goto(address)
    page.get_by_role("heading", level=1).first.wait_for()
    settled(page)


def enter(page, box, text):
    """Type a text into a box and enter it; again if the page drew the box anew meanwhile."""
    before = page.ended_runs

    def has_ended():
        """A run of the script has ended."""
        if page.ended_runs == before and box.input_value() != text:
            box.fill(text)
            box.press("Control+Enter" if box.evaluate("box => box.rows") else "Enter")
        return page.ended_runs > before

    until(page, has_ended)
    settled(page)


def type_everywhere(page, text):
    """Type a text into every box of a page, and enter it."""
    boxes = page.get_by_test_id("stMain").get_by_role("textbox")
    boxes.first.wait_for()
    for position in range(boxes.count()):
        box = boxes.nth(position)
        if box.is_editable():
            enter(page, box, f"{text} {position}")  # not what is in it already


@pytest.mark.parametrize("key", first_of(PAGES))
def test_what_is_typed_is_in_no_file_and_no_log_and_goes_to_no_other_host(page, watched, key):
    address, log, folders = watched
    since = time.time() - 1
    path = "" if PAGES[key].file == "app.py" else key
    visit(page, f"{address}/{path}?sentence={quote(MARK)}&target={quote(MARK)}&head={quote(MARK)}")
    if key not in WITHOUT_BOX:
        type_everywhere(page, MARK)
    if key == "models":
        expect(page.get_by_text("could not be loaded")).to_be_visible()
    if act := of_wings("TYPE_ELSEWHERE").get(key):
        act(page, MARK)
    assert page.foreign_requests == []
    forms = {MARK, quote(MARK), MARK.replace(" ", "+"), MARK.split()[0]}
    results = [
        str(file)
        for file in (*changed_files(folders, since), log)
        if any(form.encode() in file.read_bytes() for form in forms)
    ]
    assert results == []


def test_the_search_finds_what_is_written(tmp_path):
    since = time.time() - 1
    (tmp_path / "kept.txt").write_text(MARK)
    assert list(changed_files([tmp_path], since)) == [tmp_path / "kept.txt"]
