"""Words that are chosen on the page Cause while an earlier answer is on its way."""

import re

from playwright.sync_api import expect

from tests.browser.boxes import type_in
from tests.browser.rest import settled, tended
from tests.browser.test_slow_network import held, type_sentence

__all__ = ["held"]

WROTE = "cause?sentence=The+old+woman+bought+a+small+house.&cause_tab=wrote"


def choose_words(page, server, held):
    """Choose two words on the page Cause, of whose answers the page knows nothing yet."""
    page.goto(f"{server}/{WROTE}")
    page.locator(".st-key-wrote-parts .sum").wait_for()
    tended(page)
    held.is_late = True
    type_in(page, "Written word", "3: femme")
    held.runs(1)
    type_in(page, "Against", "voiture")
    held.runs(2)


def test_a_word_chosen_before_the_answer_is_the_one_that_is_shown_and_stays(page, server, held):
    choose_words(page, server, held)
    held.release()
    settled(page)
    entries = page.locator(".st-key-wrote-parts .legend .entry")
    expect(entries).to_have_text(["for “femme”", "for “voiture”"])
    page.get_by_role("button", name=re.compile("^Cross-attention, layer 2, head 7")).click()
    page.get_by_role("heading", name="Cross-attention, layer 2, head 7").wait_for()
    expect(entries).to_have_text(["for “femme”", "for “voiture”"])
    expect(page.get_by_role("combobox", name=re.compile("Against"))).to_have_value("voiture")


def test_a_word_is_kept_when_an_earlier_answer_comes_before_the_next_act(page, server, held):
    choose_words(page, server, held)
    held.release_run()
    type_sentence(page, "The old woman sold a small house.")
    held.runs(2)
    held.release()
    settled(page)
    expect(page).to_have_url(re.compile("sold.*wrote_against=voiture"))
    expect(page.get_by_role("combobox", name=re.compile("Against"))).to_have_value("voiture")
