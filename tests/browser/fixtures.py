"""What the browser tests share: a server of the app, a browser, and pages that take notes."""

import contextlib
import http.client
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Error,
    Locator,
    LocatorAssertions,
    Page,
    expect,
    sync_playwright,
)

from tests.browser.install import LAUNCH, chromium_path
from tests.browser.rest import TIMEOUT_MS, count_runs, once_alone, until

ROOT = Path(__file__).resolve().parents[2]
HEADLIGHT = (sys.executable, "-m", "headlight")
LOCAL_HOSTS = {"127.0.0.1", "localhost"}
FAILED = pytest.StashKey[bool]()

expect.set_options(timeout=TIMEOUT_MS)


def wait_for_function(page, expression, arg=None):
    """Wait until something holds in the page, as Playwright does, but look from outside of it.

    Playwright's own waiting evaluates the text within the page, whose policy forbids that.
    """

    def holds():
        return page.evaluate(expression, arg)

    holds.__doc__ = expression
    until(page, holds, Error)  # an error: the page is on its way to another address


Page.wait_for_function = wait_for_function

ACTS = (
    *("blur", "bounding_box", "check", "clear", "click", "drag_to", "evaluate", "fill", "focus"),
    *("get_attribute", "hover", "inner_text", "input_value", "is_editable", "is_visible", "press"),
    *("press_sequentially", "screenshot", "scroll_into_view_if_needed", "select_option"),
    *("set_input_files", "tap", "text_content", "wait_for"),
)
for name in ACTS:
    setattr(Locator, name, once_alone(getattr(Locator, name)))
for name in [name for name in vars(LocatorAssertions) if name.startswith(("to_", "not_to_"))]:
    setattr(LocatorAssertions, name, once_alone(getattr(LocatorAssertions, name)))


@contextlib.contextmanager
def running_server(port=None, log=None, command=HEADLIGHT, folder=ROOT, **environment):
    """Serve the app from a new process and yield its address.

    `command` runs in `folder` and writes to the file `log`; `environment` adds to its variables.
    """
    port = port or _free_port()
    own = ["--server.address", "127.0.0.1", "--server.port", str(port), "--server.headless", "true"]
    with log or tempfile.TemporaryFile("w+", errors="replace") as log:
        process = subprocess.Popen(
            [*command, *own],
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait_until_healthy(process, port, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_until_healthy(process, port, log, seconds=120):
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/_stcore/health")
            if connection.getresponse().status == 200:
                return
        except (OSError, http.client.HTTPException):
            pass  # not listening yet
        finally:
            connection.close()
        time.sleep(0.2)
    log.seek(0)
    tail = "".join(log.readlines()[-40:])
    pytest.fail(f"The server did not come up within {seconds} s. Its log ends:\n{tail}")


@pytest.fixture(scope="session")
def start_server():
    """For a server that no page has visited: `with start_server() as url:`."""
    return running_server


@pytest.fixture(scope="session")
def server():
    """The address of the server that the tests share."""
    with running_server() as url:
        yield url


@pytest.fixture(scope="session")
def browser():
    path = chromium_path()  # before Playwright starts: it starts one of its own to look
    with sync_playwright() as playwright:
        launch = playwright.chromium.launch
        browser = launch(executable_path=path, timeout=TIMEOUT_MS, **LAUNCH)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def context(browser):
    """One for all tests: a new one would load and compile Streamlit's own scripts again."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(TIMEOUT_MS)
    yield context
    context.close()


@pytest.fixture
def page(context, request):
    """A new page; page.errors and page.foreign_requests list what went wrong."""
    page = context.new_page()
    page.errors = []
    page.foreign_requests = []

    def note_console(message):
        if message.type == "error":
            page.errors.append(message.text)

    def note_request(url):
        parts = urlsplit(url)
        if parts.hostname and parts.hostname not in LOCAL_HOSTS:
            page.foreign_requests.append(url)

    page.on("console", note_console)
    page.on("pageerror", lambda error: page.errors.append(str(error)))

    def note_sent(sent):
        note_request(sent.url)

    context.on("request", note_sent)
    page.on("websocket", lambda opened: note_request(opened.url))
    count_runs(page)
    yield page
    if request.node.stash.get(FAILED, False):
        name = re.sub(r"[^\w.-]+", "_", request.node.name)
        print(page.url, *page.errors, sep="\n")  # pytest shows it with the failure
        with contextlib.suppress(Error):  # a crashed page has no picture
            page.screenshot(path=ROOT / "test-results" / f"{name}.png")
    with contextlib.suppress(Error):  # a page without an address stores nothing
        page.evaluate("localStorage.clear()")
    for opened in context.pages:
        opened.close()
    context.remove_listener("request", note_sent)
    context.clear_cookies()
    context.clear_permissions()
    assert page.foreign_requests == []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Tell the page fixture whether its test failed."""
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report
