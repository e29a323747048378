"""What each head wrote: choosing two words, opening a head, and from there a weight."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from headlight.model.insight.attribution import attribute
from headlight.model.transformer.trace import Site
from headlight.viz import sum_bars
from headlight.viz.numbers import number_text
from tests.browser.boxes import type_in
from tests.browser.rest import settled

SENTENCE = "The old woman bought a small house."
PARTS, KEYS = ".st-key-wrote-parts", ".st-key-wrote-keys"


@pytest.fixture
def cause(page, server):
    page.goto(f"{server}/cause?sentence={SENTENCE}&cause_tab=wrote")
    page.locator(f"{PARTS} .sum").wait_for()
    page.locator(f"{KEYS} .sum").wait_for()
    return page


@pytest.fixture(scope="module")
def trace(translator):
    return translator.trace(SENTENCE, translator.translate(SENTENCE))


def signed(number):
    return number_text(number, signed=True)


@pytest.mark.matrix
def test_another_pair_of_words_and_a_head_by_a_click(cause, translator, trace):
    type_in(cause, "Written word", "3: femme")
    cause.wait_for_url(re.compile("wrote_word=3"))
    settled(cause)  # the other box has the words of this place
    type_in(cause, "Against", "voiture")
    (other,) = translator.begin("voiture")
    result = attribute(translator, trace, 2, trace.target_tokens[3].id, other.id)
    total = re.compile(rf"Sum of all parts: {re.escape(signed(result.difference))} nats")
    expect(cause.locator(f"{PARTS} .sum")).to_have_text(total)
    expect(cause.locator(f"{PARTS} .legend .entry")).to_have_text(["for “femme”", "for “voiture”"])
    heads = cause.locator(".head-effects")
    head = heads.get_by_role("button", name=re.compile("^Cross-attention, layer 2, head 7"))
    value = result.heads[Site("cross", 1)][6].item()
    expect(head).to_have_attribute("aria-label", re.compile(re.escape(f"{signed(value)} nats")))
    head.click()
    cause.get_by_role("heading", name="Cross-attention, layer 2, head 7").wait_for()
    expect(cause.locator(f"{KEYS} .sum strong")).to_have_text(f"{signed(value)} nats")
    rows = cause.locator(f"{KEYS} .part .number")
    expect(rows).to_have_text([signed(key) for key in result.keys[Site("cross", 1)][6].tolist()])
    cause.wait_for_function("() => location.search.includes('wrote_against=voiture')")
    cause.reload()
    expect(cause.locator(f"{PARTS} .sum")).to_have_text(total)


@pytest.mark.matrix
def test_the_rows_of_a_head_go_by_keyboard_and_lead_to_the_weight(cause):
    rows = cause.locator(f"{KEYS} button.part")
    rows.first.focus()
    cause.keyboard.press("ArrowDown")
    cause.keyboard.press("ArrowDown")
    expect(rows.nth(2)).to_be_focused()
    weight = rows.nth(2).locator(".weight").inner_text()
    cause.keyboard.press("Enter")
    cause.wait_for_url(re.compile("/inside"))
    cause.get_by_text("Step by step").wait_for()
    expect(cause.get_by_test_id("stMetricValue")).to_have_text(weight)
    cause.wait_for_function("() => location.search.includes('key=3')")


@pytest.mark.matrix
def test_a_word_that_is_no_token_is_said_as_it_was_typed(cause):
    type_in(cause, "Against", "<b>bold</b> words")
    cause.get_by_text("“<b>bold</b> words” is").wait_for()
    cause.get_by_text("The runner-up is used").wait_for()
    cause.locator(f"{PARTS} .sum").wait_for()


@pytest.mark.matrix
def test_of_many_parts_the_largest_is_in_sight_at_first(page):
    parts = np.linspace(0, 0.1, 80)
    parts[60] = -1
    words = {"ends": ("for", "against"), "total": "In all"}
    page.set_content(sum_bars(parts, [str(position) for position in range(80)], **words).to_html())
    scrolls, row = page.locator(".parts"), page.locator(".part").nth(60)
    outer, inner = scrolls.bounding_box(), row.bounding_box()
    assert scrolls.evaluate("parts => parts.scrollHeight > parts.clientHeight")
    assert outer["y"] <= inner["y"] <= outer["y"] + outer["height"] - inner["height"]
