"""What is changed, what is not to be trusted and what words mean, in a real browser."""

import re

import pytest
from playwright.sync_api import expect

from headlight.pages.shared.frame.changes import APPLIED, IGNORED
from tests.browser.rest import hover

SENTENCE = "I love my cat."


def changes(page):
    return page.locator(".st-key-changes")


def test_the_line_beside_the_title_follows_every_click_on_the_heads(page, server):
    page.goto(f"{server}/heads?sentence={SENTENCE}")
    board = page.locator(".switchboard")
    board.get_by_role("button", name=re.compile("^Cross-attention, layer 3, head 2: on")).click()
    expect(changes(page)).to_contain_text("1 head off")
    board.get_by_role("button", name=re.compile("^Cross-attention, layer 3, head 4: on")).click()
    expect(changes(page)).to_contain_text("2 heads off")
    expect(changes(page)).to_contain_text(APPLIED["all"])
    page.get_by_role("button", name="Undo all").click()
    expect(changes(page)).to_have_count(0)
    board.get_by_role("button", name=re.compile("^Cross-attention, layer 3, head 4: on")).wait_for()
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(changes(page)).to_contain_text("2 heads off")


def test_changes_are_ignored_and_applied_again(page, server, translator):
    page.goto(f"{server}/?sentence={SENTENCE}&edits=gate.cross.1.1.0~gate.encoder.1.1.0&v=2")
    expect(changes(page)).to_contain_text(APPLIED["in force"])
    page.get_by_role("button", name="Show as trained").click()
    expect(changes(page)).to_contain_text(IGNORED)
    page.wait_for_url(re.compile("as_trained=on"))
    written = translator.translate(SENTENCE).text
    expect(page.locator(".token-strip .text").first).to_have_text(written)
    page.get_by_role("button", name="Apply again").click()
    expect(changes(page)).to_contain_text(APPLIED["in force"])


def test_the_way_to_the_limits_is_in_the_last_line_of_a_warning(page, server):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server}/?sentence=Ich liebe meine Katze.")
    warning = page.locator(".st-key-doubt")
    warning.get_by_role("link").wait_for()
    lines, link = warning.locator("[data-testid=stText] span, a").evaluate_all(
        "nodes => nodes.map((node) => [...node.getClientRects()].map(({ bottom }) => bottom))"
    )
    assert lines[0] < lines[-1]
    assert link == [pytest.approx(lines[-1], abs=5)]


@pytest.mark.matrix
def test_nonsense_leads_to_the_limits_of_the_model(page, server):
    page.goto(f"{server}/?sentence=Ich liebe meine Katze.")
    warning = page.locator(".st-key-doubt")
    expect(warning).to_contain_text("this looks German")
    warning.get_by_role("link", name="The model's limits").click()
    expect(page.get_by_role("heading", name="Limits")).to_be_in_viewport()


def test_a_term_tells_its_meaning_when_pointed_at_and_when_focused(page, server):
    page.goto(f"{server}/inside?sentence={SENTENCE}")
    page.get_by_text("9. Into the residual stream").wait_for()  # the last step
    term = page.get_by_role("note", name=re.compile("^query: ")).first
    told = """() => {
        const term = document.querySelector('.term:is(:hover, :focus)');
        return term && getComputedStyle(term, '::after').content.includes('looks for');
    }"""
    term.focus()
    page.wait_for_function(told)
    term.blur()
    hover(term, lambda: page.evaluate(told))
