"""Several processes of the app behind one address, as `make serve` starts them."""

import contextlib
import os
import shutil
import signal
import time
import urllib.request
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from bench.crowd import family, serving
from headlight.pages.server.serving import COOKIE, WHERE
from tests.browser.rest import RUNNING, count_runs, rerun, until

pytestmark = pytest.mark.skipif(
    not shutil.which("haproxy", path=WHERE), reason="HAProxy is not installed."
)


@pytest.fixture(scope="module")
def served():
    """The app by two processes; at the end, nothing of them is left."""
    with serving(2) as started:
        yield started
        processes = family(started.process)
    assert not [process for process in processes if Path(f"/proc/{process}").exists()]


@pytest.fixture
def visitors(browser):
    """A factory of pages, each of a visitor with cookies of their own."""
    with contextlib.ExitStack() as stack:

        def come(address):
            context = stack.enter_context(contextlib.closing(browser.new_context()))
            page = context.new_page()
            page.sockets = []
            page.on("websocket", lambda opened: page.sockets.append(opened))
            count_runs(page)
            page.goto(f"{address}/?sentence=We+eat.")
            arrived(page, "We eat.")
            return page

        yield come


def arrived(page, sentence):
    """Wait until a page shows a sentence, and what comes of it."""
    expect(page.get_by_role("textbox", name="Sentence")).to_have_value(sentence)
    page.wait_for_function(f"!({RUNNING})")
    expect(page.get_by_role("heading", name="Attention", level=1)).to_be_visible()


def enter(page, sentence):
    box = page.get_by_role("textbox", name="Sentence")
    with rerun(page):
        box.fill(sentence)
        box.press("Enter")
    page.wait_for_url(f"**sentence={sentence.replace(' ', '+')}*")
    arrived(page, sentence)


def worker_of(page):
    """The number of the worker to which a visitor is handed."""
    return next(
        int(cookie["value"]) for cookie in page.context.cookies() if cookie["name"] == COOKIE
    )


def workers(served):
    """The processes of the workers, in their order."""
    started = (process for process in family(served.process) if process != served.process)
    return sorted(
        process
        for process in started
        if b"streamlit" in Path(f"/proc/{process}/cmdline").read_bytes()
    )


def health(served):
    return urllib.request.urlopen(f"{served.address}/_stcore/health", timeout=60).read()


def newcomer(served):
    """The number of the worker to which a new visitor is handed; None if it does not answer."""
    try:
        with urllib.request.urlopen(served.address, timeout=10) as answer:
            cookies = SimpleCookie(answer.headers["Set-Cookie"])
    except OSError:
        return None
    return int(cookies[COOKIE].value)


def newcomers(served, wanted):
    """Let visitors come until six in a row are handed to the wanted workers."""
    deadline = time.monotonic() + 120
    while {newcomer(served) for _ in range(6)} != wanted:
        assert time.monotonic() < deadline


@pytest.mark.matrix
def test_newcomers_pass_by_a_worker_that_hangs_until_it_goes_on(served):
    hung = workers(served)[0]
    newcomers(served, {1, 2})
    os.kill(hung, signal.SIGSTOP)
    try:
        newcomers(served, {2})
    finally:
        os.kill(hung, signal.SIGCONT)
    newcomers(served, {1, 2})


@pytest.mark.matrix
def test_a_link_as_long_as_its_texts_can_be_is_answered(served):
    text = quote("\N{GRINNING FACE}" * 4000)
    with urllib.request.urlopen(f"{served.address}/?sentence={text}", timeout=60) as answer:
        assert answer.status == 200


@pytest.mark.matrix
def test_visitors_are_spread_and_stay_where_they_came_to(served, visitors):
    first, second = visitors(served.address), visitors(served.address)
    assert {worker_of(first), worker_of(second)} == {1, 2}
    for page, sentence in ((first, "They sing."), (second, "She reads.")):
        stays = worker_of(page)
        page.reload()
        arrived(page, "We eat.")
        enter(page, sentence)
        assert worker_of(page) == stays
    assert health(served) == b"ok"


@pytest.mark.matrix
def test_a_worker_that_is_killed_costs_its_visitors_a_moment_and_others_nothing(served, visitors):
    hit, other = visitors(served.address), visitors(served.address)
    enter(hit, "They sing.")
    enter(other, "She reads.")
    before, killed = workers(served), worker_of(hit)
    hit.evaluate("window.here = true")
    with rerun(hit):  # the page connects by itself, and is not loaded again
        os.kill(before[killed - 1], signal.SIGKILL)
    assert len(hit.sockets) > 1
    arrived(hit, "They sing.")
    enter(hit, "I sleep.")
    assert hit.evaluate("window.here")
    assert health(served) == b"ok"
    enter(other, "He writes.")
    assert len(other.sockets) == 1
    until(hit, lambda: {*workers(served)} - {*before})
