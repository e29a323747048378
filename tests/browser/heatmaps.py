"""Reading the cells of a heatmap as a person does: by pointing at them."""

import re

import pytest
from playwright.sync_api import Error

from headlight.viz.tokens import WRITES
from tests.browser.rest import box_at_rest, until

PLACE = ("left", "top", "side")  # pixels: of the first cell, and of a cell
REDRAWN = (Error, AttributeError, AssertionError)  # a map that is redrawn under the pointer
READING = re.compile("“(.*)” (?:looks at|without) “(.*)”: (.*)")


def point_of(heatmap, row, column):
    """Where on the screen a cell of a heatmap is, from its sides as the canvas tells them."""
    canvas = heatmap.locator("canvas.map")
    box = box_at_rest(canvas)
    scale = canvas.evaluate("node => node.getBoundingClientRect().width / node.offsetWidth")
    left, top, side = (scale * float(canvas.get_attribute(f"data-{name}")) for name in PLACE)
    return box["x"] + left + side * (column + 0.5), box["y"] + top + side * (row + 0.5)


def hover_cell(page, heatmap, row, column):
    """Point at a cell of a heatmap and return what is read out: query, key, weight."""
    page.mouse.move(5, 5)
    page.mouse.move(*point_of(heatmap, row, column))
    return READING.fullmatch(heatmap.locator(".reading").text_content()).groups()


def expect_weight(page, heatmap, trace, site, head, row, column):
    """Point at a cell until it shows the tokens and the weight of the trace, or for long enough."""
    weights = trace.attention[site].weights[0, head]
    tokens = (trace.query_tokens(site), trace.key_tokens(site))
    queries, keys = ([token.text for token in axis] for axis in tokens)
    expect_cell(page, heatmap, weights, queries, keys, row, column)


def expect_cell(page, heatmap, weights, queries, keys, row, column):
    """Point at a cell until it shows its tokens and its weight, or for long enough.

    For a decoder's query it is the token that it read, whatever it writes.
    """
    expected = queries[row], keys[column], pytest.approx(float(weights[row, column]), abs=6e-4)

    def is_shown():
        query, key, said = hover_cell(page, heatmap, row, column)
        weight = float(said.removeprefix("weight ")) if said.startswith("weight ") else said
        assert (query.partition(WRITES)[0], key, weight) == expected
        return True

    until(page, is_shown, *REDRAWN)


def read_cell(page, heatmap, row, column, said):
    """Point at a cell until it says this, or for long enough; return its query and its key."""

    def is_read():
        *pair, told = hover_cell(page, heatmap, row, column)
        assert told == said
        return pair

    return until(page, is_read, *REDRAWN)
