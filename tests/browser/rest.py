"""Where things are on a page that has stopped moving: its parts come one by one."""

import contextlib
import functools
import time

from playwright.sync_api import Error
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

TIMEOUT_MS = 120_000  # generous, for machines with few cores
STILL = 150  # milliseconds
AGAIN = 20  # milliseconds between two looks
RUNNING = "document.querySelector('.stApp')?.dataset.testScriptState === 'running'"
STALE = "document.querySelector('[data-stale=true]')"


def until(page, state, *passing):
    """Wait until a function returns something true, and return that.

    Exceptions of the types `passing` say that it is not so yet.
    """
    deadline = time.monotonic() + TIMEOUT_MS / 1000
    while True:
        try:
            if value := state():
                return value
        except passing:
            if time.monotonic() > deadline:
                raise
        assert time.monotonic() < deadline, f"This never came to hold: {state.__doc__ or state}"
        page.wait_for_timeout(AGAIN)


def once_alone(act):
    """Return an act on an element that waits while another one answers to the same words.

    An element that a run draws in another place stands beside its old self until the run ends.
    Playwright does not wait for that.
    """

    @functools.wraps(act)
    def acted(subject, *arguments, **options):
        deadline = time.monotonic() + TIMEOUT_MS / 1000
        while True:
            try:
                return act(subject, *arguments, **options)
            except (Error, AssertionError) as error:
                if "strict mode violation" not in str(error) or time.monotonic() > deadline:
                    raise
            time.sleep(AGAIN / 1000)

    return acted


def hover(locator, told):
    """Point at an element until `told` returns true: the page may still move it away."""

    def pointed():
        locator.hover()
        return told()

    return until(locator.page, pointed)


def ends_run(data):
    """Whether a message of the server says that a run of the page's script ended."""
    return ForwardMsg.FromString(data).WhichOneof("type") == "script_finished"


def count_runs(page):
    """Count in `page.ended_runs` the runs of the page's script, as the server says they ended."""
    page.ended_runs = 0

    def note(frame):
        page.ended_runs += ends_run(frame)

    page.on("websocket", lambda socket: socket.on("framereceived", note))


def settled(page):
    """Wait until the page's script is done and nothing is left of what it drew before."""
    page.wait_for_function(f"!({RUNNING}) && !{STALE}")


def tended(page):
    """Wait until the page is drawn and its script watches the keys and the address."""
    page.wait_for_function("() => Object.hasOwn(history, 'pushState')")
    settled(page)


@contextlib.contextmanager
def rerun(page):
    """Wait until a run of the page's script that is asked for within has ended.

    The server tells that: a page may not show a short run.
    """
    before = page.ended_runs
    yield

    def has_ended():
        """A run of the script has ended."""
        return page.ended_runs > before

    until(page, has_ended)
    settled(page)


def box_at_rest(locator, scroll=True):
    """The box of an element in view, once the server is done and the element keeps its place.

    Without `scroll` it is where the page shows it.
    """
    page = locator.page
    before, box = None, {}
    while not box or box != before:
        before = box
        page.wait_for_function(f"!({RUNNING})")
        page.wait_for_timeout(STILL)
        with contextlib.suppress(Error):  # the page puts a new element in place of the old one
            if scroll:
                locator.scroll_into_view_if_needed(timeout=3_000)
            box = locator.bounding_box() or {}
    return box
