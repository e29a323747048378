"""The canvas pictures of 512 tokens, on a page of their own."""

import numpy as np
import pytest
from playwright.sync_api import expect

from headlight.viz import attention_lines, head_grid
from headlight.viz.numbers import number_text
from tests.browser.answers import noting, picked

TOKENS = [f"token{index}" for index in range(512)]
PLACES = np.random.default_rng(0).integers(0, 512, (12, 12, 2))
TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.mark.parametrize(("query", "key"), [(300, 310), (300, 2), (2, 300)])
def test_a_lit_token_of_a_long_text_is_in_sight_with_what_it_looks_at_if_both_fit(page, query, key):
    weights = np.full((512, 512), 0.001, np.float32)
    weights[query, key] = 0.5
    page.set_viewport_size({"width": 900, "height": 700})
    page.set_content(attention_lines(weights, TOKENS, lit=("query", query)).to_html())
    expect(page.locator(".token.query").nth(query)).to_be_in_viewport(ratio=1)
    looked_at = page.locator(".token.key").nth(key)
    if abs(query - key) < 20:
        expect(looked_at).to_be_in_viewport()
    else:
        expect(looked_at).not_to_be_in_viewport()
    expect(page.get_by_text("The other tokens are above and below: scroll.")).to_be_attached()


def test_a_lit_token_and_its_key_are_in_sight_under_the_headings_on_a_page_that_goes_on(page):
    weights = np.full((512, 512), 0.001, np.float32)
    weights[20, 26] = 0.5
    page.set_viewport_size({"width": 900, "height": 700})
    picture = attention_lines(weights, TOKENS, lit=("query", 20)).to_html()
    style = "<style>body { padding-top: 420px }</style>"
    page.set_content(picture.replace("<title></title>", style, 1))
    query, key = page.locator(".token.query").nth(20), page.locator(".token.key").nth(26)
    expect(query).to_be_in_viewport(ratio=1)
    expect(key).to_be_in_viewport(ratio=1)
    for side, token in (("query: looking", query), ("key: looked at", key)):
        heading = page.get_by_text(side, exact=True)
        expect(heading).to_be_in_viewport(ratio=1)
        under = heading.bounding_box()
        assert token.bounding_box()["y"] >= under["y"] + under["height"]
    assert page.locator(".attention-lines").evaluate("lines => lines.scrollTop") > 0


@pytest.fixture(scope="module")
def grid():
    """Maps of nothing but one weight, at a place of its own in each."""
    weights = np.zeros((12, 12, 512, 512), np.float32)
    for layer, head in np.ndindex(12, 12):
        weights[layer, head][*PLACES[layer, head]] = 1
    return head_grid(weights, TOKENS).to_html()


def test_the_one_bright_cell_of_a_large_map_is_seen_where_it_is(page, grid):
    page.set_viewport_size({"width": 640, "height": 900})
    page.set_content(grid)
    page.get_by_text("each dot shows the largest of about").wait_for()
    boxes = page.locator(".map").evaluate_all(
        "maps => maps.map((map) => [map.offsetLeft, map.offsetTop, map.offsetWidth, "
        "map.offsetHeight])"
    )
    bright = page.locator("canvas").evaluate(  # the scale runs from violet to yellow
        """(canvas) => {
            const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            const found = [];
            for (let at = 0; at < canvas.width * canvas.height; at++)
                if (pixels.data[4 * at] > 200)
                    found.push([Math.floor(at / canvas.width), at % canvas.width]);
            return found;
        }"""
    )
    assert len(bright) == 144
    for (left, top, width, height), place in zip(boxes, PLACES.reshape(-1, 2), strict=True):
        shares = (np.array(bright) - [top, left]) / [height, width]  # of the map's height and width
        (match,) = shares[((shares >= 0) & (shares < 1)).all(axis=1)]
        np.testing.assert_allclose(match, place / 512, atol=0.06)
    assert page.errors == []


def test_a_click_on_a_large_map_picks_it_and_pointing_reads_it(page, grid):
    page.set_content(noting(grid))
    page.locator(".map").nth(12 * 8 + 4).click()
    assert picked(page) == [8, 4]
    query, key = PLACES[8, 4]
    assert page.locator(".reading").text_content() == (
        f"layer 9, head 5: largest weight 1.000, from “token{query}” to “token{key}”"
    )
    assert page.errors == []


def strokes(page):
    """For each row of tokens in view, whether lines begin there and end there."""
    return page.locator("canvas").evaluate(
        """(canvas) => {
            const context = canvas.getContext("2d");
            const drawn = (x, y) => context.getImageData(x, y - 2, 1, 5).data
                .some((level, at) => at % 4 === 3 && level > 40);
            const place = canvas.getBoundingClientRect();
            const seen = [];
            for (const button of document.querySelectorAll(".query")) {
                const { top, height } = button.getBoundingClientRect();
                const y = Math.round(top + height / 2 - place.top);
                if (y < 2 || y > canvas.height - 3) continue;
                seen.push([button.textContent, drawn(1, y), drawn(canvas.width - 2, y)]);
            }
            return seen;
        }"""
    )


def test_lines_of_a_long_text_are_drawn_wherever_one_scrolls(page):
    weights = np.zeros((512, 512), np.float32)
    for position in range(0, 500, 2):  # from every even token to the one three below
        weights[position, position + 3] = 1
    weights[0, 511] = 1
    page.set_content(attention_lines(weights, TOKENS).to_html())
    for first in (0, 250, 488):
        page.locator(".query").nth(first).evaluate(
            "token => { token.closest('.attention-lines').scrollTop += "
            "token.getBoundingClientRect().top; }"
        )
        page.evaluate(TWO_FRAMES)
        rows = strokes(page)
        assert len(rows) > 20
        for token, begins, ends in rows:
            place = int(token.removeprefix("token"))
            assert begins == bool(weights[place].any()), token
            assert ends == bool(weights[:, place].any()), token
    assert page.locator(".note").text_content().startswith("Drawn: the strongest lines")
    assert page.errors == []


def test_pointing_into_a_long_text_writes_all_weights_of_the_token(page):
    weights = np.random.default_rng(1).dirichlet(np.ones(512), 512).astype(np.float32)
    page.set_content(attention_lines(weights, TOKENS).to_html())
    page.locator(".query").nth(400).hover()
    shown = page.locator(".key .weight").all_text_contents()
    assert shown == list(map(number_text, weights[400]))
    assert set(page.locator(".query .weight").all_text_contents()) == {""}
    page.locator(".note").hover()
    assert set(page.locator(".key .weight").all_text_contents()) == {""}
    assert page.errors == []
