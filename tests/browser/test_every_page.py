"""Every page: nothing serious for axe-core, and nothing wider than a phone."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from headlight.pages.parts.pages import PAGES
from tests.browser.entries import of_wings
from tests.browser.rest import settled, until
from tests.matrix import first_of

ADDRESSES = {
    "": "All heads",
    "?picture=lines": "All heads",
    "?picture=text": "All heads",
    "masks": "Why −∞ and nothing else",
    "heads": "Which heads matter",
    "compare": "Translation of B",
    "inside": "Into the residual stream",
    "inside?inside_tab=switches": "ReLU or GELU",
    "positions": "Attention before and after",
    "positions?positions_tab=words": "difference without positions",
    "positions?positions_tab=sinusoids": "As the position moves on",
    "positions?positions_tab=learned": "Learned",
    "positions?positions_tab=beyond": "Beyond training",
    "decoding?strategy=beam": "Teacher forcing",
    "models": "Your models",
    "model": "How it learned",
} | of_wings("ADDRESSES")


BACKGROUND = "() => getComputedStyle(document.querySelector('.stApp')).backgroundColor"
FITS = """() => {
  const main = document.querySelector("[data-testid=stMain]");
  return innerWidth === 375 && main.scrollWidth <= main.clientWidth;
}"""
FADED_IN = """() => document.getAnimations()
  .every((one) => one.playState !== "running" || one.effect.getTiming().iterations === Infinity)"""


def open_whole(page, server, address):
    """Open a page and wait for what it draws last."""
    page.goto(f"{server}/{address}")
    page.get_by_text(ADDRESSES[address]).locator("visible=true").first.wait_for()
    if "talk=" not in address:
        page.get_by_role("button", name="Keys: ?").wait_for()
    settled(page)


def violations(page):
    """What axe-core finds on a page that no run dims or draws anew meanwhile."""
    while True:
        before = page.ended_runs
        page.wait_for_function(FADED_IN)  # what has half faded in has no contrast
        result = Axe().run(page).response["violations"]
        settled(page)
        if page.ended_runs == before:
            return result


@pytest.mark.parametrize("key", first_of(PAGES))
def test_it_opens_with_its_title_and_no_error(page, server, key):
    page.goto(f"{server}/{'' if PAGES[key].file == 'app.py' else key}")
    page.get_by_role("heading", name=PAGES[key].title, exact=True, level=1).wait_for()
    page.get_by_role("button", name="Keys: ?").wait_for()
    settled(page)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    own = [error for error in page.errors if "404" not in error]  # which Streamlit asks for in vain
    assert own == []


def serious(page):
    """What axe-core finds on a page that is serious."""
    return [
        f"{item['impact']} {item['id']}: {item['help']}: {node['target']} {node['html'][:160]}"
        for item in violations(page)
        if item["impact"] in ("serious", "critical")
        for node in item["nodes"]
    ]


@pytest.mark.parametrize("address", first_of(ADDRESSES))
def test_nothing_serious_is_found_in_either_theme_or_wider_than_a_phone(page, server, address):
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    open_whole(page, server, address)
    told = serious(page)
    light = page.evaluate(BACKGROUND)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    until(page, lambda: page.evaluate(BACKGROUND) != light)
    told += serious(page)
    assert not told, "\n".join(told)
    page.set_viewport_size({"width": 375, "height": 812})
    until(page, lambda: page.evaluate(FITS))
