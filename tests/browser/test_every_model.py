"""A decoder and an encoder-decoder from folders, through the pages as a visitor goes."""

import re

import pytest
from playwright.sync_api import expect

from headlight.model.edits import CellEdit, Edits
from headlight.model.insight.scoring import log_probabilities
from headlight.model.library.loading import load_model
from headlight.model.transformer.trace import Site
from headlight.viz.numbers import number_text
from tests.browser.heatmaps import expect_weight, hover_cell, point_of
from tests.browser.test_masks_page import center
from tests.matrix import first_of
from tests.model.library.conftest import transformers_folders

__all__ = ["transformers_folders"]

TEXT = "I love my cat."
PLACE = "layer=1&head=2&head_number=2"
SITES = {"GPT-2": Site("decoder", 0), "Marian": Site("cross", 0)}
HEAD = 1  # from 0


@pytest.fixture(scope="module", params=first_of(SITES))
def tiny(request, transformers_folders):
    """The name of a model, its folder, and the model itself."""
    folder = transformers_folders[request.param]
    return request.param, folder, load_model(folder)


@pytest.fixture
def visit(page, server, tiny):
    """A function that opens a page of the app with the model."""
    name, folder, _ = tiny

    def go(address, ready):
        kind = SITES[name].kind
        where = f"kind={kind}&mask_kind={kind}&{PLACE}&sentence={TEXT}"
        page.goto(f"{server}/{address}?model=transformers:{folder}&{where}")
        offer = page.get_by_role("button", name="Load it")
        offer.or_(ready(page)).first.wait_for()
        if offer.is_visible():
            offer.click()
        ready(page).first.wait_for()
        return page

    return go


def heatmap(page):
    return page.locator(".heatmap").first


def test_a_folder_that_is_typed_is_shown_and_a_cell_is_taken_apart(page, server, tiny):
    name, folder, reader = tiny
    page.goto(f"{server}/?{PLACE}&kind={SITES[name].kind}&sentence={TEXT}")
    page.get_by_role("combobox", name="Model").click()
    page.get_by_role("option", name="Load another …").click()
    page.get_by_label("Name on the Hugging Face Hub").fill(str(folder))
    page.get_by_test_id("stBaseButton-secondaryFormSubmit").click()
    page.get_by_text("Licence: none is named.").wait_for()
    page.get_by_role("link", name="Attention").click()
    trace, site = reader.trace(TEXT), SITES[name]
    expect_weight(page, heatmap(page), trace, site, HEAD, 3, 2)
    page.mouse.click(*point_of(heatmap(page), 3, 2))
    page.get_by_text(re.compile(r"^\d\. Query, key and value$")).first.wait_for()
    weight = trace.attention[site].weights[0, HEAD, 3, 2]
    expect(page.get_by_test_id("stMetricValue").first).to_have_text(f"{weight:.3f}")


@pytest.mark.matrix
def test_a_head_that_is_switched_off_changes_the_numbers(visit, tiny):
    name, _, reader = tiny
    site = SITES[name]
    page = visit("heads", lambda page: page.locator(".switchboard .head"))
    board = page.locator(".switchboard")
    before, written = reader.trace(TEXT), reader.write(TEXT).writing if name == "Marian" else None
    objective = reader.objective(before)

    def expect_score(trace):
        score = log_probabilities(trace.logits, objective).sum()
        expect(page.get_by_test_id("stMetricValue").first).to_have_text(
            f"{number_text(score)} nats"
        )

    expect_score(before)
    of_head = {"decoder": "Decoder, masked", "cross": "Cross-attention"}[site.kind]
    board.get_by_role("button", name=re.compile(f"^{of_head}, layer 1, head 2: on")).click()
    board.get_by_role("button", name=re.compile(f"^{of_head}, layer 1, head 2: off")).wait_for()
    off = Edits(gates={(site.kind, 0, HEAD): 0.0}).at_sites(reader.shape, 64)
    expect_score(reader.trace(TEXT, written, edits=off))


@pytest.mark.matrix
def test_a_mask_cell_closed_by_mouse_has_no_weight(visit, tiny):
    name, _, reader = tiny
    site = SITES[name]
    closed = Edits(cells=(CellEdit(site.kind, 2, 1, opened=False),)).at_sites(reader.shape, 64)
    target = reader.write(TEXT).writing if name == "Marian" else None
    trace = reader.trace(TEXT, target, edits=closed)
    page = visit("masks", lambda page: page.locator("canvas.editable"))
    page.get_by_text("Why −∞").wait_for()
    canvas = page.locator("canvas.editable")
    keys = trace.attention[site].weights.size(-1)
    page.mouse.click(*center(canvas, keys, 2, 1))
    page.get_by_role("button", name="Undo", exact=True).wait_for()
    weights = page.locator(".heatmap").nth(2)
    expect_weight(page, weights, trace, site, HEAD, 2, 0)
    assert hover_cell(page, weights, 2, 1)[2] == "blocked"


def test_the_player_steps_through_what_is_written(visit, tiny):
    _, _, reader = tiny
    page = visit("decoding", lambda page: page.locator(".decoding-player .bar"))
    steps = reader.write(TEXT, longest=64).steps
    counter = page.locator(".decoding-player .counter")
    expect(counter).to_have_text(f"step 1 of {len(steps)}")
    page.locator(".decoding-player").get_by_role("button", name="Step forward").click()
    expect(counter).to_have_text(f"step 2 of {len(steps)}")
    chosen = page.locator(".decoding-player .bar.chosen .name span").last
    expect(chosen).to_have_text(steps[1].token.text)
