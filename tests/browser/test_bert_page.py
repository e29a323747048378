"""A BERT from a folder, in a real browser: two sentences, masked words, switched heads."""

import re

import pytest
from playwright.sync_api import expect

from model import Site, load_bert
from model.edits import Edits
from model.library.pieces import merge_words, whole_words
from tests.browser.heatmaps import expect_cell

FIRST, SECOND = "the cat was playing.", "unbelievable dogs!"
GATES = Edits(gates={("encoder", 0, 1): 0.0})


@pytest.fixture(scope="module")
def folder(make_bert_folder):
    return make_bert_folder()


@pytest.fixture(scope="module")
def reader(folder):
    return load_bert(folder)


@pytest.fixture
def bert(page, server, folder):
    page.goto(f"{server}/bert?bert_first={FIRST}&bert_second={SECOND}&bert_layer=2&bert_head=3")
    page.get_by_label("Name on the Hugging Face Hub").fill(str(folder))
    page.get_by_test_id("stBaseButton-secondaryFormSubmit").click()
    page.get_by_text("What the model reads: 15 tokens").wait_for()
    return page


def see_cell(page, weights, tokens, row, column):
    """Point at a cell of the heatmap until it shows its tokens and its weight."""
    expect_cell(page, page.locator(".heatmap").first, weights, tokens, tokens, row, column)


def weights_of(reading, layer=1, head=2):
    return reading.attention[Site("encoder", layer)].weights[0, head].numpy()


def texts(pieces):
    return [piece.text for piece in pieces]


def test_the_folder_is_shown_in_the_numbers_of_its_own_run(bert, reader):
    reading = reader.trace(FIRST, SECOND)
    expect(bert.locator(".token-strip .chip")).to_have_text(texts(reading.source_tokens))
    expect(bert.locator(".token-strip .chip.segment-1")).to_have_count(7)
    see_cell(bert, weights_of(reading), texts(reading.source_tokens), 4, 9)
    assert "bert_name=" in bert.url


def test_a_word_is_masked_and_predicted_and_brought_back(bert, reader):
    bert.locator(".token-strip").get_by_role("button", name="play", exact=True).click()
    expect(bert.locator(".token-strip .chip.mask")).to_have_count(2)
    reading = reader.trace(FIRST, SECOND, masked=[4, 5])
    likelihood = reader.probabilities(reading, [4])[0, reader.read(FIRST, SECOND)[4].id]
    bert.get_by_text(f"“play” itself: {likelihood:.4f}").wait_for()
    see_cell(bert, weights_of(reading), texts(reading.source_tokens), 5, 1)
    bert.locator(".token-strip .chip.mask").first.click()
    expect(bert.locator(".token-strip .chip.mask")).to_have_count(0)
    plain = reader.trace(FIRST, SECOND)
    see_cell(bert, weights_of(plain), texts(plain.source_tokens), 5, 1)


def test_a_head_switched_off_changes_the_run(bert, reader):
    bert.get_by_role("radio", name="Switch heads").click()
    board = bert.locator(".switchboard")
    board.get_by_role("button", name=re.compile("^Encoder, layer 1, head 2: on")).click()
    board.get_by_role("button", name=re.compile("^Encoder, layer 1, head 2: off")).wait_for()
    bert.get_by_role("radio", name="Attention").click()
    reading = reader.trace(FIRST, SECOND, edits=GATES.at_sites(reader.model.config, 1))
    bert.locator(".head-grid").get_by_role("button").nth(6 + 2).click()
    see_cell(bert, weights_of(reading), texts(reading.source_tokens), 2, 7)


def test_pieces_merge_to_words(bert, reader):
    bert.get_by_text("words", exact=True).click()
    bert.get_by_text("the sum over its pieces").wait_for()
    reading = reader.trace(FIRST, SECOND)
    words = [piece.word for piece in reading.source_tokens]
    merged = merge_words(weights_of(reading), words)
    see_cell(bert, merged, texts(whole_words(reading.source_tokens)), 4, 7)


def test_a_clicked_cell_is_taken_apart(bert, reader):
    reading = reader.trace(FIRST, SECOND)
    weights = weights_of(reading)
    see_cell(bert, weights, texts(reading.source_tokens), 6, 3)
    bert.mouse.down()
    bert.mouse.up()
    bert.get_by_text("9. Into the residual stream").wait_for()
    expect(bert.get_by_test_id("stMetricValue").first).to_have_text(f"{weights[6, 3]:.4f}")
    query = bert.get_by_role("combobox", name=re.compile("^Query"))
    expect(query).to_have_value(f"7: {reading.source_tokens[6].text}")


def test_its_numbers_are_those_of_transformers(bert):
    bert.get_by_role("button", name="Same numbers as transformers?").click()
    bert.get_by_text(re.compile("^Largest differences: ")).wait_for()
    expect(bert.get_by_text("Same numbers", exact=True)).to_be_visible()


def test_what_cannot_be_loaded_is_said_as_text(bert):
    bert.get_by_text("Another model").click()
    name = "/no/such <b>folder</b> **at all**"
    bert.get_by_label("Name on the Hugging Face Hub").fill(name)
    bert.get_by_test_id("stBaseButton-secondaryFormSubmit").click()
    bert.get_by_text("This model could not be loaded.").wait_for()
    expect(bert.get_by_text(name)).to_be_visible()
    expect(bert.locator(".token-strip .chip")).to_have_count(15)


def test_the_page_keeps_to_the_width_of_a_phone(bert):
    bert.set_viewport_size({"width": 375, "height": 812})
    bert.locator(".token-strip").get_by_role("button", name="cat", exact=True).click()
    bert.get_by_text("itself:").wait_for()
    main = bert.locator("[data-testid=stMain]")
    assert main.evaluate("node => node.scrollWidth <= node.clientWidth")
