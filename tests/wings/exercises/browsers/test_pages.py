"""Tasks that are done by typing and by a click in a picture."""

from tests.browsers.conftest import SETTLED
from tests.browsers.test_pages import BOX, visit

__all__ = ["visit"]


def test_a_task_is_done_by_typing_and_the_next_one_is_on_another_page(visit):
    page = visit("?exercises=first_steps.1")
    page.see("says('3; wanted: at least 5')")
    page.fill(BOX, "The encyclopaedia is new.")
    page.press("Enter")
    page.see("says('6; wanted: at least 5') && says('Done.')")
    page.click_on(".st-key-exercise button", "Next")
    page.see("says('Exercise 2 of 12') && location.pathname.endsWith('/positions')")


def test_a_task_is_done_by_a_click_in_a_mask(visit):
    page = visit("?exercises=first_steps.6")
    page.see(f"says('0.776; wanted: under 0.1') && seen('canvas.editable').length && {SETTLED}")
    page.evaluate("placeOf", "canvas.editable")  # scrolls to it
    page.click(*page.evaluate("cellOf", "canvas.editable", 6, 8))
    page.see("says(' 0; wanted: under 0.1') && says('Done.')")
