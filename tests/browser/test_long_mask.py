"""A mask of 512 tokens, on a page of its own: only a part of it is in view."""

import numpy as np
import pytest
from playwright.sync_api import expect

from headlight.viz import mask_matrix
from tests.browser.answers import noting, picked

LABEL, SIDE = 92, 13  # as in viz/switches/mask_matrix.js
TOKENS = [f"token{position}" for position in range(512)]


@pytest.fixture
def mask(page):
    visible = np.tri(512, dtype=bool)
    page.set_content(noting(mask_matrix(visible, TOKENS, TOKENS, editable=True).to_html()))
    page.locator("canvas").wait_for()
    return page


def scroll(page, query, key):
    """Scroll until this cell is the first in view."""
    page.locator(".sheet").evaluate(
        "(sheet, at) => sheet.scrollTo(...at)", [SIDE * key, SIDE * query]
    )


def point(page, down, across):
    """Where on the screen a cell is, counted from the first one in view."""
    box = page.locator("canvas").bounding_box()
    return box["x"] + LABEL + SIDE * (across + 0.5), box["y"] + LABEL + SIDE * (down + 0.5)


def test_a_quick_drag_closes_all_cells_on_its_way_wherever_one_has_scrolled(mask):
    scroll(mask, 400, 300)
    mask.mouse.move(*point(mask, 1, 2))
    mask.mouse.down()
    mask.mouse.move(*point(mask, 7, 2))  # at once, as a quick hand does
    mask.mouse.up()
    cells = [[query, 302] for query in range(401, 408)]
    assert picked(mask) == {"opened": False, "cells": cells}
    expect(mask.locator(".reading")).to_have_text("“token407” looking at “token302”: closed by you")
    mask.mouse.move(*point(mask, -1, 2))  # a name, and the cell that it covers
    mask.mouse.move(*point(mask, 3, 4))
    expect(mask.locator(".reading")).to_have_text("“token403” looking at “token304”: visible")
    assert mask.errors == []


def test_the_cell_that_the_keyboard_comes_to_is_brought_into_view(mask):
    mask.locator("canvas").focus()
    for _ in range(60):
        mask.keyboard.press("ArrowDown")
    mask.keyboard.press("Space")
    assert picked(mask) == {"opened": False, "cells": [[60, 0]]}
    scrolled = mask.locator(".sheet").evaluate("sheet => [sheet.scrollTop, sheet.clientHeight]")
    assert 0 <= SIDE * 60 - scrolled[0] <= scrolled[1] - LABEL - SIDE
    assert mask.errors == []


def test_64_tokens_are_in_view_at_once(page):
    visible = np.tri(64, dtype=bool)
    page.set_content(mask_matrix(visible, TOKENS[:64], TOKENS[:64]).to_html())
    sheet = page.locator(".sheet")
    assert sheet.evaluate("sheet => sheet.scrollHeight === sheet.clientHeight")
    assert sheet.evaluate("sheet => sheet.scrollWidth === sheet.clientWidth")
