"""One path a page: open it, act once, and find the model's own numbers."""

import pytest

from headlight.model.edits import CellEdit, Edits
from headlight.model.edits.positions import PositionEdit
from headlight.model.insight.scoring import trace_log_probabilities
from headlight.model.transformer.trace import Site
from headlight.viz.numbers import number_text
from tests.browsers.conftest import SETTLED
from tests.browsers.pointing import expect_cell, expect_weight, strongest

SENTENCE = "My brother bought three old bicycles yesterday."
OTHER = "The cat drinks milk."
MAP = ".heatmap canvas.map"
BOX = "input[aria-label='English sentence']"


@pytest.fixture
def visit(browser, server):
    """A function that opens a page, which is looked at again after the test has acted."""

    def opened(path):
        browser.open(f"{server}/{path}")
        browser.see(f"seen('button', 'Keys: ?').length && {SETTLED}")
        assert browser.evaluate("faultsOfPage()") == []
        return browser

    yield opened
    browser.see(SETTLED)
    assert browser.evaluate("faultsOfPage()") == []


def test_attention_reads_another_sentence(visit, translator):
    page = visit("?kind=cross&layer=1&head=4&picture=heatmap")
    page.fill(BOX, OTHER)
    page.press("Enter")
    trace, site = translator.trace(OTHER), Site("cross", 0)
    cell = strongest(trace.attention[site].weights[0, 3])
    expect_weight(page, MAP, trace, site, 3, cell)


def test_inside_takes_another_block_apart(visit, translator):
    page = visit(f"inside?sentence={SENTENCE}&kind=encoder&layer=2&head=2&query=7&key=2")
    page.click_on(".architecture-map [role=button], .architecture-map button", "Encoder, layer 4")
    score = translator.trace(SENTENCE).attention[Site("encoder", 3)].scores[0, 1, 6, 1].item()
    page.see("says", f"={number_text(score)}".replace("-", "−"))


def test_positions_are_switched_off_in_the_decoder_too(visit, translator):
    page = visit(f"positions?sentence={SENTENCE}&positions_encoder=off")
    page.click_on(".st-key-positions_decoder label, .st-key-positions_decoder button", "off")
    off = {"encoder": PositionEdit(off=True), "decoder": PositionEdit(off=True)}
    page.see("says", translator.translate(SENTENCE, edits=off).text)


def test_a_cell_of_the_mask_is_closed(visit, translator):
    page = visit(f"masks?sentence={SENTENCE}&layer=1")
    page.click(*page.evaluate("cellOf", "canvas.editable", 2, 1))
    page.see("says", "Undo all")
    closed = Edits(cells=(CellEdit("decoder", 2, 1, opened=False),)).at_sites(translator.shape, 70)
    trace = translator.trace(SENTENCE, translator.translate(SENTENCE), edits=closed)
    expect_weight(page, MAP, trace, Site("decoder", 0), 0, (2, 2), at=2)


def test_a_head_is_switched_off(visit, translator):
    page = visit(f"heads?sentence={SENTENCE}")
    page.click_on(".switchboard .head", "Cross-attention, layer 3, head 2: on")
    off = Edits(gates={("cross", 2, 1): 0.0}).at_sites(translator.shape, 70)
    trace = translator.trace(SENTENCE, translator.translate(SENTENCE), edits=off)
    page.see("says", f"{number_text(trace_log_probabilities(trace).sum().item())} nats")


def test_one_pointer_reads_two_maps(visit, translator):
    page = visit("compare")
    tired = "The animal didn't cross the street because it was too tired."
    site = Site("encoder", 1)
    traces = [translator.trace(text) for text in (tired, tired.replace("tired", "wide"))]
    tokens = [token.text for token in traces[0].query_tokens(site)]
    cell = tokens.index("it"), tokens.index("street")
    first, second = (
        number_text(each.attention[site].weights[0, 1][cell].item()) for each in traces
    )
    expect_cell(
        page, ".compared-maps canvas.map", cell, f"“it” looks at “street”: A {first}, B {second}"
    )


def test_a_decoding_goes_one_step_on(visit, translator):
    page = visit(f"decoding?sentence={SENTENCE}&layer=3&head=2")
    steps = translator.write(SENTENCE).steps
    page.press("n")
    page.see("says", f"step 2 of {len(steps)}")
    weights = list(map(number_text, steps[1].weights["cross", 2][1].tolist()))
    of_source = "all('.decoding-player .weighed-tokens')[1].querySelectorAll('.weight')"
    assert page.evaluate(f"[...{of_source}].map((node) => node.textContent)") == weights


def test_another_model_is_chosen(visit, translator):
    page = visit("models")
    numbers = sum(parameter.numel() for parameter in translator.model.parameters())
    assert page.evaluate("says", f"{numbers:,} parameters")
    page.click_on("[data-testid=stMain] button", "Look at it", 1)
    small = "Small English to French, learned positions"  # which the page Models lists, too
    page.see("name => all('input[aria-label=Model]').some(({ value }) => value === name)", small)


def test_the_model_card_plays_what_was_learned(visit, translator):
    page = visit("model")
    numbers = sum(parameter.numel() for parameter in translator.model.parameters())
    assert page.evaluate("says", f"{numbers / 1e6:.1f} million")
