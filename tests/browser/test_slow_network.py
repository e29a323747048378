"""Choices that are made while the server's answer to an earlier one is on its way."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.boxes import box, type_in
from tests.browser.held import Held
from tests.browser.rest import settled, tended
from tests.browser.test_address import open_attention

QUERY = "Query: the token that looks"


@pytest.fixture
def held(page):
    return Held(page)


def head(page, layer, number):
    return page.get_by_role("button", name=re.compile(f"^layer {layer}, head {number}:"))


def type_sentence(page, text):
    """Type a sentence, and return its box."""
    sentence = page.get_by_label("English sentence")
    sentence.fill(text)
    sentence.press("Enter")
    return sentence


def open_on_decoder(page, server):
    """Open the first page, and choose the decoder there."""
    open_attention(page, server)
    page.get_by_role("radio", name="Decoder, masked").click()
    expect(page).to_have_url(re.compile("kind=decoder"))
    settled(page)


def test_a_head_stays_chosen_when_another_click_comes_before_the_answer(page, server, held):
    open_attention(page, server, "?layer=1&head=1")
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
    open_attention(page, server, "?layer=1&head=1")
    head(page, 3, 1).click()
    expect(page).to_have_url(re.compile("layer=3&head=1"))
    settled(page)
    type_in(page, "Layer", "1")  # a list that is open closes when the page scrolls
    expect(page).to_have_url(re.compile("layer=1&head=1"))
    expect(head(page, 1, 1)).to_have_attribute("aria-pressed", "true")


def test_a_token_of_an_earlier_list_is_refused_without_an_error(page, server, held):
    page.goto(f"{server}/inside")
    box(page, QUERY).wait_for()
    tended(page)
    held.is_late = True
    sentence = type_sentence(page, "The cat sat on the mat.")
    held.runs(1)
    box(page, QUERY).click()
    page.get_by_role("option", name=re.compile("^4: ")).click()
    held.runs(2)
    held.release()
    settled(page)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(sentence).to_have_value("The cat sat on the mat.")
    chosen = re.match("[0-9]+", box(page, QUERY).input_value())[0]
    expect(page).to_have_url(re.compile(f"query={chosen}(&|$)"))


def test_a_sentence_typed_before_an_example_came_stays(page, server, held):
    open_attention(page, server)
    held.is_late = True
    page.get_by_role("button", name="Examples").click()
    page.get_by_role("menuitem", name="I love my cat.").click()
    held.runs(1)
    sentence = type_sentence(page, "They sing.")
    held.runs(2)
    held.release()
    settled(page)
    expect(sentence).to_have_value("They sing.")
    head(page, 1, 3).click()
    expect(page).to_have_url(re.compile("sentence=They.sing..*layer=1&head=3"))
    expect(sentence).to_have_value("They sing.")


def test_a_click_in_a_section_that_has_moved_counts(page, server, held):
    open_attention(page, server)
    held.is_late = True
    page.get_by_role("button", name="Switch this head off").click()
    held.runs(1)
    head(page, 3, 7).click()
    held.runs(3)
    held.release()
    settled(page)
    expect(page).to_have_url(re.compile("layer=3&head=7.*edits="))
    expect(head(page, 3, 7)).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize("steps", [["back", "forward"], ["back"]])
def test_steps_back_before_the_answer_end_with_page_and_address_as_one(page, server, held, steps):
    open_on_decoder(page, server)
    held.is_late = True
    head(page, 1, 4).click()
    held.runs(1)
    for count, step in enumerate(steps, start=2):
        page.evaluate(f"() => history.{step}()")
        held.runs(count)
    held.release()
    settled(page)
    (kind,) = re.findall("kind=([a-z]+)", page.url)
    names = {"encoder": "Encoder", "decoder": "Decoder, masked"}
    expect(page.get_by_role("radio", name=names[kind])).to_be_checked()
    assert "head=2" in page.url
    expect(head(page, 2, 2)).to_have_attribute("aria-pressed", "true")
    expect(box(page, "Head")).to_have_value("2")


def test_a_click_after_a_step_back_counts(page, server, held):
    open_on_decoder(page, server)
    head(page, 1, 4).click()
    expect(page).to_have_url(re.compile("layer=1&head=4"))
    settled(page)
    held.is_late = True
    for count in (1, 2):
        page.evaluate("() => history.back()")
        held.runs(count)
    head(page, 3, 7).click()
    held.runs(3)
    held.release()
    settled(page)
    expect(page).to_have_url(re.compile("kind=encoder&layer=3&head=7"))
    expect(page.get_by_role("radio", name="Encoder")).to_be_checked()
    expect(head(page, 3, 7)).to_have_attribute("aria-pressed", "true")
