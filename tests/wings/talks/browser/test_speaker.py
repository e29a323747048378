"""The speaker's window: notes, clock and the next slide, next to the talk."""

import re

import pytest
from playwright.sync_api import expect

from headlight.wings.talks.slides import Slide
from headlight.wings.talks.stage import THUMBNAILS
from tests.wings.talks.browser.talks import see_title, with_talk

HOSTILE = "<img src=x onerror=window.hit=1>"
TALK = (
    Slide(title="*One* of 3", words="Begin", notes=f"Say **hello**, *twice*.\n{HOSTILE} 2 * 3 * 4"),
    Slide("attention", {}, "*Two*", "", ("grid",)),
    Slide(title="Three", notes="Thank you."),
)
OPENED = 1_800_000_000  # seconds since 1970


@pytest.fixture
def speaker(page, server):
    """The window, opened from the first slide."""
    with_talk(page, server, TALK, "?talk=1")
    see_title(page, "One of 3")
    page.clock.set_fixed_time(OPENED)
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    expect(opened.value.locator("h1")).to_have_text("One of 3")  # before it, keys are not heard
    return opened.value


def test_the_speaker_sees_notes_clock_and_what_comes_next(page, speaker):
    expect(speaker.locator("h1")).to_have_text("One of 3")
    expect(speaker.locator(".notes")).to_have_text(f"Say hello, twice.\n{HOSTILE} 2 * 3 * 4")
    expect(speaker.locator(".notes strong")).to_have_text("hello")
    expect(speaker.locator(".notes em")).to_have_text("twice")
    expect(speaker.locator(".number")).to_have_text("1 of 3")
    expect(speaker.locator(".coming")).to_have_text("Next: Two (all heads)")
    expect(speaker.locator(".clock")).to_have_text(re.compile(r"^\d\d:\d\d$"))
    passed = speaker.locator(".passed")
    page.clock.set_fixed_time(OPENED + 2)
    expect(passed).to_have_text("00:02 since opening")
    speaker.get_by_role("button", name="Restart the timer").click()
    expect(passed).to_have_text("00:00 since Reset")
    page.keyboard.press("End")
    see_title(page, "Three")
    expect(speaker.locator(".notes")).to_have_text("Thank you.")
    expect(speaker.locator(".coming")).to_have_text("This is the last slide.")
    assert speaker.evaluate("window.hit ?? null") is None


@pytest.mark.matrix
def test_the_keys_of_the_window_turn_the_slides_of_the_talk(page, speaker):
    expect(speaker.locator("h1")).to_have_text("One of 3")
    for key, title in (("PageDown", "Two"), ("ArrowRight", "Three"), ("ArrowLeft", "Two")):
        speaker.keyboard.press(key)
        see_title(page, title)
        expect(speaker.locator("h1")).to_have_text(title)
    speaker.get_by_role("button", name="Previous slide").click()
    see_title(page, "One of 3")
    speaker.keyboard.press("b")
    expect(page.locator(".slide .black")).to_be_visible()


@pytest.mark.matrix
def test_either_window_outlives_a_reload_or_the_end_of_the_other(page, speaker):
    page.reload()
    see_title(page, "One of 3")
    page.keyboard.press("ArrowRight")
    see_title(page, "Two")
    expect(speaker.locator("h1")).to_have_text("Two")
    speaker.keyboard.press("ArrowRight")
    see_title(page, "Three")
    page.keyboard.press("s")  # brings the same window to the front
    page.keyboard.press("ArrowLeft")
    see_title(page, "Two")
    assert len([item for item in page.context.pages if "talk" not in item.url]) == 1
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    expect(speaker.locator("h1")).to_have_text("No slide is shown")
    page.get_by_role("button", name="From the start", exact=True).click()
    see_title(page, "One of 3")
    expect(speaker.locator("h1")).to_have_text("One of 3")
    speaker.close()
    page.keyboard.press("ArrowRight")
    see_title(page, "Two")
    assert page.errors == []


def test_a_blocked_window_is_told(page, server):
    page.add_init_script("window.open = () => null")
    with_talk(page, server, TALK, "?talk=1")
    see_title(page, "One of 3")
    page.get_by_role("button", name="Speaker's window").click()
    expect(page.locator(".slide .notice")).to_contain_text("allow pop-ups for this page")


def test_the_window_shows_the_next_slide_once_it_was_drawn(page, speaker):
    image = speaker.locator("img")
    expect(image).to_be_hidden()
    speaker.keyboard.press("ArrowRight")
    see_title(page, "Two")
    page.wait_for_function("name => localStorage.getItem(name)", arg=THUMBNAILS)
    speaker.keyboard.press("ArrowLeft")
    see_title(page, "One of 3")
    expect(image).to_be_visible()
    assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
