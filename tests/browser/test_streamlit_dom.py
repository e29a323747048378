"""Streamlit's DOM still has every name that pages/streamlit_fixes relies on."""

import re
import sys
from pathlib import Path

from headlight.pages.streamlit_fixes.styles import HERE
from tests.browser.fixtures import running_server
from tests.browser.rest import settled

BARE = Path(__file__).with_name("bare_page.py")
OPTIONS = ("--server.fileWatcherType", "none", "--browser.gatherUsageStats", "false")
COMMAND = (sys.executable, "-m", "streamlit", "run", str(BARE), *OPTIONS)
SELECTOR = re.compile(r"\.st[A-Z]\w+|\[data-(?:testid|test-|selected|orientation)[^\]]*\]")
COMMENT = re.compile(r"/\*.*?\*/|^//[^\n]*", re.DOTALL | re.MULTILINE)
STATES = ("[data-test-script-state=running]", "[data-test-connection-state=CONNECTED]")
NOT_THERE = "names => names.filter((name) => !document.querySelector(name))"


def selectors():
    """Return each class and each attribute of Streamlit's that a file of the fixes names."""
    files = [*HERE.glob("*.css"), *HERE.glob("*.js")]
    texts = [COMMENT.sub("", file.read_text(encoding="utf-8")) for file in files]
    return sorted({*STATES, *SELECTOR.findall("\n".join(texts))} - {"[data-testid]"})


def test_streamlit_still_has_all_that_the_fixes_name(page):
    missing = selectors()
    assert len(missing) > 40

    def look():
        missing[:] = page.evaluate(NOT_THERE, missing)

    def click(name):
        page.get_by_role("button", name=name, exact=True).click()

    with running_server(command=COMMAND, folder=BARE.parent) as server:
        page.goto(server)
        page.get_by_text("All is drawn.").wait_for()
        settled(page)
        page.locator(".js-plotly-plot").wait_for()
        look()
        page.get_by_label("Words").fill("a")
        look()
        page.get_by_role("combobox", name="Select").click()
        page.get_by_role("option", name="b").wait_for()
        look()
        page.keyboard.press("Escape")
        click("Popover")
        page.get_by_text("Popped up.").wait_for()
        look()
        page.keyboard.press("Escape")
        click("Toast")
        page.get_by_text("Said.").wait_for()
        look()
        click("Ask")
        page.get_by_text("Asked.").wait_for()
        look()
        page.keyboard.press("Escape")
        page.get_by_text("Asked.").wait_for(state="hidden")
        page.set_viewport_size({"width": 600, "height": 720})  # which folds the sidebar away
        click("Work")
        page.get_by_text("Working").wait_for()
        page.get_by_test_id("stStatusWidget").wait_for()
        look()
    assert missing == [], f"Streamlit's DOM lacks {', '.join(missing)}: mend what names them."
