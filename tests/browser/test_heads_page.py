"""Switching heads by mouse and by keyboard, and what the page then shows."""

import re

import pytest
from playwright.sync_api import expect

from headlight.model.edits import Edits
from headlight.model.insight.roles import role_scores
from headlight.model.insight.scoring import trace_log_probabilities
from headlight.viz.numbers import number_text

SENTENCE = "My brother bought three old bicycles yesterday."


@pytest.fixture
def heads(page, server):
    page.goto(f"{server}/heads?sentence={SENTENCE}")
    page.get_by_text("Which heads matter").wait_for()
    page.locator(".switchboard .head").nth(71).wait_for()
    return page


def score_without(translator, *places):
    edits = Edits(gates=dict.fromkeys(places, 0.0))
    sites = edits.at_sites(translator.shape, 70)
    trace = translator.trace(SENTENCE, translator.translate(SENTENCE), edits=sites)
    return trace_log_probabilities(trace).sum().item()


def switch(page, name):
    return page.locator(".switchboard").get_by_role("button", name=re.compile(name))


def wait_for_score(page, score):
    page.get_by_text(f"{number_text(score)} nats", exact=True).wait_for()


def test_a_head_is_switched_off_and_a_text_that_stays_the_same_is_shown_once(heads, translator):
    wait_for_score(heads, score_without(translator))
    switch(heads, "^Cross-attention, layer 3, head 2: on").click()
    switch(heads, "^Cross-attention, layer 3, head 2: off").wait_for()
    wait_for_score(heads, score_without(translator, ("cross", 2, 1)))
    sites = Edits(gates={("cross", 2, 1): 0.0}).at_sites(translator.shape, 70)
    edited, original = translator.translate(SENTENCE, edits=sites), translator.translate(SENTENCE)
    assert edited.target_tokens == original.target_tokens
    expect(heads.locator(".token-strip .text")).to_have_text([edited.text])
    switch(heads, "^Cross-attention, layer 3, head 2: off").click()
    wait_for_score(heads, score_without(translator))


@pytest.mark.matrix
def test_a_whole_layer_goes_off_at_once_and_comes_back(heads, translator):
    layer = switch(heads, "^Encoder, layer 2: all heads")
    layer.click()
    places = [("encoder", 1, head) for head in range(8)]
    wait_for_score(heads, score_without(translator, *places))
    expect(heads.locator(".switchboard .head.off")).to_have_count(8)
    heads.get_by_role("button", name="Undo all").click()
    wait_for_score(heads, score_without(translator))
    expect(heads.locator(".switchboard .head.off")).to_have_count(0)


@pytest.mark.matrix
def test_a_head_of_every_layer_goes_off_at_once_and_comes_back_if_all_are_off(heads, translator):
    off = heads.locator(".switchboard .head.off")
    switch(heads, "^Decoder, masked, layer 2, head 3: on").click()
    expect(off).to_have_count(1)
    switch(heads, "^Decoder, masked, head 3 of every layer").click()
    places = [("decoder", layer, 2) for layer in range(3)]
    wait_for_score(heads, score_without(translator, *places))
    expect(off).to_have_count(3)
    switch(heads, "^Decoder, masked, head 3 of every layer").click()
    expect(off).to_have_count(0)


def test_the_board_works_with_the_keyboard_alone(heads):
    switch(heads, "^Encoder, layer 1, head 1").focus()
    heads.keyboard.press("ArrowRight")
    heads.keyboard.press("Enter")
    switch(heads, "^Encoder, layer 1, head 2: off").wait_for()


@pytest.mark.matrix
def test_a_click_on_an_effect_opens_its_head(heads):
    heads.get_by_role("button", name="Measure every head").click()
    heads.locator(".head-effects .head[aria-pressed=true]").wait_for()  # all are measured
    cell = heads.locator(".head-effects").get_by_role(
        "button", name=re.compile("^Decoder, masked, layer 2, head 5")
    )
    cell.click()
    opened = heads.get_by_role("heading", name="Decoder, masked, layer 2, head 5")
    expect(opened).to_be_in_viewport(ratio=1)
    expect(heads.locator(".heatmap")).to_be_in_viewport(ratio=0.5)


@pytest.mark.matrix
def test_every_head_is_tested_for_a_role_and_a_click_opens_it(heads, translator):
    heads.get_by_text("Test every head", exact=True).click()
    board = heads.locator(".head-scores")
    board.locator(".head").first.wait_for()
    expect(board).to_be_in_viewport(ratio=0.9)
    heads.get_by_role("radio", name="Copying").click()
    expect(board.locator(".legend")).to_contain_text("Copying")
    score = role_scores(translator).scores["copying"]["cross"][2, 4].item()
    name = f"Cross-attention, layer 3, head 5: Copying score {score:.3f}"
    cell = board.get_by_role("button", name=name, exact=True)
    cell.click()
    opened = heads.get_by_role("heading", name="Cross-attention, layer 3, head 5")
    expect(opened).to_be_in_viewport(ratio=1)
    expect(heads).to_have_url(re.compile("roles=on.*role=copying"))
