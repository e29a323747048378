"""Changing masks by mouse and by keyboard, and what the page then shows."""

import re

import pytest
from playwright.sync_api import expect

from headlight.model.edits import CellEdit, Edits
from headlight.model.transformer.trace import Site
from headlight.viz.numbers import number_text
from tests.browser.heatmaps import expect_weight
from tests.browser.rest import box_at_rest

SENTENCE = "My brother bought three old bicycles yesterday."
LABEL, SLANT, LARGEST = 92, 28, 30  # as in viz/switches/mask_matrix.js


@pytest.fixture
def matrix(page, server):
    """The canvas of the mask in force, at decoder layer 1, head 1."""
    page.goto(f"{server}/masks?sentence={SENTENCE}&layer=1")
    canvas = page.locator("canvas.editable")
    canvas.wait_for()
    page.get_by_text("Why −∞").wait_for()
    return canvas


def traced(translator, edits):
    translation = translator.translate(SENTENCE)
    sites = edits.at_sites(translator.shape, 40)
    return translator.trace(SENTENCE, translation, edits=sites)


def center(canvas, size, query, key):
    """Where on the page a cell is, of a matrix of size x size."""
    box = box_at_rest(canvas)
    side = (box["width"] - LABEL - SLANT) / size
    return box["x"] + LABEL + side * (key + 0.5), box["y"] + LABEL + side * (query + 0.5)


def expect_weights(page, trace, *cells):
    """The third stage shows the trace's weights at these cells."""
    heatmap = page.locator(".heatmap").nth(2)
    for row, column in cells:
        expect_weight(page, heatmap, trace, Site("decoder", 0), 0, row, column)


def test_look_ahead_and_one_cell_are_switched_by_mouse(page, matrix, translator):
    size = len(traced(translator, Edits()).target_tokens)
    reading = page.locator(".mask-matrix .reading").first
    page.mouse.move(*center(matrix, size, 2, 1))
    reading.get_by_text("visible").wait_for()
    page.mouse.click(*center(matrix, size, 2, 1))
    page.get_by_role("button", name="Undo", exact=True).wait_for()
    page.mouse.move(*center(matrix, size, 2, 1))
    reading.get_by_text("closed by you").wait_for()
    closed = Edits(cells=(CellEdit("decoder", 2, 1, opened=False),))
    expect_weights(page, traced(translator, closed), (2, 0), (2, 2), (3, 1))

    page.get_by_text("Look-ahead mask", exact=True).first.click()
    both = Edits(off=("look-ahead",), cells=closed.cells)
    expect_weights(page, traced(translator, both), (0, 3), (1, 0), (2, 3))
    page.mouse.move(*center(matrix, size, 0, 3))
    reading.get_by_text("opened by you").wait_for()


@pytest.mark.matrix
def test_a_cell_closed_and_opened_again_is_as_trained(page, matrix, translator):
    size = len(traced(translator, Edits()).target_tokens)
    expect(page).not_to_have_url(re.compile("edits="))
    for address in (re.compile("edits=close"), re.compile("^((?!edits=).)*$")):
        page.mouse.click(*center(matrix, size, 4, 1))
        expect(page).to_have_url(address)
    undo = page.get_by_role("button", name="Undo", exact=True)
    undo.click()
    expect(page).to_have_url(re.compile(re.escape("edits=close.decoder.all.all.5.2")))
    undo.click()
    expect(undo).to_have_count(0)


MARK = 7  # pixels of a line's width, which a canvas forgets when it is drawn again
IS_MARKED = f"canvas => canvas.getContext('2d').lineWidth === {MARK}"


@pytest.mark.matrix
def test_only_what_a_click_or_the_theme_changes_is_drawn_again(page, matrix, translator):
    size = len(traced(translator, Edits()).target_tokens)
    scores, weights = (page.locator(".heatmap canvas.map").nth(place) for place in (0, 2))
    first, second = (CellEdit("decoder", query, 1, opened=False) for query in (2, 3))

    page.mouse.click(*center(matrix, size, 2, 1))  # what says so moves the pictures
    expect_weights(page, traced(translator, Edits(cells=(first,))), (2, 0), (2, 2))
    for canvas in (scores, weights):
        canvas.evaluate(f"canvas => (canvas.getContext('2d').lineWidth = {MARK})")
    page.mouse.click(*center(matrix, size, 3, 1))
    expect_weights(page, traced(translator, Edits(cells=(first, second))), (3, 0), (3, 2))
    assert not weights.evaluate(IS_MARKED)
    assert scores.evaluate(IS_MARKED)

    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"canvas => !({IS_MARKED})(canvas)", arg=scores.element_handle())


@pytest.mark.matrix
def test_a_drag_closes_every_cell_under_it_and_undo_opens_them(page, matrix, translator):
    size = len(traced(translator, Edits()).target_tokens)
    page.mouse.move(*center(matrix, size, 3, 0))
    page.mouse.down()
    for query in (4, 5):
        page.mouse.move(*center(matrix, size, query, 0), steps=5)
    page.mouse.up()
    undo = page.get_by_role("button", name="Undo", exact=True)
    undo.wait_for()
    reading = page.locator(".mask-matrix .reading").first
    for query in (3, 4, 5):
        page.mouse.move(*center(matrix, size, query, 0))
        reading.get_by_text("closed by you").wait_for()
    undo.click()
    expect(undo).to_have_count(0)
    page.mouse.move(*center(matrix, size, 4, 0))
    reading.get_by_text(": visible").wait_for()


@pytest.mark.matrix
def test_of_quick_clicks_every_one_counts(page, matrix, translator):
    size = len(traced(translator, Edits()).target_tokens)
    cells = [(query, query - 1) for query in range(1, size)]
    points = [center(matrix, size, *cell) for cell in cells]
    for point in points:
        page.mouse.click(*point)
    closed = "~".join(f"close.decoder.all.all.{query + 1}.{key + 1}" for query, key in cells)
    expect(page).to_have_url(re.compile(re.escape(f"edits={closed}")))


def test_the_keyboard_moves_and_closes(page, matrix):
    matrix.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", " "):
        page.keyboard.press(key)
    page.get_by_role("button", name="Undo", exact=True).wait_for()
    page.locator(".mask-matrix .reading").first.get_by_text("closed by you").wait_for()


@pytest.mark.matrix
def test_a_row_is_summed_up_block_by_block_while_it_plays(page, matrix, server, translator):
    page.goto(f"{server}/masks?sentence={SENTENCE}&mask_kind=decoder&layer=1&masks_tab=flash")
    row = page.locator(".step-cells")
    record = traced(translator, Edits()).attention[Site("decoder", 0)]
    score = record.masked_scores[0, 0, -1, 1].item()
    expect(row.locator("td.new")).to_have_count(2)
    expect(row.locator("td.new").nth(1)).to_have_text(number_text(score, 2))
    row.get_by_role("button", name="Play").click()
    expect(row.locator(".said")).to_contain_text("Every weight is e^(score")
    expect(row.locator("td.gone").first).to_be_visible()


@pytest.mark.matrix
def test_a_card_puts_its_mask_in_force_and_a_click_on_a_token_sets_its_border(page, matrix, server):
    page.goto(f"{server}/masks?sentence={SENTENCE}&mask_kind=decoder&masks_tab=library")
    prefix = page.locator(".mask-cards").get_by_role("button", name=re.compile("^Prefix"))
    prefix.click()
    expect(page).to_have_url(re.compile(r"edits=prefix\.decoder\.3(&|$)"))
    expect(prefix).to_have_attribute("aria-pressed", "true")
    strip = page.locator(".st-key-borders-prefix .token-strip")
    strip.get_by_role("button").nth(3).click()  # the fifth token: <start> cannot be clicked
    expect(page).to_have_url(re.compile(r"edits=prefix\.decoder\.5(&|$)"))
    expect(strip.locator(".changed")).to_have_count(1)
    prefix.click()
    expect(page).not_to_have_url(re.compile("edits="))
    expect(prefix).to_have_attribute("aria-pressed", "false")
    expect(strip).to_have_count(0)
