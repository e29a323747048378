"""What is seen of the page Training at first."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_first_sight import expect_above_the_fold


@pytest.mark.matrix
def test_a_training_is_watched_without_scrolling(page, server):
    page.goto(f"{server}/training")
    steps = page.get_by_label("Steps", exact=True)
    steps.fill("20")
    steps.press("Enter")
    page.get_by_role("button", name="Start", exact=True).click()
    expect_above_the_fold(page.locator(".attention-film .heads"))
    page.get_by_text(re.compile("^Finished")).wait_for()


@pytest.mark.matrix
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_start_is_the_one_filled_button_of_training(page, server, scheme):
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{server}/training")
    start = page.get_by_role("button", name="Start", exact=True)
    expect(start).to_have_css("background-color", "rgb(31, 111, 139)")
    expect(page.get_by_test_id("stBaseButton-primary")).to_have_count(1)
