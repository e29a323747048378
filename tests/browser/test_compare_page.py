"""Two scenes side by side: chosen by one click, read under one cursor, kept in the address."""

import re

import pytest
from playwright.sync_api import expect

from headlight.model.edits import Edits
from headlight.model.transformer.trace import Site
from headlight.viz.tokens import WRITES
from tests.browser.rest import box_at_rest

DOG = "The dog ate the meat because it was hungry."
TIRED = "The animal didn't cross the street because it was too tired."
WIDE = "The animal didn't cross the street because it was too wide."


@pytest.fixture
def compare(page, server):
    page.goto(f"{server}/compare")
    page.get_by_text("Translation of B").first.wait_for()
    return page


def head(translator, sentence, kind, layer, number, **options):
    """A head's weights, and the tokens of its queries and keys."""
    trace = translator.trace(sentence, **options)
    site = Site(kind, layer - 1)
    axes = (
        [token.text for token in trace.query_tokens(site)],
        [token.text for token in trace.key_tokens(site)],
    )
    return trace.attention[site].weights[0, number - 1], *axes


def preset(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def read_at(page, which, query, key):
    """Point at a cell of one map by the keyboard, from its first cell on."""
    canvas = page.locator(".compared-maps .map").nth(which)
    canvas.focus()
    for _ in range(40):  # to the first cell, wherever another map was pointed at
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowLeft")
    for _ in range(query):
        page.keyboard.press("ArrowDown")
    for _ in range(key):
        page.keyboard.press("ArrowRight")


def expect_reading(page, words):
    expect(page.locator(".compared-maps .reading")).to_have_text(words)


def in_words(query, key, first, second):
    change = f"{round(second, 3) - round(first, 3):+.3f}".replace("-", "\u2212")
    return f"“{query}” looks at “{key}”: A {first:.3f}, B {second:.3f}, difference {change}."


def test_one_cursor_reads_both_maps_and_their_difference(compare, translator):
    first, queries, keys = head(translator, TIRED, "encoder", 2, 2)
    second, *_ = head(translator, WIDE, "encoder", 2, 2)
    it, street = queries.index("it"), keys.index("street")
    expected = in_words("it", "street", first[it, street].item(), second[it, street].item())
    for which in (0, 1, 2):  # up to here the places are the same in all three
        read_at(compare, which, it, street)
        expect_reading(compare, expected)
    read_at(compare, 0, it, keys.index("tired"))
    weight = first[it, keys.index("tired")].item()
    missing = f"A {weight:.3f}, B has no such cell, nothing to compare."
    expect_reading(compare, f"“it” looks at “tired (A)”: {missing}")


@pytest.mark.matrix
def test_the_pointer_finds_the_counterpart_behind_a_longer_word(compare, translator):
    """What comes after “wide” corresponds to what comes after “tired”."""
    first, queries, keys = head(translator, TIRED, "encoder", 2, 2)
    second, others, other_keys = head(translator, WIDE, "encoder", 2, 2)
    read_at(compare, 1, others.index("it"), other_keys.index("."))
    weights = (
        first[queries.index("it"), keys.index(".")].item(),
        second[others.index("it"), other_keys.index(".")].item(),
    )
    expect_reading(compare, in_words("it", ".", *weights))
    # By the mouse: the same place on the screen is another token in the other map.
    canvas = compare.locator(".compared-maps .map").nth(0)
    box = box_at_rest(canvas)
    canvas.hover(position={"x": box["width"] / 2, "y": box["height"] * 0.9})
    expect(compare.locator(".compared-maps .reading")).not_to_have_text(
        in_words("it", ".", *weights)
    )
    canvas.press("ArrowUp")
    expect(compare.locator(".compared-maps .reading")).to_have_text(re.compile("^“tired"))


@pytest.mark.matrix
def test_presets_are_one_click_and_the_browser_goes_back(compare, translator):
    captions = compare.locator(".compared-maps figcaption")
    preset(compare, "Two heads")
    expect(captions.nth(0)).to_have_text(re.compile("Cross-attention, layer 2, head 1$"))
    expect(captions.nth(1)).to_have_text(re.compile("Cross-attention, layer 2, head 2$"))
    first, queries, keys = head(translator, DOG, "cross", 2, 1)
    second, *_ = head(translator, DOG, "cross", 2, 2)
    read_at(compare, 0, 0, 0)
    query = f"{queries[0]}{WRITES}{queries[1]}"
    expect_reading(compare, in_words(query, keys[0], first[0, 0].item(), second[0, 0].item()))
    preset(compare, "Two models")
    expect(captions.nth(1)).to_have_text(re.compile("^B: Small English to French"))
    preset(compare, "Two snapshots")
    expect(captions.nth(0)).to_have_text(re.compile("during its training, step 1,000"))
    expect(captions.nth(1)).to_have_text(re.compile("during its training, step 12,000"))
    compare.go_back()
    expect(captions.nth(1)).to_have_text(re.compile("^B: Small English to French"))
    compare.reload()
    expect(captions.nth(1)).to_have_text(re.compile("^B: Small English to French"))


@pytest.mark.matrix
def test_the_boxes_that_choose_a_head_are_in_one_line_below_a_long_name_of_a_model(compare):
    compare.set_viewport_size({"width": 1280, "height": 720})
    preset(compare, "Two models")
    expect(compare.get_by_role("combobox", name="Model").last).to_have_value(re.compile("Small"))
    model, *boxes = [
        box_at_rest(compare.get_by_role("combobox", name=name).last)
        for name in ("Model", "Attention", "Layer", "Head")
    ]
    assert len({box["y"] for box in boxes}) == 1
    assert boxes[0]["y"] > model["y"] + model["height"]


def test_changes_made_on_the_heads_page_are_compared(page, server, translator):
    page.goto(f"{server}/heads?sentence={TIRED}&head=2&edits=gate.cross.2.2.0")
    page.get_by_text("Which heads matter").wait_for()
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_text("Translation of B").first.wait_for()
    captions = page.locator(".compared-maps figcaption")
    # A removed head looks where it looked, so that another one shows what the change does.
    expect(captions.nth(1)).to_have_text(
        re.compile("with changes · Decoder, masked, layer 3, head 3")
    )
    sites = Edits(gates={("cross", 1, 1): 0.0}).at_sites(translator.shape, 70)
    original = translator.translate(TIRED)
    page.get_by_text("Both decoders read").wait_for()
    texts = page.locator(".token-strip .text")
    expect(texts).to_have_text([original.text, translator.translate(TIRED, edits=sites).text])
    first, queries, keys = head(translator, TIRED, "decoder", 3, 3, target=original)
    second, *_ = head(translator, TIRED, "decoder", 3, 3, target=original, edits=sites)
    read_at(page, 2, 1, 1)
    query = f"{queries[1]}{WRITES}{queries[2]}"
    expect_reading(page, in_words(query, keys[1], first[1, 1].item(), second[1, 1].item()))


@pytest.mark.matrix
def test_a_scene_is_taken_from_a_pasted_link(compare, translator):
    compare.get_by_role("button", name="More of A").click()
    box = compare.get_by_role("textbox", name="Paste a Headlight link").first
    box.fill("http://elsewhere/heads?sentence=Who+is+that%3F&kind=decoder&layer=1&head=4")
    box.press("Enter")
    captions = compare.locator(".compared-maps figcaption")
    expect(captions.nth(0)).to_have_text(re.compile("Decoder, masked, layer 1, head 4$"))
    expect(compare.locator(".token-strip .text").first).to_have_text(
        translator.translate("Who is that?").text
    )
