"""A BERT from a folder, in a real browser: loaded on its page, and looked at on the others."""

import re

import pytest
from playwright.sync_api import expect

from headlight.model.edits import Edits
from headlight.model.library.loading import load_bert
from headlight.model.library.pieces import merge_words, whole_words
from headlight.model.transformer.trace import Site
from tests.browser.heatmaps import expect_cell

FIRST, SECOND = "the cat was playing.", "unbelievable dogs!"
GATES = Edits(gates={("encoder", 0, 1): 0.0})


@pytest.fixture(scope="module")
def reader(bert_folder):
    return load_bert(bert_folder)


@pytest.fixture
def models(page, server, bert_folder):
    """The page Models, where the BERT was loaded."""
    page.goto(f"{server}/models")
    load(page, bert_folder)
    page.get_by_text("Licence: none is named.").wait_for()
    return page


@pytest.fixture
def bert(page, server, bert_folder):
    """The page Attention, whose address names the BERT."""
    read = f"sentence={FIRST}&second={SECOND}&kind=encoder&layer=2&head=3"
    page.goto(f"{server}/?model=transformers:{bert_folder}&{read}")
    page.get_by_role("button", name="Load it").or_(
        page.locator(".token-strip .chip").first
    ).wait_for()
    if page.get_by_role("button", name="Load it").is_visible():
        page.get_by_role("button", name="Load it").click()
    page.get_by_text("What the model reads: 15 tokens").wait_for()
    return page


def load(page, name):
    page.get_by_label("Name on the Hugging Face Hub").fill(str(name))
    page.get_by_test_id("stBaseButton-secondaryFormSubmit").click()


def see_cell(page, weights, tokens, row, column):
    """Point at a cell of the heatmap until it shows its tokens and its weight."""
    expect_cell(page, page.locator(".heatmap").first, weights, tokens, tokens, row, column)


def weights_of(trace, layer=1, head=2):
    return trace.attention[Site("encoder", layer)].weights[0, head].numpy()


def texts(pieces):
    return [piece.text for piece in pieces]


def test_a_folder_is_loaded_chosen_and_shown_on_the_first_page(models, bert_folder):
    expect(models.get_by_text(str(bert_folder), exact=True).first).to_be_visible()
    expect(models.get_by_text("Chosen", exact=True)).to_be_in_viewport()  # what has come is first
    models.get_by_role("button", name="Look at it").first.click()
    expect(models.locator(".token-strip .chip").first).to_have_text("[CLS]")
    models.wait_for_url(re.compile("model=transformers"))


@pytest.mark.matrix
def test_its_numbers_are_those_of_transformers(models):
    models.get_by_role("button", name="Same numbers as transformers?").click()
    models.get_by_text(re.compile("^Largest differences from")).wait_for()
    expect(models.get_by_text("Same numbers", exact=True)).to_be_in_viewport()


def test_a_model_is_removed_from_the_list(models, bert_folder):
    models.get_by_role("button", name="Remove").click()
    expect(models.get_by_text(str(bert_folder), exact=True)).to_have_count(0)
    expect(models.get_by_text("Chosen", exact=True)).to_be_visible()


def test_what_cannot_be_loaded_is_said_as_text(models, bert_folder):
    name = "/no/such <b>folder</b> **at all**"
    load(models, name)
    models.get_by_text("This model could not be loaded.").wait_for()
    expect(models.get_by_text(name)).to_be_visible()
    expect(models.get_by_text(str(bert_folder), exact=True).first).to_be_visible()


def test_the_folder_is_shown_in_the_numbers_of_its_own_run(bert, reader):
    trace = reader.trace(FIRST, second=SECOND)
    expect(bert.locator(".token-strip .chip")).to_have_text(texts(trace.source_tokens))
    expect(bert.locator(".token-strip .chip.segment-1")).to_have_count(7)
    see_cell(bert, weights_of(trace), texts(trace.source_tokens), 4, 9)


@pytest.mark.matrix
def test_a_word_is_hidden_and_predicted_and_brought_back(bert, reader):
    bert.locator(".token-strip").get_by_role("button", name="play", exact=True).click()
    expect(bert.locator(".token-strip .chip.mask")).to_have_count(2)
    trace = reader.trace(FIRST, second=SECOND, masked=[4, 5])
    likelihood = trace.logits[0, 0].softmax(dim=-1)[reader.read(FIRST, SECOND)[4].id]
    bert.get_by_text(f"The hidden word “play”: {likelihood:.3f}").wait_for()
    see_cell(bert, weights_of(trace), texts(trace.source_tokens), 5, 1)
    bert.locator(".token-strip .chip.mask").first.click()
    expect(bert.locator(".token-strip .chip.mask")).to_have_count(0)
    plain = reader.trace(FIRST, second=SECOND)
    see_cell(bert, weights_of(plain), texts(plain.source_tokens), 5, 1)


@pytest.mark.matrix
def test_a_head_switched_off_changes_the_run(bert, reader):
    bert.get_by_role("link", name="Heads").click()
    board = bert.locator(".switchboard")
    board.get_by_role("button", name=re.compile("^Encoder, layer 1, head 2: on")).click()
    board.get_by_role("button", name=re.compile("^Encoder, layer 1, head 2: off")).wait_for()
    edits = GATES.at_sites(reader.shape, 20)
    trace = reader.trace(FIRST, second=SECOND, edits=edits)
    bert.get_by_text("Mean change of the last hidden states").wait_for()
    see_cell(bert, weights_of(trace, 0, 1), texts(trace.source_tokens), 2, 7)


@pytest.mark.matrix
def test_pieces_merge_to_words(bert, reader):
    bert.get_by_role("button", name="Tokens drawn").click()
    bert.get_by_text("words", exact=True).click()
    bert.get_by_text("the sum over its pieces").wait_for()
    bert.keyboard.press("Escape")
    trace = reader.trace(FIRST, second=SECOND)
    words = [piece.word for piece in trace.source_tokens]
    merged = merge_words(weights_of(trace), words)
    see_cell(bert, merged, texts(whole_words(trace.source_tokens)), 4, 7)


@pytest.mark.matrix
def test_a_clicked_cell_is_taken_apart(bert, reader):
    trace = reader.trace(FIRST, second=SECOND)
    weights = weights_of(trace)
    see_cell(bert, weights, texts(trace.source_tokens), 6, 3)
    bert.mouse.down()
    bert.mouse.up()
    bert.get_by_text("9. Into the residual stream").wait_for()
    expect(bert.get_by_test_id("stMetricValue").first).to_have_text(f"{weights[6, 3]:.3f}")
    query = bert.get_by_role("combobox", name=re.compile("^Query"))
    expect(query).to_have_value(f"7: {trace.source_tokens[6].text}")


@pytest.mark.matrix
def test_the_pages_keep_to_the_width_of_a_phone(bert, server):
    bert.set_viewport_size({"width": 375, "height": 812})
    bert.locator(".token-strip").get_by_role("button", name="cat", exact=True).click()
    bert.get_by_text("The hidden word").wait_for()
    main = bert.locator("[data-testid=stMain]")
    assert main.evaluate("node => node.scrollWidth <= node.clientWidth")
    bert.goto(f"{server}/models")
    bert.get_by_role("button", name="Look at it").first.wait_for()
    assert main.evaluate("node => node.scrollWidth <= node.clientWidth")
