"""The clipboard, as far as each browser lets the app write to it."""

from tests.browsers.conftest import SETTLED

BOX = "input[aria-label='English sentence']"


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
