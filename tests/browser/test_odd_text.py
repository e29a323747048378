"""What no one would call a sentence, typed and pasted into the boxes of every page."""

import pytest
from playwright.sync_api import expect

from headlight.pages.shared.state.choices import LONGEST_SENTENCE
from headlight.pages.shared.state.models import LONGEST_NAME
from tests.browser.rest import rerun, settled
from tests.matrix import first_of
from tests.odd_texts import ODD_TEXTS

PATHS = ("", "masks", "heads", "compare", "inside", "positions", "decoding", "models")
LONG = "100,000 characters"
NAMES = ("markup", "markdown", "control signs", LONG)  # see tests/pages/test_odd_text.py for all
# Python's own way to an odd text cannot take half of a character into a browser.
HALF = """box => {
  const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
  setter.call(box, "half \\ud83d of \\ude00 a sign");
  box.dispatchEvent(new Event("input", { bubbles: true }));
}"""


def expect_whole(page):
    """The page shows no error, and nothing of the text was run."""
    expect(page.get_by_test_id("stException")).to_have_count(0)
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x], svg[onload], a[href^=javascript]").count() == 0
    assert page.get_by_role("heading", level=1).is_visible()


@pytest.mark.parametrize("path", first_of(PATHS))
def test_a_page_takes_any_text(page, server, path):
    opened = []
    page.on("dialog", lambda dialog: (opened.append(dialog.message), dialog.dismiss()))
    page.goto(f"{server}/{path}")
    box = page.get_by_test_id("stMain").get_by_role("textbox").first
    box.wait_for()
    settled(page)
    for name in NAMES:
        box.fill(ODD_TEXTS[name])
        with rerun(page):
            box.press("Enter")
        expect_whole(page)
        if name == LONG:  # its beginning is taken
            assert len(box.input_value()) in (LONGEST_NAME, LONGEST_SENTENCE)
    box.evaluate(HALF)
    expect(box).to_have_value("half \ufffd of \ufffd a sign")
    with rerun(page):
        box.press("Enter")
    expect_whole(page)
    box.fill("I love my cat.")
    expect(box).to_have_value("I love my cat.")
    with rerun(page):
        box.press("Enter")
    expect_whole(page)
    expect(box).to_have_value("I love my cat.")
    assert opened == []
    assert [error for error in page.errors if "404" not in error] == []
