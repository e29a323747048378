"""What the tests in Firefox and WebKit share: a server of the app, and a window of each browser."""

import re
from pathlib import Path

import pytest

from tests.browser.fixtures import running_server
from tests.browser.rest import RUNNING, STALE
from tests.browsers.firefox import Firefox
from tests.browsers.webkit import WebKit

ROOT = Path(__file__).resolve().parents[2]
FAILED = pytest.StashKey[bool]()
SETTLED = f"!({RUNNING}) && !{STALE}"
# Streamlit's own questions below a page, what only says that a size comes a frame later, and the
# same in a file, where WebKit hides what an error says.
NOT_OURS = re.compile(
    "_stcore/(health|host-config)|ResizeObserver loop|^Script error"
    "|when disconnected from server"  # as a page is left
    "|font: download failed .*status=2152398850"  # NS_BINDING_ABORTED: it is needed no more
)


@pytest.fixture(scope="session")
def translator(shipped):
    """The model that the app loads."""
    return shipped


@pytest.fixture(scope="session")
def server():
    with running_server() as url:
        yield url


@pytest.fixture(scope="session", params=[Firefox, WebKit], ids=lambda each: each.name)
def started(request):
    browser = request.param()
    with browser.closing:
        yield browser


@pytest.fixture
def browser(started, request):
    """A window that has kept nothing; its console must stay without errors of the app."""
    (window,) = started.windows()
    started.errors()
    yield started
    if request.node.stash.get(FAILED, False):
        name = re.sub(r"[^\w.-]+", "_", request.node.name)
        (ROOT / "test-results").mkdir(exist_ok=True)
        (ROOT / "test-results" / f"{name}.png").write_bytes(started.screenshot())
    errors = started.errors()
    started.turn_back_to(window)
    started.evaluate("localStorage.clear()")
    started.open("about:blank")
    assert [error for error in errors if not NOT_OURS.search(error)] == []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Tell the browser's fixture whether its test failed."""
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report
