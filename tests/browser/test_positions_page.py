"""Turning the clocks, changing positions on a sentence, and what the page then shows."""

import re

import pytest
from playwright.sync_api import expect

from headlight.model.edits.positions import PositionEdit

SENTENCE = "My brother bought three old bicycles yesterday."


@pytest.fixture
def positions(page, server):
    page.goto(f"{server}/positions?positions_tab=sinusoids&sentence={SENTENCE}")
    page.locator(".position-clocks canvas").wait_for()
    return page


def open_tab(page, name):
    page.get_by_role("radio", name=name, exact=True).click()


def strip(page, label):
    """The large text of the tokens with this label."""
    result = page.locator(".token-strip").filter(has_text=label)
    return result.locator(".text")


def choose(page, label, option):
    group = page.get_by_role("radiogroup", name=label)
    group.get_by_role("radio", name=option, exact=True).click()


def drawn(page):
    """A number that changes with what the first clock shows."""
    return page.locator(".position-clocks canvas").evaluate(
        """(canvas) => {
            const side = Math.round(canvas.width / 3);
            const { data } = canvas.getContext("2d").getImageData(0, 0, side, side);
            let sum = 0;
            for (let at = 0; at < data.length; at += 4) sum += data[at + 3] * (at % 9973);
            return sum;
        }"""
    )


@pytest.mark.matrix
def test_the_clocks_turn_by_hand_and_by_themselves(positions):
    clocks = positions.locator(".position-clocks")
    clocks.get_by_text("Hands at position 0, and 4 later at 4.").wait_for()
    before = drawn(positions)
    clocks.get_by_role("slider").focus()
    positions.keyboard.press("ArrowRight")
    clocks.get_by_text("Hands at position 1, and 4 later at 5.").wait_for()
    assert drawn(positions) != before
    clocks.get_by_role("button", name="Play").click()
    clocks.get_by_text(re.compile(r"Hands at position ([3-9]|\d\d+),")).wait_for()
    clocks.get_by_role("button", name="Pause").click()
    clocks.get_by_role("button", name="Play").wait_for()
    slider = clocks.get_by_role("slider")
    position = int(slider.input_value())
    slider.press("ArrowRight")
    clocks.get_by_text(f"Hands at position {position + 1},").wait_for()


def test_switching_positions_off_shows_the_translation_before_and_after(positions, translator):
    open_tab(positions, "Your sentence")
    plain = translator.translate(SENTENCE).text
    off = PositionEdit(off=True)
    expect(strip(positions, "Translation as trained")).to_have_text(plain)
    outcome = positions.locator(".st-key-lead-outcome")
    expect(outcome).to_contain_text("With positions of the encoder off: the translation")
    choose(positions, "Positions of the decoder", "off")
    changed = translator.translate(SENTENCE, edits={"encoder": off, "decoder": off}).text
    both = "positions of the encoder off and positions of the decoder off"
    expect(strip(positions, f"Translation with {both}")).to_have_text(changed)
    choose(positions, "Positions of the encoder", "as trained")
    changed = translator.translate(SENTENCE, edits={"decoder": off}).text
    expect(strip(positions, "Translation with positions of the decoder off")).to_have_text(changed)


@pytest.mark.matrix
def test_choices_are_kept_while_another_tab_is_open(positions):
    open_tab(positions, "Your sentence")
    choose(positions, "Positions of the encoder", "shuffled")
    positions.get_by_text(re.compile("Positions of the encoder.s tokens")).wait_for()
    open_tab(positions, "One token")
    positions.get_by_text("their sum").wait_for()
    open_tab(positions, "Your sentence")
    positions.get_by_text(re.compile("Positions of the encoder.s tokens")).wait_for()


@pytest.mark.matrix
def test_the_learned_table_ends(positions):
    open_tab(positions, "Beyond training")
    positions.get_by_text("the learned table ends at 255").wait_for()
