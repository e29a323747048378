"""The canvas pictures on a page of their own, as in a notebook."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from headlight.viz import Chip, attention_lines, head_effects, head_grid, token_strip
from tests.browser.translating import translate, translated

QUERIES, KEYS = ["le", "chat", "</script>"], ["the", "<b>cat</b>"]


@pytest.fixture
def weights():
    return np.random.default_rng(0).dirichlet(np.ones(2), (2, 4, 3))  # (layers, heads, 3, 2)


def test_the_grid_draws_the_weights_in_the_colours_of_the_scale(page, weights):
    weights[1, 2] = [[0, 1], [1, 0], [0.5, 0.5]]
    page.set_content(head_grid(weights, QUERIES, KEYS).to_html())
    button = page.get_by_role("button", name=re.compile("^layer 2, head 3: largest weight 1.000"))
    box = button.bounding_box()

    def color(row, column):
        """The pixel in the middle of a cell of that map."""
        x = box["x"] + box["width"] * (column + 0.5) / 2
        y = box["y"] + box["height"] * (row + 0.5) / 3
        return page.locator("canvas").evaluate(
            """(canvas, [x, y]) => {
                const place = canvas.getBoundingClientRect();
                const ratio = canvas.width / place.width;
                const context = canvas.getContext("2d");
                return [...context.getImageData((x - place.x) * ratio, (y - place.y) * ratio, 1, 1)
                    .data].slice(0, 3);
            }""",
            [x, y],
        )

    dark, bright, middle = [68, 1, 84], [253, 231, 37], [33, 145, 140]
    for row, column, expected in (
        (0, 0, dark), (0, 1, bright), (1, 0, bright), (1, 1, dark), (2, 0, middle), (2, 1, middle),
    ):  # fmt: skip
        np.testing.assert_allclose(color(row, column), expected, atol=8)
    assert page.errors == []


def test_the_lines_answer_to_pointing_and_keep_what_is_clicked(page, weights):
    page.set_content(attention_lines(weights[0, 0], QUERIES, KEYS).to_html())
    token = page.locator(".query").nth(2)
    assert token.locator(".name").text_content() == "</script>"
    token.click()
    page.mouse.move(1, 1)
    shown = [float(text) for text in page.locator(".key .weight").all_text_contents()]
    np.testing.assert_allclose(shown, weights[0, 0, 2], atol=6e-4)
    assert token.get_attribute("aria-pressed") == "true"
    token.click()
    assert token.get_attribute("aria-pressed") == "false"
    assert page.errors == []


@pytest.mark.parametrize("way", ["to_html", "to_component"])
def test_a_browser_translates_no_token_number_or_caption(page, weights, way):
    picture = head_grid(weights, QUERIES, KEYS)
    titles = ("Heads",) if way == "to_html" else ()
    page.set_content(getattr(picture, way)(*titles, "Heads of “the cat”: 0.5"))
    page.get_by_role("button", name=re.compile("^layer 2, head 3")).wait_for()
    translate(page)
    assert translated(page) == []


def test_a_token_strip_shows_markup_as_text(page):
    chips = [Chip("<i>", kind="unknown"), Chip("x", joined=True), Chip("<end>", kind="special")]
    page.set_content(token_strip("<i>x", chips, label="A label").to_html())
    assert page.locator(".text").text_content() == "<i>x"
    assert page.locator(".word").first.locator(".chip").all_text_contents() == ["<i>", "x"]
    assert page.locator("i").count() == 0
    assert page.errors == []


def test_effects_are_written_coloured_and_reached_with_the_keyboard(page):
    effects = {"encoder": np.array([[-2.0, 0.04], [np.nan, 1.0]]), "cross": np.array([[0.5, -0.2]])}
    labels = {"encoder": "<b>Encoder", "cross": "Cross"}
    picture = head_effects(effects, labels=labels, selected=("encoder", 0, 1))
    page.set_content(picture.to_html())
    cells = page.locator(".head")
    assert cells.all_text_contents() == ["\u22122.0", "<0.1", "", "+1.0", "+0.5", "\u22120.2"]
    assert [cell.get_attribute("tabindex") for cell in cells.all()] == ["-1", "0"] + ["-1"] * 4
    page.keyboard.press("Tab")
    for key, words in {
        "ArrowLeft": "layer 1, head 1: \u22122.000 nats without it",
        "ArrowDown": "layer 2, head 1: not yet measured",
        "ArrowRight": "layer 2, head 2: +1.000 nats without it",
    }.items():
        page.keyboard.press(key)
        assert page.locator(".reading").text_content() == f"<b>Encoder, {words}"

    def color(place):
        text = cells.nth(place).evaluate("node => getComputedStyle(node).backgroundColor")
        return [int(part) for part in re.findall(r"\d+", text)[:3]]

    red, _, blue = color(0)
    assert blue > red + 50
    red, _, blue = color(3)
    assert red > blue + 50
    assert page.errors == []


def test_a_written_token_tells_its_probability_when_pointed_at_or_focused(page):
    chips = [Chip("Mon", probability=0.9), Chip("chat", probability=0.25)]
    page.set_content(token_strip("Mon chat", chips, label="A label").to_html())
    first, second = page.get_by_role("img", name="probability").all()
    legend = page.locator(".legend")
    expect(legend).to_contain_text("less likely")
    second.hover()
    expect(legend).to_contain_text("chat: probability 0.250")
    page.mouse.move(1, 300)
    expect(legend).not_to_contain_text("0.250")
    page.keyboard.press("Tab")
    expect(first).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(second).to_be_focused()
    expect(legend).to_contain_text("chat: probability 0.250")
    shades = [
        item.evaluate("chip => getComputedStyle(chip).backgroundColor") for item in (first, second)
    ]
    assert shades[0] != shades[1]
    assert page.errors == []


def test_a_token_strip_without_an_explanation_still_tells_probabilities(page):
    strip = token_strip("Mon", [Chip("Mon", probability=0.9)], label="A label", explained=False)
    page.set_content(strip.to_html())
    legend = page.locator(".legend")
    expect(legend).to_have_text("")
    height = legend.bounding_box()["height"]
    page.get_by_role("img", name="probability").hover()
    expect(legend).to_have_text("Mon: probability 0.900.")
    assert legend.bounding_box()["height"] == height > 0
