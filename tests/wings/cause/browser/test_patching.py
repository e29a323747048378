"""Patching between two texts: other texts, parts and heads by mouse, keyboard and address."""

import re

import pytest
from playwright.sync_api import expect

from headlight.model.transformer.trace import Site
from headlight.viz.numbers import number_text
from headlight.wings.cause.patching import AnswerPair, patch_heads, patch_tokens, two_runs

SENTENCE, CHANGED = "The old man bought a red car.", "The old man bought a blue car."
HEADS, TOKENS = ".st-key-patch-heads", ".st-key-patch-tokens"
PARTS = ("heads", "weights", "value")


@pytest.fixture
def cause(page, server):
    page.goto(f"{server}/cause?cause_tab=patching&sentence={SENTENCE}&patch_text={CHANGED}")
    page.locator(f"{TOKENS} .sum").wait_for()
    return page


@pytest.fixture(scope="module")
def runs(translator):
    """A function from the direction to the two runs."""
    written = translator.translate(SENTENCE)
    clean, changed = (translator.trace(text, written) for text in (SENTENCE, CHANGED))
    best = changed.logits[0].argmax(dim=-1).tolist()
    ids = [token.id for token in written.target_tokens]
    row = next(row for row, token in enumerate(ids) if best[row] != token)
    answers = AnswerPair(row, ids[row], best[row])

    def get(backwards=False):
        pair = (clean, changed) if backwards else (changed, clean)
        return two_runs(translator, *pair, answers, PARTS)

    return get


def in_percent(share):
    return number_text(100 * share.item(), signed=True)


def expect_head(page, site, head, share):
    """See that a head of the map is said to bring this share."""
    kind = {"encoder": "Encoder", "cross": "Cross-attention"}[site.kind]
    name = re.compile(f"^{kind}, layer {site.layer + 1}, head {head + 1}\\b")
    cell = page.locator(HEADS).get_by_role("button", name=name)
    said = re.escape(f"{in_percent(share)} % of the gap")
    expect(cell).to_have_attribute("aria-label", re.compile(said))
    return cell


@pytest.mark.matrix
def test_a_click_on_a_head_shows_its_tokens_and_the_address_holds_it(cause, runs):
    site = Site("encoder", 2)
    shares = dict(patch_heads(runs(), "heads"))[site]
    cell = expect_head(cause, site, 3, shares[3])
    cell.click()
    cause.get_by_role("heading", name="Encoder, layer 3, head 4").wait_for()
    rows = cause.locator(f"{TOKENS} .part .number")
    tokens = patch_tokens(runs(), "heads", site, 3)
    expect(rows).to_have_text([in_percent(share) for share in tokens])
    expect(cause.locator(f"{TOKENS} .name").nth(5)).to_have_text("6: red / blue")
    expect(cause.locator(f"{TOKENS} .sum strong")).to_have_text(
        f"{in_percent(shares[3])} % of the gap"
    )
    cause.wait_for_function("() => location.search.includes('kind=encoder')")
    cause.reload()
    expect(rows).to_have_text([in_percent(share) for share in tokens])


@pytest.mark.matrix
def test_other_parts_and_the_other_direction_by_mouse(cause, runs):
    site = Site("cross", 2)
    for name, part in (("Only where it looks", "weights"), ("Only what it carries", "value")):
        cause.get_by_role("radio", name=name).click()
        expect_head(cause, site, 3, dict(patch_heads(runs(), part))[site][3])
    cause.get_by_text("Values of all heads at once").wait_for()
    cause.get_by_role("radio", name="Changed into clean").click()
    expect_head(cause, site, 3, dict(patch_heads(runs(backwards=True), "value"))[site][3])
    cause.wait_for_function("() => location.search.includes('patch_way=away')")


@pytest.mark.matrix
def test_heads_go_by_keyboard(cause):
    selected = cause.locator(f"{HEADS} [aria-pressed=true]")
    selected.focus()
    cause.keyboard.press("ArrowUp")
    cause.keyboard.press("Enter")
    cause.get_by_role("heading", name=re.compile("layer 2")).wait_for()


@pytest.mark.matrix
def test_the_checks_are_on_the_screen(cause):
    values = cause.get_by_test_id("stMetricValue")
    expect(values.nth(2)).to_have_text("0.000 nats")
    expect(values.nth(3)).to_have_text("100.0 % of the gap")


@pytest.mark.matrix
def test_a_word_is_exchanged_from_the_menu(cause):
    cause.get_by_role("button", name="Exchange a word").click()
    cause.get_by_role("menuitem", name="old → young").or_(
        cause.get_by_text("old → young", exact=True)
    ).first.click()
    expect(cause.get_by_role("textbox", name="Changed text")).to_have_value(
        "The young man bought a red car."
    )
    expect(cause.locator(f"{HEADS}")).to_be_visible()


@pytest.mark.matrix
def test_texts_and_answers_are_said_as_they_were_typed(cause):
    box = cause.get_by_role("textbox", name="Changed text")
    box.fill("The old man bought <b>two</b> cars. **Now.**")
    box.press("Enter")
    cause.get_by_text("so that each token has its counterpart").wait_for()
    expect(cause.locator(HEADS)).to_have_count(0)
    box.fill(CHANGED)
    box.press("Enter")
    cause.locator(f"{TOKENS} .sum").wait_for()
    answer = cause.get_by_role("combobox", name=re.compile("Answer to the changed text"))
    answer.click()
    answer.fill("<b>bold</b> words")
    cause.keyboard.press("Enter")
    cause.get_by_text("“<b>bold</b> words” is").wait_for()
    cause.locator(f"{TOKENS} .sum").wait_for()
