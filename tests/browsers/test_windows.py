"""Full screen, the clipboard and the speaker's window, as far as each browser lets them."""

from headlight.pages.talks.talk import shipped
from tests.browsers.conftest import SETTLED
from tests.browsers.driven import until
from tests.browsers.test_talk import at

ATTEMPT = "document.documentElement.requestFullscreen().then(() => 'full', () => 'refused')"
BOX = "input[aria-label='English sentence']"


def test_the_speakers_window_shows_notes_and_turns_the_talk(browser, server):
    browser.open(f"{server}/?talk=1")
    at(browser, 1)
    (talk,) = browser.windows()
    browser.press("s")
    (window,) = until(lambda: [each for each in browser.windows() if each != talk])
    browser.turn_to(window)
    first, second = shipped()[:2]
    browser.see("(title) => wordsOf('h1').includes(title)", first.title)
    assert browser.evaluate("wordsOf('.notes')") == [first.notes]
    browser.press("ArrowRight")
    browser.see("(title) => wordsOf('h1').includes(title)", second.title)
    browser.turn_to(talk)
    at(browser, 2)


def test_the_link_is_copied_and_pasted(browser, server):
    browser.open(f"{server}/masks?head=3")
    browser.see(f"seen('button', 'Keys: ?').length && {SETTLED}")
    address = browser.evaluate("location.href")
    browser.click_on("button", "Copy link")
    browser.see("seen('button', 'Copied').length")
    browser.click_on(BOX)
    browser.press("Control", "a")
    browser.press("Control", "v")
    assert browser.evaluate(f"document.querySelector(`{BOX}`).value") == address


def test_f_fills_the_screen_and_leaves_it(browser, server):
    browser.open(f"{server}/?talk=10")
    at(browser, 10)
    browser.press("f")
    browser.see("document.fullscreenElement !== null")
    at(browser, 10)
    browser.press("f")
    browser.see("document.fullscreenElement === null")
    at(browser, 10)
