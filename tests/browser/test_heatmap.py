"""One head as a heatmap, on a page of its own."""

import numpy as np
import pytest
from playwright.sync_api import expect

from headlight.viz import attention_heatmap
from tests.browser.answers import noting, picked
from tests.browser.heatmaps import expect_cell, point_of
from tests.matrix import first_of

DARK, BRIGHT = (68, 1, 84), (253, 231, 37)  # the ends of the scale


def open_map(page, weights, *options, **more):
    """A page of a map that notes what is picked; returns the map."""
    tokens = [f"token{position}" for position in range(max(weights.shape))]
    axes = tokens[: weights.shape[0]], tokens[: weights.shape[1]]
    picture = attention_heatmap(weights, *axes, *options, **more)
    page.set_content(noting(picture.to_html()))
    heatmap = page.locator(".heatmap")
    heatmap.locator("canvas.map").wait_for()
    return heatmap, *axes


def color_at(page, heatmap, row, column):
    """The colour of a cell as the screen has it."""
    x, y = point_of(heatmap, row, column)
    box = heatmap.locator("canvas.map").bounding_box()
    pixel = heatmap.locator("canvas.map").evaluate(
        "(canvas, [x, y]) => [...canvas.getContext('2d').getImageData(x, y, 1, 1).data]",
        [int(x - box["x"]), int(y - box["y"])],
    )
    return tuple(pixel[:3])


@pytest.mark.parametrize("tokens", first_of([2, 12, 40, 200, 512], 4))
def test_every_cell_has_the_colour_and_says_the_number_of_its_place(page, tokens):
    weights = np.zeros((tokens, tokens), np.float32)
    bright = [(0, tokens - 1), (tokens // 2, tokens // 2)]
    for row, column in bright:
        weights[row, column] = 1
    heatmap, *axes = open_map(page, weights)
    for row, column in bright:
        assert color_at(page, heatmap, row, column) == BRIGHT
        assert color_at(page, heatmap, column, row) == (BRIGHT if row == column else DARK)
        expect_cell(page, heatmap, weights, *axes, row, column)
    assert page.errors == []


def test_blocked_cells_are_told_apart_and_not_read_as_numbers(page):
    weights = np.eye(6, dtype=np.float32)
    blocked = np.triu(np.ones((6, 6), bool), 1)
    heatmap, *_ = open_map(page, weights, blocked=blocked)
    page.mouse.move(*point_of(heatmap, 1, 4))
    assert heatmap.locator(".reading").text_content() == "“token1” looks at “token4”: blocked"
    red, green, blue = color_at(page, heatmap, 1, 4)
    assert red == green == blue
    assert color_at(page, heatmap, 4, 1) == DARK


def test_a_framed_cell_is_marked_until_another_one_is_read(page):
    heatmap, *_ = open_map(page, np.zeros((3, 4), np.float32), framed=(1, 2))
    canvas = heatmap.locator("canvas.map")
    beside = """canvas => {
      const [left, top, side] = ["left", "top", "side"].map((name) => Number(canvas.dataset[name]));
      const at = [left + 2 * side - 3, top + 1.5 * side];
      return [...canvas.getContext("2d").getImageData(...at, 1, 1).data].slice(0, 3);
    }"""
    assert max(canvas.evaluate(beside)) < 20, "black"
    page.mouse.move(*point_of(heatmap, 0, 0))
    expect(heatmap.locator(".reading")).to_contain_text("“token0” looks at “token0”")
    assert tuple(canvas.evaluate(beside)) == DARK


def test_the_map_keeps_its_place_when_a_long_hint_gives_way_to_a_reading(page):
    page.set_viewport_size({"width": 160, "height": 720})
    heatmap, *_ = open_map(page, np.eye(6, dtype=np.float32), clickable=True)
    canvas = heatmap.locator("canvas.map")
    before = canvas.bounding_box()
    page.mouse.move(*point_of(heatmap, 1, 1))
    expect(heatmap.locator(".reading")).to_contain_text("“token1” looks at “token1”")
    assert canvas.bounding_box() == before


def test_a_click_answers_with_the_cell_where_cells_are_large_enough(page):
    heatmap, *_ = open_map(page, np.eye(12, dtype=np.float32), clickable=True)
    page.mouse.click(*point_of(heatmap, 3, 7))
    assert picked(page) == [3, 7]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert picked(page) == [4, 6]


def test_a_first_tap_reads_a_cell_and_a_second_one_picks_it(browser):
    context = browser.new_context(has_touch=True, is_mobile=True)
    page = context.new_page()
    heatmap, *_ = open_map(page, np.eye(6, dtype=np.float32), clickable=True)
    hint = "Tap a cell to read it. Tap it again to take its weight apart."
    assert heatmap.locator(".hint").text_content() == hint
    for row, column in ((3, 3), (2, 4)):
        page.touchscreen.tap(*point_of(heatmap, row, column))
        reading = f"“token{row}” looks at “token{column}”: weight {int(row == column)}.000"
        expect(heatmap.locator(".reading")).to_have_text(reading)
        assert picked(page) is None
    page.touchscreen.tap(*point_of(heatmap, 2, 4))
    assert picked(page) == [2, 4]
    context.close()


def test_a_tap_zooms_in_on_a_phone_until_tokens_have_room(browser):
    context = browser.new_context(has_touch=True, is_mobile=True)
    page = context.new_page()
    heatmap, *_ = open_map(page, np.eye(150, dtype=np.float32), clickable=True)
    expect(heatmap.locator(".hint")).to_have_text("Tap a cell to zoom in on it.")
    page.touchscreen.tap(*point_of(heatmap, 20, 20))
    caption = heatmap.locator("figcaption")
    expect(caption).to_contain_text("Shown: rows 15 to 27 of 150, columns 15 to 27 of 150")
    assert float(heatmap.locator("canvas.map").get_attribute("data-left")) > 0, "no tokens"
    page.touchscreen.tap(*point_of(heatmap, 6, 6))  # of those shown
    expect(heatmap.locator(".reading")).to_contain_text("“token20” looks at “token20”")
    assert picked(page) is None
    context.close()


def test_a_click_zooms_in_where_cells_are_small_and_then_answers(page):
    weights = np.random.default_rng(0).dirichlet(np.ones(300), 300).astype(np.float32)
    heatmap, *axes = open_map(page, weights, clickable=True)
    expect(heatmap.locator(".hint")).to_contain_text("click it to zoom in on it. Drag")
    page.mouse.click(*point_of(heatmap, 100, 150))
    assert picked(page) is None
    caption = heatmap.locator("figcaption").text_content()
    assert caption.endswith("Shown: rows 89 to 113 of 300, columns 139 to 163 of 300")
    page.mouse.click(*point_of(heatmap, 12, 12))  # of those shown
    assert picked(page) == [100, 150]
    shown = heatmap.locator(".reading").text_content()
    assert shown == f"“token100” looks at “token150”: weight {weights[100, 150]:.3f}"
    page.get_by_role("button", name="Show all").click()
    assert "Shown" not in heatmap.locator("figcaption").text_content()
    expect_cell(page, heatmap, weights, *axes, 299, 299)


def test_a_drag_zooms_into_what_it_covers_and_escape_goes_back(page):
    heatmap, *_ = open_map(page, np.eye(30, dtype=np.float32), clickable=True)
    page.mouse.move(*point_of(heatmap, 4, 10))
    page.mouse.down()
    page.mouse.move(*point_of(heatmap, 9, 12), steps=3)
    page.mouse.up()
    caption = heatmap.locator("figcaption").text_content()
    assert caption.endswith("Shown: rows 5 to 10 of 30, columns 11 to 13 of 30")
    assert picked(page) is None
    page.keyboard.press("Escape")
    assert "Shown" not in heatmap.locator("figcaption").text_content()


def test_the_keyboard_zooms_in_around_a_cell(page):
    heatmap, *_ = open_map(page, np.eye(30, dtype=np.float32))
    page.mouse.move(*point_of(heatmap, 10, 20))
    heatmap.locator("canvas.map").press("+")
    caption = heatmap.locator("figcaption")
    expect(caption).to_contain_text("rows 4 to 18 of 30, columns 14 to 28 of 30")
    page.keyboard.press("+")
    expect(caption).to_contain_text("rows 8 to 14 of 30, columns 18 to 24 of 30")
    page.keyboard.press("Escape")
    expect(caption).not_to_contain_text("Shown")


def test_the_largest_number_is_said_to_those_who_cannot_see_it(page):
    weights = np.array([[0.1, 0.7], [0.3, 0.2]], np.float32)
    heatmap, *_ = open_map(page, weights)
    label = heatmap.locator("canvas.map").get_attribute("aria-label")
    assert "largest weight 0.700, from “token0” to “token1”" in label
