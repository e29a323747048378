"""Full screen and the speaker's window, as far as each browser lets them."""

from tests.browsers.driven import until
from tests.wings.talks.browsers.talks import TALK, faults_at_rest
from tests.wings.talks.browsers.test_talk import PARTS, at

NOTE_REFUSAL = "document.addEventListener('fullscreenerror', () => (window.refused = 'refused'))"


def test_the_speakers_window_shows_notes_and_turns_the_talk(browser, server):
    browser.open(f"{server}/?talk=1")
    at(browser, 1)
    (talk,) = browser.windows()
    browser.press("s")
    (window,) = until(lambda: [each for each in browser.windows() if each != talk])
    browser.turn_to(window)
    first, second = TALK[:2]
    browser.see("(title) => wordsOf('h1').includes(title)", first.title)
    assert browser.evaluate("wordsOf('.notes')") == [first.notes]
    browser.press("ArrowRight")
    browser.see("(title) => wordsOf('h1').includes(title)", second.title)
    browser.turn_to(talk)
    at(browser, 2)


def test_f_fills_the_screen_or_a_refusal_changes_nothing(browser, server):
    browser.open(f"{server}/?talk=10")
    at(browser, 10)
    browser.evaluate(NOTE_REFUSAL)
    browser.press("f")
    result = browser.see("document.fullscreenElement ? 'full' : window.refused")
    assert result == ("full" if browser.fills_screen else "refused")
    at(browser, 10)
    assert faults_at_rest(browser, *PARTS) == []
    browser.press("f")
    browser.see("document.fullscreenElement === null")
    browser.press("ArrowRight")
    at(browser, 11)
