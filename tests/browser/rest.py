"""Where things are on a page that has stopped moving: its parts come one by one."""

import contextlib

from playwright.sync_api import Error

from pages.streamlit_fixes.late_address import UNDERWAY

STILL = 150  # milliseconds
RUNNING = "document.querySelector('.stApp')?.dataset.testScriptState === 'running'"
STALE = "document.querySelector('[data-stale=true]')"


def settled(page):
    """Wait until the page's script is done and nothing is left of what it drew before."""
    page.wait_for_function(f"!({RUNNING}) && !{STALE}")


def wait_for_address(page):
    """Wait until the server takes another address for a step of the browser.

    For a while after a page wrote its address, the server takes the one before it for one still
    underway (`pages/streamlit_fixes/late_address.py`); nothing on the page shows when this ends.
    """
    page.wait_for_timeout(1_000 * UNDERWAY + 200)


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
