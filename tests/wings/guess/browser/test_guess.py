"""Guess first: asked and answered by mouse, by keys, on a page and in a talk."""

import re
import struct
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

import headlight.pages.parts.pages  # noqa: F401, what slides are of
from headlight.pages.shared.show.pictures import css_class
from headlight.wings.talks.slides import Slide
from tests.browser.rest import RUNNING, until
from tests.wings.talks.browser.talks import expect_fitted, see_title, with_talk

SENTENCE = "The dog ran to the house because it was hungry."
SCENE = {"kind": "encoder", "layer": "5", "head": "6", "guess": "on", "guess_row": "8"}
SCENE["sentence"] = SENTENCE
HEADS = {"sentence": "We sing.", "guess": "on"}
HOSTILE = "<img src=x onerror=window.hit=1> **it** $x$"
TALK = (
    Slide("attention", SCENE, "A head", pictures=("heatmap",)),
    Slide("heads", HEADS, "All heads", pictures=("effects",)),
    Slide(title="The end"),
)


@pytest.fixture
def weights(translator):
    """How much “it” looks at each token."""
    return translator.trace(SENTENCE).weights("encoder")[4][5][7]


@pytest.fixture
def attention(page, server):
    page.goto(f"{server}/?{'&'.join(f'{key}={quote(text)}' for key, text in SCENE.items())}")
    expect(page.locator(".guess .asks")).to_contain_text("which token does “it” look at most?")
    page.wait_for_function(f"!({RUNNING})")
    return page


def expect_fitted_anew(page, key):
    """Expect that the picture that comes in place of a question comes to be fitted in its turn."""
    until(page, lambda: expect_fitted(page, [key]) or True, AssertionError)


def verdict(weights, guess, tokens):
    """What is said of a guess, by its place."""
    best = int(weights.argmax())
    told = f"“it” looks most at “{tokens[best]}”, weight {weights[best]:.3f}."
    return f"You guessed “{tokens[guess]}”, weight {weights[guess]:.3f}: {told}"


def test_a_guess_by_keys_alone_brings_the_map_and_is_told_in_words(attention, weights):
    options = attention.locator(".guess .option")
    tokens = options.all_text_contents()
    expect(attention.locator(".heatmap, .head-grid")).to_have_count(0)
    options.first.focus()
    attention.keyboard.press("ArrowRight")
    expect(options.nth(1)).to_be_focused()
    attention.keyboard.press("Enter")
    said = attention.locator(".guess .said")
    expect(said).to_have_text(verdict(weights, 1, tokens))
    expect(said).to_be_focused()  # and so read out
    expect(attention.locator(".heatmap canvas.map")).to_be_visible()
    expect(attention.locator(".head-grid")).to_have_count(0)
    attention.keyboard.press("a")
    expect(options.first).to_be_visible()
    expect(attention.locator(".heatmap")).to_have_count(0)
    attention.keyboard.press("a")
    expect(said).to_have_text(re.compile("^“it” looks most at"))
    assert attention.errors == []


def test_the_box_names_the_row_that_is_asked_about_and_the_lines_are_its_own(page, server):
    page.goto(f"{server}/?kind=encoder&layer=1&head=2&picture=lines&lit=q4&query=2")
    row = page.locator(".st-key-guess_row").get_by_role("combobox")
    page.get_by_text("Guess first").click()
    expect(row).to_have_value("4: the")
    row.click()
    page.get_by_role("option", name="7: it").click()
    expect(page.locator(".guess .asks")).to_contain_text("which token does “it” look at most?")
    page.get_by_text("Cross-attention", exact=True).click()
    expect(page.locator(".guess .asks")).to_contain_text("which token does “viande → parce” look")
    expect(row).to_have_value("7: viande → parce")
    page.get_by_role("button", name="Show the answer").click()
    expect(page.locator("[class*=st-key-lead-weight]")).to_contain_text("“viande → parce” gives ")
    lit = page.locator(".attention-lines .token[aria-pressed=true]")
    expect(lit).to_contain_text("viande → parce")


def test_the_switch_brings_a_question_into_sight_that_is_below_it(page, server):
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{server}/heads")
    page.get_by_text("Guess first").click()
    expect(page.locator(".guess .asks")).to_be_in_viewport()
    expect(page.locator(".guess .option").last).to_be_in_viewport()


def test_a_typed_text_is_text_in_question_guess_and_answer(page, server):
    page.goto(f"{server}/?guess=on&kind=encoder&guess_row=1&sentence={quote(HOSTILE)}")
    page.locator(".guess .option").first.click()
    expect(page.locator(".guess .said")).to_contain_text("You guessed “")
    expect(page.locator(".guess :is(img, em, strong)")).to_have_count(0)
    assert page.evaluate("window.hit ?? null") is None
    assert page.errors == []


def test_the_weights_reach_the_browser_with_the_guess_and_not_before(page, server, weights):
    row = struct.pack(f"<{len(weights)}f", *weights.tolist())
    received = []

    def note(frame):
        received.append(frame if isinstance(frame, bytes) else frame.encode())

    page.on("websocket", lambda opened: opened.on("framereceived", note))
    with_talk(page, server, TALK, "?talk=1")
    page.locator(".guess .option").first.wait_for()
    page.wait_for_function(f"!({RUNNING})")
    number = f"{weights.max():.3f}".encode()
    assert received
    assert not any(row in frame or number in frame for frame in received)
    page.locator(".guess .option").first.click()
    page.locator(".heatmap canvas.map").wait_for()
    assert any(row in frame for frame in received)


@pytest.mark.matrix
def test_a_talk_asks_answers_and_goes_on_by_keys(page, server):
    with_talk(page, server, TALK, "?talk=1")
    see_title(page, "A head")
    expect(page.locator(".guess .option")).to_have_count(12)
    expect_fitted(page, [])
    page.keyboard.press("a")
    said = page.locator(f"{css_class('slide-said')} .said")
    expect(said).to_contain_text("“it” looks most at")
    expect(page.locator(".heatmap canvas.map")).to_be_visible()
    expect_fitted_anew(page, "heatmap")
    page.keyboard.press("ArrowRight")
    see_title(page, "All heads")
    heads = page.locator(".guess .head:visible")
    expect(heads).to_have_count(88)
    expect(page.locator(".head-effects")).to_have_count(0)
    expect_fitted(page, [])  # until then a head moves between press and release
    heads.nth(3).click()
    expect(said).to_contain_text("You guessed Encoder, layer 1, head 4")
    expect(page.locator(".head-effects:visible")).to_have_count(1)
    expect_fitted_anew(page, "effects")
    page.keyboard.press("ArrowRight")  # those of the talk, whatever was clicked
    see_title(page, "The end")
    page.keyboard.press("Home")
    see_title(page, "A head")
    expect(page.locator(".guess .option")).to_have_count(12)
    expect(page.locator(".heatmap")).to_have_count(0)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("show the answer to a question")
    assert page.errors == []


@pytest.mark.matrix
def test_a_question_keeps_to_the_width_of_a_phone(page, server):
    page.set_viewport_size({"width": 375, "height": 812})
    with_talk(page, server, TALK, "?talk=2")
    page.locator(".guess .head:visible").first.wait_for()
    main = page.locator("[data-testid=stMain]")
    assert main.evaluate("node => node.scrollWidth <= node.clientWidth")
