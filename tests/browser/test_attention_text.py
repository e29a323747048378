"""A head as running text: in a notebook, and on the page Attention."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from headlight.model.transformer.trace import Site
from headlight.viz import attention_text
from tests.browser.answers import noting, picked
from tests.browser.rest import hover, until
from tests.odd_texts import MARKUP

TOKENS = ["The", "cat", "sat", "be", "##cause", "it", "[SEP]"]
CROSS = ["<start> → Le", "Le → chat", "chat → <end>"], ["The", "cat", "<end>"]
ISOLATES = str.maketrans("", "", "\u2068\u2069")  # around the names of tokens in a sentence
SHADES = """tokens => tokens.map((token) => {
  const alpha = getComputedStyle(token).backgroundColor;
  return alpha === "rgba(0, 0, 0, 0)" ? null : alpha;
})"""
SENTENCE = "My brother left because he was tired."


@pytest.fixture
def weights():
    return np.random.default_rng(0).dirichlet(np.ones(7), 7).astype(np.float32)


def drawn(page, *arguments, **options):
    """Draw the picture; the texts, each with its tokens."""
    page.set_content(noting(attention_text(*arguments, **options).to_html()))
    texts = page.locator(".attention-text .text")
    texts.first.wait_for()
    return [texts.nth(place).locator(".token") for place in range(texts.count())]


def note(page):
    words = page.locator(".attention-text .note").evaluate("note => note.firstChild.data ?? ''")
    return words.translate(ISOLATES)


def weights_of(tokens):
    """What is told of each token to those who do not see its shade."""
    told = [each.get_attribute("aria-label").rpartition(" ")[2] for each in tokens.all()]
    return [0 if number.startswith("<") else float(number) for number in told]


def test_pointing_shades_a_text_by_where_the_token_looks_or_what_looks_at_it(page, weights):
    (tokens,) = drawn(page, weights, TOKENS)
    tokens.nth(2).hover()
    np.testing.assert_allclose(weights_of(tokens), weights[2], atol=6e-4)
    assert note(page).startswith(f"“sat” looks most at “{TOKENS[weights[2].argmax()]}” ")
    shades = tokens.evaluate_all(SHADES)
    assert len({shades[place] for place in np.argsort(weights[2])[-3:]} - {None}) == 3
    page.get_by_role("button", name="Shade what looks at it").click()
    tokens.nth(2).hover()
    np.testing.assert_allclose(weights_of(tokens), weights[:, 2], atol=6e-4)
    assert note(page).startswith(f"“sat” is looked at most by “{TOKENS[weights[:, 2].argmax()]}” ")
    assert page.errors == []


def test_a_kept_token_stays_and_pointing_reads_single_weights(page, weights):
    (tokens,) = drawn(page, weights, TOKENS, lit=("query", 1))
    expect(tokens.nth(1)).to_have_attribute("aria-pressed", "true")
    tokens.nth(5).hover()
    assert note(page) == f"“cat” looks at “it”: weight {weights[1, 5]:.3f}."
    np.testing.assert_allclose(weights_of(tokens), weights[1], atol=6e-4)
    tokens.nth(5).click()
    assert picked(page) == ["query", 5]
    np.testing.assert_allclose(weights_of(tokens), weights[5], atol=6e-4)
    page.get_by_role("button", name="Shade what looks at it").click()
    assert picked(page) == ["key", 5]
    tokens.nth(0).hover()
    assert note(page) == f"“The” looks at “it”: weight {weights[0, 5]:.3f}."
    tokens.nth(5).click()
    assert picked(page) is None


def test_words_stand_apart_and_their_pieces_do_not(page, weights):
    drawn(page, weights, TOKENS)
    assert page.locator(".text").text_content() == "The cat sat because it [SEP]"


def test_two_texts_shade_each_other(page):
    weights = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0, 0, 1]], np.float32)
    queries, keys = drawn(page, weights, *CROSS, words=[0, 1, 2])
    assert page.locator(".text").all_text_contents() == ["Le chat <end>", "The cat <end>"]
    queries.nth(1).hover()
    np.testing.assert_allclose(weights_of(keys), weights[1], atol=6e-4)
    assert note(page).startswith("“Le → chat” looks most at “cat” 0.800")
    assert set(queries.evaluate_all(SHADES)) == {None}
    keys.nth(2).hover()
    np.testing.assert_allclose(weights_of(queries), weights[:, 2], atol=6e-4)
    assert note(page).startswith("“<end>” is looked at most by “chat → <end>” 1.000")
    keys.nth(0).hover()
    assert "<end>" not in note(page).partition("by")[2]  # a weight of 0


def test_the_keyboard_moves_over_the_text_and_keeps_a_token(page, weights):
    page.set_viewport_size({"width": 150, "height": 600})
    (tokens,) = drawn(page, weights, TOKENS)
    expect(page.locator(".token[tabindex='0']")).to_have_count(1)
    tokens.first.focus()
    page.keyboard.press("ArrowRight")
    expect(tokens.nth(1)).to_be_focused()
    np.testing.assert_allclose(weights_of(tokens), weights[1], atol=6e-4)
    before = tokens.nth(1).bounding_box()["y"]
    page.keyboard.press("ArrowDown")
    focused = page.locator(".token:focus")
    assert focused.bounding_box()["y"] > before
    page.keyboard.press("ArrowUp")
    assert focused.bounding_box()["y"] == before
    for key in ("Enter", " "):
        page.keyboard.press(key)
        expect(focused).to_have_attribute("aria-pressed", str(key == "Enter").lower())


def test_lines_break_where_the_text_does_and_hebrew_runs_to_the_left(page):
    (tokens,) = drawn(page, np.eye(4), ["one", "⏎", "two", "\n"])
    tops = [each.bounding_box()["y"] for each in tokens.all()]
    assert tops[0] == tops[1] < tops[2] == tops[3]
    (tokens,) = drawn(page, np.eye(3), ["[CLS]", "שלום", "עולם"])
    lefts = [each.bounding_box()["x"] for each in tokens.all()]
    assert lefts == sorted(lefts, reverse=True)
    tokens.nth(0).focus()
    page.keyboard.press("ArrowLeft")
    expect(tokens.nth(1)).to_be_focused()


def test_any_text_stays_text_and_inside_the_picture(page):
    odd = [MARKUP, "\u202e\u2067turned", "a" * 300, "👩‍👩‍👧‍👦", "</script>", "end"]
    page.set_viewport_size({"width": 390, "height": 700})
    (tokens,) = drawn(page, np.full((6, 6), 1 / 6), odd)
    assert tokens.all_text_contents() == odd
    assert page.evaluate("[window.hacked, document.body.scrollWidth <= innerWidth]") == [None, True]
    assert tokens.last.evaluate("end => getComputedStyle(end.parentElement).direction") == "ltr"
    end, turned = tokens.last.bounding_box(), tokens.nth(1).bounding_box()
    assert end["y"] > turned["y"]
    assert page.errors == []


@pytest.mark.parametrize("width", [390, 1280])
def test_500_tokens_are_legible_and_the_kept_one_is_in_sight(page, width):
    weights = np.full((500, 500), 0.001, np.float32)
    weights[400, 395] = 0.5
    page.set_viewport_size({"width": width, "height": 720})
    (tokens,) = drawn(page, weights, [f"word{n}" for n in range(500)], lit=("query", 400))
    expect(tokens.nth(400)).to_be_in_viewport(ratio=1)
    expect(tokens.nth(395)).to_be_in_viewport()
    expect(page.locator(".note")).to_be_in_viewport(ratio=1)
    assert tokens.nth(400).evaluate("token => parseFloat(getComputedStyle(token).fontSize)") >= 13
    tokens.nth(390).hover()
    assert note(page) == "“word400” looks at “word390”: weight 0.001."


def test_the_page_draws_the_run_as_a_text_and_the_link_keeps_the_token(page, server, translator):
    page.goto(f"{server}/?sentence={SENTENCE}&kind=encoder&layer=1&head=2&picture=text&lit=q2")
    trace = translator.trace(SENTENCE)
    weights = trace.attention[Site("encoder", 0)].weights[0, 1].numpy()
    tokens = page.locator(".attention-text .token")
    expect(tokens).to_have_text([token.text for token in trace.source_tokens])
    assert page.locator(".attention-text .text").text_content() == f"{SENTENCE} <end>"
    np.testing.assert_allclose(weights_of(tokens), weights[1], atol=6e-4)
    tokens.nth(4).click()
    expect(page).to_have_url(re.compile("lit=q5"))
    until(page, lambda: np.allclose(weights_of(tokens), weights[4], atol=6e-4))
    hover(tokens.nth(1), lambda: note(page).endswith(f"weight {weights[4, 1]:.3f}."))
    assert page.errors == []


def test_a_translation_stands_beside_what_it_is_of(page, server, translator):
    page.goto(f"{server}/?sentence={SENTENCE}&kind=cross&layer=1&head=4&picture=text&lit=q1")
    texts = page.locator(".attention-text .text")
    expect(texts).to_have_text(
        [f"{translator.translate(SENTENCE).text} <end>", f"{SENTENCE} <end>"]
    )


def test_a_long_text_offers_to_be_read_as_one(page, server):
    page.goto(f"{server}/?sentence={'We sang a song. ' * 20}&kind=encoder&picture=heatmap")
    page.get_by_role("button", name=re.compile("Read it as a text")).click()
    expect(page.locator(".attention-text .token").first).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Read it as a text"))).to_have_count(0)
