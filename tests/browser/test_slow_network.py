"""Choices that are made while the server's answer to an earlier one is on its way."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.boxes import box, type_in
from tests.browser.held import Held
from tests.browser.rest import settled, tended

WROTE = "cause?sentence=The+old+woman+bought+a+small+house.&cause_tab=wrote"


@pytest.fixture
def held(page):
    return Held(page)


def head(page, layer, number):
    return page.get_by_role("button", name=re.compile(f"^layer {layer}, head {number}:"))


def test_a_head_stays_chosen_when_another_click_comes_before_the_answer(page, server, held):
    page.goto(f"{server}/?layer=1&head=1")
    head(page, 1, 1).wait_for()
    tended(page)
    held.is_late = True
    head(page, 3, 7).click()
    held.runs(1)
    page.get_by_role("radio", name="Encoder").click()
    held.runs(2)
    held.release()
    settled(page)
    expect(page).to_have_url(re.compile("kind=encoder.*layer=3&head=7"))
    expect(head(page, 3, 7)).to_have_attribute("aria-pressed", "true")
    expect(box(page, "Head")).to_have_value("7")
    head(page, 1, 4).click()
    expect(page).to_have_url(re.compile("kind=encoder.*layer=1&head=4"))


def test_what_was_chosen_before_can_be_chosen_again(page, server, held):
    page.goto(f"{server}/?layer=1&head=1")
    head(page, 3, 1).click()
    expect(page).to_have_url(re.compile("layer=3&head=1"))
    settled(page)
    page.get_by_role("radio", name="1", exact=True).click()
    expect(page).to_have_url(re.compile("layer=1&head=1"))
    expect(head(page, 1, 1)).to_have_attribute("aria-pressed", "true")


def test_a_word_chosen_before_the_answer_is_the_one_that_is_shown_and_stays(page, server, held):
    page.goto(f"{server}/{WROTE}")
    page.locator(".st-key-wrote-parts .sum").wait_for()
    tended(page)
    held.is_late = True
    type_in(page, "Written word", "3: femme")
    held.runs(1)
    type_in(page, "Against", "voiture")
    held.runs(2)
    held.release()
    settled(page)
    entries = page.locator(".st-key-wrote-parts .legend .entry")
    expect(entries).to_have_text(["for “femme”", "for “voiture”"])
    page.get_by_role("button", name=re.compile("^Cross-attention, layer 2, head 7")).click()
    page.get_by_role("heading", name="Cross-attention, layer 2, head 7").wait_for()
    expect(entries).to_have_text(["for “femme”", "for “voiture”"])
    expect(page.get_by_role("combobox", name=re.compile("Against"))).to_have_value("voiture")
