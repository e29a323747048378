"""Reading the cells of a heatmap as a person does: by pointing at them."""

import contextlib

import pytest
from playwright.sync_api import Error


def hover_cell(page, chart, row, column, shape):
    """Point at a cell of a heatmap and return its hover lines: query, key, weight."""
    plot = chart.locator(".nsewdrag").first
    plot.scroll_into_view_if_needed(timeout=3_000)
    box = plot.bounding_box()
    x = box["x"] + box["width"] * (column + 0.5) / shape[1]
    y = box["y"] + box["height"] * (row + 0.5) / shape[0]
    page.mouse.move(5, 5)
    page.mouse.move(x - 0.5, y - 0.5)
    page.mouse.move(x, y)
    text = chart.locator(".hoverlayer .hovertext .nums tspan.line")
    text.first.wait_for(timeout=3_000)
    return text.all_text_contents()


def expect_weight(page, chart, trace, site, head, row, column):
    """Point at a cell until it shows the tokens and the weight of the trace, or for long enough."""
    weights = trace.attention[site].weights[0, head]
    expected = (
        f"query {trace.query_tokens(site)[row].text}",
        f"key {trace.key_tokens(site)[column].text}",
        pytest.approx(weights[row, column].item(), abs=6e-5),
    )
    shown = None
    for _ in range(30):
        with contextlib.suppress(Error, TypeError):  # a chart may be redrawn under the pointer
            query, key, last = hover_cell(page, chart, row, column, weights.shape)
            weight = float(last.removeprefix("weight ")) if last.startswith("weight ") else last
            shown = (query, key, weight)
        if shown == expected:
            return
        page.wait_for_timeout(500)
    assert shown == expected
