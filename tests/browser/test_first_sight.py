"""What is seen without scrolling, on a window of 1280 by 720."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.boxes import box
from tests.browser.entries import of_wings
from tests.browser.heatmaps import hover_cell, point_of
from tests.browser.rest import box_at_rest, settled
from tests.matrix import first_of
from tests.model.library.conftest import transformers_folders

__all__ = ["transformers_folders"]

LOWEST = 370  # pixels: where a picture begins below its lead, and most of it is in sight
HEIGHT = 720
SMALL = {
    "": ".attention-lines",
    "masks": ".mask-matrix canvas",
    "heads": ".switchboard",
    "compare": ".compared-maps canvas",
    "decoding": ".decoding-player",
} | of_wings("SMALL")
LONG = "the old man and the small dog were in the house " * 4


def expect_above_the_fold(picture, tallest=None, lowest=LOWEST):
    """Expect a picture to begin high on the page, and all of it to be seen if it has to be."""
    place = box_at_rest(picture, scroll=False)
    assert 0 < place["y"] < lowest
    assert place["width"] > 200
    if tallest:
        assert place["y"] + place["height"] <= tallest


@pytest.mark.parametrize("query", first_of(["", "?kind=cross&layer=2&head=3&picture=lines"]))
def test_attention_shows_all_its_lines(page, server, query):
    page.goto(f"{server}/{query}")
    expect_above_the_fold(page.locator(".attention-lines"))
    last = box_at_rest(page.locator(".attention-lines .query").last, scroll=False)
    assert last["y"] + last["height"] <= HEIGHT


@pytest.mark.parametrize("width", [390, 1280])
def test_the_translation_is_in_sight(page, server, translator, width):
    page.set_viewport_size({"width": width, "height": HEIGHT})
    page.goto(f"{server}/?sentence=We left.")
    written = page.get_by_text(translator.translate("We left.").text).filter(visible=True)
    expect(written.first).to_be_in_viewport(ratio=1)
    expect(written).to_have_count(2 if width < 641 else 1)


@pytest.mark.parametrize(
    ("path", "picture"),
    [
        ("?kind=cross", ".heatmap canvas.map"),
        ("masks", ".mask-matrix canvas"),
        ("decoding", ".decoding-player"),
        (f"?kind=encoder&picture=heatmap&sentence={LONG}", ".heatmap canvas.map"),
        (f"masks?sentence={LONG}", ".mask-matrix canvas"),
    ],
)
def test_the_main_picture_is_in_sight(page, server, path, picture):
    page.goto(f"{server}/{path}")
    fits = picture.endswith(("map", "canvas")) and LONG not in path
    below_notices = 80 if LONG in path else 0  # what may be lost, and a beam's likelier text
    tallest = HEIGHT if fits else None
    expect_above_the_fold(page.locator(picture).first, tallest, LOWEST + below_notices)


@pytest.mark.parametrize("size", first_of(["640 360", "390 844"]))  # at 200 %, and on a phone
@pytest.mark.parametrize(("path", "picture"), SMALL.items())
def test_a_picture_is_in_sight_on_a_small_screen(page, server, size, path, picture):
    width, height = map(int, size.split())
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{server}/{path}")
    assert box_at_rest(page.locator(picture).first, scroll=False)["y"] < 0.95 * height


@pytest.mark.parametrize(
    ("path", "tapped"),
    [("heads", ".switchboard .head >> nth=20"), ("masks", ".mask-matrix canvas")],
)
def test_a_tap_moves_nothing_and_its_answer_is_in_sight(page, server, path, tapped):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server}/{path}?sentence=I love my cat.")
    settled(page)
    before = box_at_rest(page.locator(tapped), scroll=False)
    page.locator(tapped).click()
    page.get_by_text(re.compile("^The translation .* nats ")).wait_for()
    assert box_at_rest(page.locator(tapped), scroll=False) == before
    answer = box_at_rest(page.locator(".st-key-lead-outcome"), scroll=False)
    undo = box_at_rest(page.get_by_role("button", name="Undo all"), scroll=False)
    assert answer["y"] + answer["height"] <= undo["y"] + 1
    assert undo["y"] + undo["height"] <= 844


def test_a_phone_names_changes_that_were_brought_above_what_they_change(page, server):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server}/masks?edits=gate.cross.1.4.0")
    matrix = box_at_rest(page.locator(".mask-matrix canvas"), scroll=False)
    badge = page.locator(".st-key-changes").get_by_text("1 head off").filter(visible=True)
    named = box_at_rest(badge, scroll=False)
    assert named["y"] < matrix["y"] < 844


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("path", "picture"),
    first_of(
        [("", ".heatmap canvas.map"), ("masks", ".mask-matrix"), ("decoding", ".decoding-player")]
    ),
)
def test_a_decoder_alone_is_in_sight_too(page, server, transformers_folders, path, picture):
    folder = transformers_folders["GPT-2"]
    page.goto(f"{server}/{path}?model=transformers:{folder}&sentence=I love my cat.")
    offer = page.get_by_role("button", name="Load it")
    offer.or_(page.locator(picture)).first.wait_for()
    if offer.is_visible():
        offer.click()
    expect_above_the_fold(page.locator(picture).first)


def test_the_first_page_tells_what_its_lines_show(page, server):
    page.goto(server)
    page.get_by_text(re.compile("“it” gives 0[.]\\d{3} of its attention to “dog”")).wait_for()
    lit = page.locator(".attention-lines .token[aria-pressed=true]")
    expect(lit).to_have_text(re.compile("it"))
    page.locator(".attention-lines .query").filter(has_text="hungry").click()
    page.get_by_text(re.compile("“hungry” gives")).wait_for()
    expect(page).to_have_url(re.compile("lit=q9"))
    page.reload()
    expect(lit).to_have_text(re.compile("hungry"))


def test_an_example_is_chosen_in_the_menu(page, server):
    page.goto(server)
    page.get_by_role("button", name="Examples").click()
    page.get_by_role("menuitem", name="How do you feel today?").click()
    expect(page.get_by_label("English sentence")).to_have_value("How do you feel today?")


def test_the_map_shows_and_chooses_a_block_by_mouse_and_by_keys(page, server):
    page.goto(f"{server}/?kind=encoder&layer=1&head=2")
    block = page.locator(".architecture-map").get_by_role("button", pressed=True)
    expect(block).to_have_attribute("aria-label", "Encoder, layer 1")
    page.get_by_role("button", name="Cross-attention, layer 3").click()
    expect(page).to_have_url(re.compile("layer=3&head=2"))
    expect(block).to_have_attribute("aria-label", "Cross-attention, layer 3")
    page.get_by_role("button", name=re.compile("^layer 2, head 5:")).click()
    expect(block).to_have_attribute("aria-label", "Cross-attention, layer 2")
    block.focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(block).to_have_attribute("aria-label", "Decoder, masked, layer 2")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(block).to_have_attribute("aria-label", "Encoder, layer 3")
    expect(page.get_by_role("radio", name="Encoder")).to_be_checked()
    assert page.errors == []


@pytest.mark.matrix
@pytest.mark.parametrize("path", first_of(["masks", "inside"]))
def test_the_map_is_on_every_page_where_a_block_is_chosen(page, server, path):
    page.goto(f"{server}/{path}?kind=encoder&mask_kind=encoder&layer=1")
    block = page.locator(".architecture-map").get_by_role("button", pressed=True)
    expect(block).to_have_attribute("aria-label", "Encoder, layer 1")
    page.get_by_role("button", name="Decoder, masked, layer 2", exact=True).click()
    expect(block).to_have_attribute("aria-label", "Decoder, masked, layer 2")


@pytest.mark.matrix
def test_a_mean_says_before_and_after_a_click_which_head_it_opens(page, server):
    page.goto(f"{server}/?kind=cross&layer=2&head=mean&sentence=I love my cat.")
    heatmap = page.locator(".heatmap")
    _, _, said = hover_cell(page, heatmap, 2, 2)
    match = re.fullmatch(
        r"mean 0\.\d{3}; strongest: head (\d), (0\.\d{3}); click opens head (\d)", said
    )
    head, weight, opened = match.groups()
    assert head == opened
    page.mouse.click(*point_of(heatmap, 2, 2))
    page.get_by_text("mean of the heads”, that with the largest weight here.").wait_for()
    expect(box(page, "Head")).to_have_value(head)
    expect(page.get_by_test_id("stMetricValue").first).to_have_text(weight)


@pytest.mark.parametrize("size", first_of(["640 360", "390 844"]))
def test_on_a_small_screen_the_kinds_of_attention_are_above_the_picture_they_choose(
    page, server, size
):
    width, height = map(int, size.split())
    page.set_viewport_size({"width": width, "height": height})
    page.goto(server)
    kinds = box_at_rest(page.locator(".st-key-kind"), scroll=False)
    assert kinds["y"] + kinds["height"] < box_at_rest(page.locator(".st-key-picture"))["y"]
    page.goto(f"{server}/positions")
    changed = box_at_rest(page.locator(".st-key-positions_encoder"), scroll=False)
    assert changed["y"] < box_at_rest(page.locator(".st-key-kind"), scroll=False)["y"]
