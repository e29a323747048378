"""A page that a browser's translator has changed: what it says afterwards is as true as before."""

import re

import pytest

from headlight.pages.parts.pages import PAGES
from tests.browser.acts import press, say
from tests.browser.entries import of_wings
from tests.browser.rest import count_runs, rerun, settled, tended, until
from tests.browser.translating import WAYS, said, show_original, translate, translated
from tests.matrix import first_of

STATED = re.compile(r"\d\.\d|[%“]")  # a number that was computed, or a quoted token


HEAD_OFF = press("Switch this head off")
SWITCH = press("^Cross-attention, layer 3, head 2: on")
ACTS = {  # by page
    "?kind=encoder&layer=2&head=2": (say(), press("Cross-attention", "radio"), HEAD_OFF),
    "inside?kind=encoder": (say(), press("Cross-attention", "radio")),
    "positions": (say(), press("Sinusoids", "radio")),
    "masks": (say(), press("Encoder", "radio"), press("Why not look ahead", "radio")),
    "heads": (say(), SWITCH),
    "compare": (press("Two heads"), say(), press("Two models")),
    "decoding": (say(), press("Beam", "radio"), press("the last ones", "radio")),
    "models": (press("Look at it"),),
    "model": (),
} | of_wings("ACTS")


def open_page(context, address):
    page = context.new_page()
    count_runs(page)
    page.goto(address)
    tended(page)
    return page


def expect_true(page, context):
    """Expect that a page says what another one says that nobody has translated."""
    fresh = open_page(context, page.url)

    def is_the_same():
        """The page says what a fresh one says."""
        settled(page)
        if fresh.url != page.url:  # the address may have changed after the page came to rest
            fresh.goto(page.url)
            tended(fresh)
        settled(fresh)
        return said(page) == said(fresh)

    until(page, is_the_same)
    fresh.close()


def act_on(page, acts, way):
    for act in acts:
        translate(page, way)
        with rerun(page):
            act(page)


@pytest.mark.parametrize("address", first_of(ACTS))
def test_a_translated_page_says_what_a_fresh_one_says_after_every_act(
    page, server, context, address
):
    page.goto(f"{server}/{address}")
    tended(page)
    page.errors.clear()  # a page asks at two addresses for some files of Streamlit
    act_on(page, ACTS[address], WAYS[0])
    expect_true(page, context)
    translate(page)
    texts = translated(page)
    assert texts
    assert list(filter(STATED.search, texts)) == []
    pages = list(PAGES)
    here = pages.index(address.partition("?")[0] or pages[0])
    follow_link(page, (here + 1) % len(pages))
    expect_true(page, context)
    assert page.errors == []


def follow_link(page, number):
    links = page.get_by_test_id("stSidebar").get_by_test_id("stPageLink").locator("a")
    with rerun(page):
        links.nth(number).click()


@pytest.mark.parametrize("way", first_of(WAYS[1:]))
def test_it_holds_however_the_translator_changes_the_page(page, server, context, way):
    page.goto(f"{server}/?kind=encoder&layer=2&head=2")
    tended(page)
    act_on(page, ACTS["?kind=encoder&layer=2&head=2"], way)
    expect_true(page, context)
    assert page.errors == []


@pytest.mark.matrix
def test_it_holds_while_the_original_is_shown_again(page, server, context):
    page.goto(f"{server}/?kind=encoder&layer=2&head=2")
    tended(page)
    for act in ACTS["?kind=encoder&layer=2&head=2"]:
        for _ in range(2):
            translate(page)
            show_original(page)
        with rerun(page):
            act(page)
        expect_true(page, context)
    assert page.errors == []
