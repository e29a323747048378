"""The page Talk."""

from tests.browsers.test_pages import visit
from tests.wings.talks.browsers.talks import TALK

__all__ = ["visit"]


def test_the_talk_is_presented_and_left(visit):
    page = visit("talk")
    page.click_on("button", "Present")
    page.see("(title) => wordsOf('.slide h1').includes(title)", TALK[0].title)
    page.click_on(".turn button", "Leave the talk")
    page.see("says('You have no slides of your own yet')")
