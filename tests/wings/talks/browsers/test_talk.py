"""The ready talk in the app: every slide fits, and pointing reads what is under the pointer."""

from tests.browsers.conftest import SETTLED
from tests.wings.talks.browsers.talks import TALK, expect_all_slides_fit, expect_pointing_reads

SHOWN = f"(title) => wordsOf('.slide h1').includes(title) && {SETTLED}"
FITTED = "!('fitting' in document.documentElement.dataset)"
PARTS = ".st-key-stage", ".st-key-slide-footer"


def at(page, number):
    """Wait for a slide that has been fitted, with all its pictures."""
    slide = TALK[number - 1]
    page.see(f"{SHOWN} && {FITTED}", slide.title)
    for key in slide.pictures:
        page.see("(key) => seen(`.st-key-on-${key}`).length", key)


def test_every_slide_fits(browser, server):
    browser.open(f"{server}/?talk=1")
    expect_all_slides_fit(browser, lambda number: at(browser, number), *PARTS)


def test_pointing_reads_what_is_under_the_pointer(browser, server, translator):
    def go(number):
        browser.open(f"{server}/?talk={number}")
        at(browser, number)

    expect_pointing_reads(browser, go, translator)
