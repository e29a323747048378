"""The page Training."""

from tests.browsers.conftest import SETTLED
from tests.browsers.test_pages import visit

__all__ = ["visit"]


def test_a_training_comes_to_its_end(visit):
    page = visit("training")
    page.fill("input[aria-label=Steps]", "20")
    page.press("Enter")
    page.see(SETTLED)
    page.click_on("[data-testid=stMain] button", "Start")
    page.see("says('Finished')")
