"""The knockout map, read cell by cell next to the weights."""

import re

import pytest
import torch
from playwright.sync_api import expect

from headlight.viz.numbers import number_text
from headlight.wings.cause.knockout import edges_of, knock_out
from tests.browser.heatmaps import point_of, read_cell
from tests.matrix import first_of

SENTENCE = "My brother bought three old bicycles yesterday."


@pytest.fixture
def cause(page, server):
    page.goto(f"{server}/cause?sentence={SENTENCE}")
    page.get_by_text("Rank correlation").wait_for()
    page.locator(".heatmap canvas.map").nth(1).wait_for()
    return page


@pytest.fixture(scope="module")
def measure(translator):
    """A function from some layers to the changes and the weights of their edges."""
    written = translator.translate(SENTENCE)
    trace = translator.trace(SENTENCE, written)

    def get(layers=None):
        edges = edges_of(trace, translator, layers, written)
        weights, parts = knock_out(translator, trace, edges)
        return torch.cat(list(parts), dim=-1), weights

    return get


def expect_read(page, place, row, column, said):
    """Point at a cell of one of the two maps until it says this; return its query and its key."""
    return read_cell(page, page.locator(".heatmap").nth(place), row, column, said)


def test_a_cell_says_what_a_token_loses_without_a_word_and_how_much_it_looks_there(cause, measure):
    changes, weights = measure()
    row, column = divmod(int(changes.argmin()), changes.size(1))
    change = number_text(changes[row, column].item(), signed=True)
    found = expect_read(cause, 0, row, column, f"change in nats {change}")
    assert " → " in found[0]
    weight = number_text(weights[row, column].item())
    other = expect_read(cause, 1, row, column, f"weight {weight}")
    assert other == found


@pytest.mark.matrix
def test_another_layer_is_chosen_by_mouse_and_by_the_address(cause, measure):
    before, _ = measure()
    changes, _ = measure(range(2, 3))
    row, column = divmod(int((changes - before).abs().argmax()), changes.size(1))
    change = f"change in nats {number_text(changes[row, column].item(), signed=True)}"
    cause.get_by_role("combobox", name="Edges are closed in").click()
    cause.get_by_role("option", name="layer 3", exact=True).click()
    expect_read(cause, 0, row, column, change)
    expect(cause).to_have_url(re.compile("knockout_layers=3"))
    cause.reload()
    cause.get_by_text("Rank correlation").wait_for()
    expect_read(cause, 0, row, column, change)


@pytest.mark.matrix
def test_keys_go_through_the_layers(cause):
    cause.keyboard.press("l")
    expect(cause).to_have_url(re.compile("knockout_layers=1"))
    cause.keyboard.press("l")
    expect(cause).to_have_url(re.compile("knockout_layers=2"))
    cause.keyboard.press("L")
    expect(cause).to_have_url(re.compile("knockout_layers=1"))


@pytest.mark.matrix
@pytest.mark.parametrize("clicks", first_of([1, 2]))
def test_a_click_closes_the_edge_on_the_page_masks_and_a_button_leads_back(cause, measure, clicks):
    changes, _ = measure()
    row, column = divmod(int(changes.argmin()), changes.size(1))
    change = number_text(changes[row, column].item(), signed=True)
    expect_read(cause, 0, row, column, f"change in nats {change}")
    place = point_of(cause.locator(".heatmap").first, row, column)
    cause.mouse.click(*place, click_count=clicks)
    expect(cause.get_by_role("heading", name="Masks", level=1)).to_be_visible()
    expect(cause).to_have_url(re.compile(r"edits=close\.cross\.all\.all\."))
    closed = cause.locator(".st-key-closed-edge")
    expect(closed).to_contain_text("Closed in all heads of all layers: the edge from ")
    closed.get_by_role("button", name="Open it again, back to Cause").click()
    expect(cause.get_by_role("heading", name="Cause", level=1)).to_be_visible()
    expect(cause).not_to_have_url(re.compile("edits="))
    expect_read(cause, 0, row, column, f"change in nats {change}")


@pytest.mark.matrix
def test_enter_closes_the_edge_of_the_cell_that_is_read(cause):
    cause.get_by_role("combobox", name="Edges are closed in").click()
    cause.get_by_role("option", name="layer 3", exact=True).click()
    expect(cause).to_have_url(re.compile("knockout_layers=3"))
    heatmap = cause.locator(".heatmap").first
    expect(heatmap.locator(".hint")).to_contain_text("click it to see the model without this edge")
    heatmap.locator("canvas.map").press("ArrowRight")
    heatmap.locator("canvas.map").press("Enter")
    expect(cause).to_have_url(re.compile(r"masks.*edits=close\.cross\.3\.all\.1\.1(&|$)"))


@pytest.mark.matrix
def test_what_was_closed_is_said_of_its_own_text_alone(cause):
    heatmap = cause.locator(".heatmap").first
    heatmap.locator("canvas.map").press("ArrowRight")
    heatmap.locator("canvas.map").press("Enter")
    closed = cause.locator(".st-key-closed-edge")
    expect(closed).to_contain_text("the edge from “<start> → ")
    box = cause.get_by_role("textbox", name="English sentence")
    box.fill("I love my cat.")
    box.press("Enter")
    expect(cause).to_have_url(re.compile(r"sentence=I.love.my.cat"))
    expect(closed).to_have_count(0)


@pytest.mark.matrix
def test_another_reading_is_drawn_and_lines_of_ones_own_fill_the_table(page, server):
    page.goto(f"{server}/cause?sentence={SENTENCE}&cause_tab=truth")
    page.get_by_role("radio", name="rollout").click()
    page.wait_for_url(re.compile("truth_reading=rollout"))
    page.get_by_text("Over lines of your own").click()
    page.get_by_label("Text, one sentence per line").fill("We sing.\nI love my cat.")
    page.get_by_role("button", name="Measure these lines").click()
    expect(page.get_by_role("columnheader", name="Your 2 lines")).to_be_visible(timeout=90_000)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
