"""Talks as files from the disk, with the model inside too, and the pages that need no server."""

import functools
import threading
import time
import urllib.request
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from headlight.model.edits import Edits
from headlight.model.transformer.trace import Site
from headlight.wings.live.page import write_live
from tests.browsers.conftest import SETTLED
from tests.browsers.pointing import expect_weight, strongest
from tests.wings.talks.browsers.talks import TALK, expect_all_slides_fit, expect_pointing_reads

OTHER = "Where is the station?"
PARTS = ".stage", ".frame.now .footer"
BOX = "input[aria-label='English sentence']"
KEEP_ADDRESS = (
    "(HTMLAnchorElement.prototype.click = function () { window.saved = this.href; }) && null"
)
ANSWERS = "hasWritten('.before', '')"


@pytest.fixture(scope="session")
def site(started, server, translator, tmp_path_factory):
    """A folder with the ready talk, saved by this very browser, and the page of the translator."""
    started.open(f"{server}/talk?ready_talk=attention")
    started.see(f"seen('button', 'Keys: ?').length && {SETTLED}")
    started.evaluate(KEEP_ADDRESS)
    started.click_on("button", "Save as one HTML file")
    with urllib.request.urlopen(started.see("window.saved")) as answer:
        talk = answer.read()
    folder = tmp_path_factory.mktemp("site")
    (folder / "talk.html").write_bytes(talk)
    write_live(folder, translator)
    return folder


@pytest.fixture(scope="session")
def web(site):
    handler = functools.partial(SimpleHTTPRequestHandler, directory=site)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{web.server_port}"
        web.shutdown()


@pytest.fixture
def deck(browser, site):
    browser.open((site / "talk.html").as_uri())
    browser.see("'drawn' in document.documentElement.dataset")
    return browser


def at(page, number):
    page.see("(number) => seen(`#slide-${number}.now:not(.waiting)`).length", number)
    assert page.evaluate("wordsOf('.frame.now h1')") == [TALK[number - 1].title]


def test_every_slide_of_a_saved_talk_fits(deck):
    expect_all_slides_fit(deck, lambda number: at(deck, number), *PARTS)


def test_pointing_in_a_saved_talk_reads_what_is_under_the_pointer(deck, translator):
    def go(number):
        deck.evaluate("(number) => { location.hash = `#${number}`; }", number)
        at(deck, number)

    expect_pointing_reads(deck, go, translator)


def test_the_overview_shows_every_slide_in_its_frame(deck):
    deck.press("o")
    deck.see("(count) => seen('.frame .choose').length === count", len(TALK))
    for number, slide in enumerate(TALK, start=1):
        if slide.pictures:
            share = deck.evaluate("shareOf", f"#slide-{number}", ".on")
            assert all(0.1 < each < 1.01 for each in share), (number, share)


@pytest.mark.parametrize("scheme", ["file", "http"])
def test_the_page_without_a_server_translates(browser, site, web, translator, scheme):
    browser.open(
        f"{site.as_uri() if scheme == 'file' else web}/index.html#kind=cross&layer=1&head=4"
    )
    browser.see(ANSWERS)
    expect_translation(browser, translator, OTHER)
    browser.click_on("button", "Switch this head off")
    off = Edits(gates={("cross", 0, 3): 0.0}).at_sites(translator.shape, 60)
    browser.see("hasWritten", ".after", translator.translate(OTHER, edits=off).text)
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_talk_with_the_model_inside_opens_and_answers(browser, site, address, translator):
    seconds = []
    for url, state in (
        (f"{site.as_uri()}/index.html", ANSWERS),
        (address, "seen('.frame.now h1').length"),
    ):
        begun = time.monotonic()
        browser.open(url)
        browser.see(state)
        seconds.append(time.monotonic() - begun)
    browser.press("x")
    browser.see(ANSWERS)
    expect_translation(browser, translator, OTHER)
    alone, inside = seconds
    assert inside < 6 * alone, "The same weights as a script are there much sooner."


def expect_translation(page, translator, sentence):
    """Type a sentence; the translation and a weight are the model's."""
    page.fill(BOX, sentence)
    page.press("Tab")
    trace = translator.trace(sentence)
    page.see("hasWritten", ".before", translator.translate(sentence).text)
    site = Site("cross", 0)
    cell = strongest(trace.attention[site].weights[0, 3])
    expect_weight(page, ".heatmap canvas.map", trace, site, 3, cell, at=-1)  # before a slide
