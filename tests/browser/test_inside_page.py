"""From a cell of an attention map to the page that takes its weight apart."""

import re

import pytest
from playwright.sync_api import expect

from headlight.model.transformer.trace import Site
from tests.browser.heatmaps import hover_cell
from tests.browser.rest import box_at_rest, hover, settled

SENTENCE = "My brother bought three old bicycles yesterday."
AT_THE_MARGIN = """() => {
  const left = (selector) => document.querySelector(selector).getBoundingClientRect().left;
  return left(".st-key-weight-bar .stMetric") === left(".stTextInput");
}"""


def click_cell(page, row, column):
    """Click a cell of the first heatmap, and return what it said before."""
    heatmap = page.locator(".heatmap").first
    heatmap.locator("canvas.map").wait_for()
    said = hover_cell(page, heatmap, row, column)
    page.mouse.down()
    page.mouse.up()
    return said


def expect_inside(page, trace, site, head, query, key):
    """The page takes the weight of this cell apart."""
    expect(page.get_by_role("heading", name="Inside a head")).to_be_visible()
    page.get_by_text("9. Into the residual stream").wait_for()
    weight = trace.attention[site].weights[0, head, query, key].item()
    expect(page.get_by_test_id("stMetricValue").first).to_have_text(f"{weight:.3f}")
    chosen = {
        "Query": f"{query + 1}: {trace.query_tokens(site)[query].text}",
        "Key": f"{key + 1}: {trace.key_tokens(site)[key].text}",
    }
    for name, text in chosen.items():
        shown = re.compile(rf"^{re.escape(text)}( → .+)?$")
        expect(page.get_by_role("combobox", name=re.compile(f"^{name}"))).to_have_value(shown)


def test_a_clicked_cell_is_taken_apart(page, server, translator):
    page.goto(f"{server}/?sentence={SENTENCE}&kind=cross&layer=3&head=2")
    trace = translator.trace(SENTENCE)
    site = Site("cross", 2)
    weights = trace.attention[site].weights[0, 1]
    query, key = divmod(int(weights.argmax()), weights.size(1))
    *_, said = click_cell(page, query, key)
    assert said == f"weight {weights[query, key]:.3f}"
    expect_inside(page, trace, site, 1, query, key)
    score = trace.attention[site].scores[0, 1, query, key].item()
    expect(page.get_by_text(f"{score:.3f}", exact=False).first).to_be_attached()
    page.go_back()
    expect(page.get_by_role("heading", name="Attention")).to_be_visible()


@pytest.mark.matrix
def test_a_cell_of_the_mean_opens_its_strongest_head(page, server, translator):
    page.goto(f"{server}/?sentence={SENTENCE}&kind=encoder&layer=1")
    trace = translator.trace(SENTENCE)
    site = Site("encoder", 0)
    weights = trace.attention[site].weights[0]
    click_cell(page, 2, 3)
    expect_inside(page, trace, site, int(weights[:, 2, 3].argmax()), 2, 3)


@pytest.mark.matrix
def test_a_weight_of_a_decoding_step_is_taken_apart(page, server, translator):
    page.goto(f"{server}/decoding?sentence={SENTENCE}&layer=2&head=4")
    page.get_by_text("Reference token ranked first").wait_for()
    page.locator(".decoding-player").get_by_role("button", name="Step forward").click()
    source = page.locator(".decoding-player .weighed-tokens").nth(1)
    source.get_by_role("button").nth(2).press("Enter")
    expect_inside(page, translator.trace(SENTENCE), Site("cross", 1), 3, 1, 2)


@pytest.mark.matrix
def test_what_is_taken_apart_stays_in_sight_of_every_step(page, server):
    page.goto(f"{server}/inside?sentence={SENTENCE}&layer=2&head=3&query=3&key=2")
    page.get_by_text("9. Into the residual stream").wait_for()
    steps = page.get_by_role("navigation", name="On this page").get_by_role("button")
    expect(steps).to_have_count(9)
    for number, title in ((9, "Into the residual stream"), (6, "The softmax")):
        steps.nth(number - 1).click()
        heading = page.get_by_text(f"{number}. {title}")
        expect(heading).to_be_in_viewport(ratio=1)
        expect(steps.nth(number - 1)).to_have_attribute("aria-current", "step")
        weight = page.get_by_test_id("stMetric").first
        for shown in (weight, *page.get_by_role("combobox", name=re.compile("^(Query|Key)")).all()):
            expect(shown).to_be_in_viewport(ratio=1)
        bar = box_at_rest(page.locator(".st-key-weight-bar"))
        assert heading.bounding_box()["y"] >= bar["y"] + bar["height"]


@pytest.mark.matrix
def test_a_phone_shows_the_weight_that_a_tap_has_opened(page, server, translator):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server}/?sentence={SENTENCE}&kind=cross&layer=3&head=2")
    click_cell(page, 2, 3)
    expect(page.get_by_role("heading", name="Inside a head")).to_be_attached()
    expect(page.get_by_text("1. What is read")).to_be_in_viewport(ratio=1)
    expect(page.get_by_test_id("stMetric").first).to_be_in_viewport(ratio=1)
    bar = page.locator(".st-key-weight-bar")
    assert box_at_rest(bar, scroll=False)["y"] <= 844 / 2
    page.get_by_text("9. Into the residual stream").scroll_into_view_if_needed()
    bar = box_at_rest(bar)  # which sticks to the top now
    assert bar["y"] + bar["height"] <= 844 / 4
    # Nothing of it is below the buttons of the window's top, and nothing is indented elsewhere.
    left, right = (page.get_by_test_id(f"st{name}") for name in ("ExpandSidebarButton", "MainMenu"))
    weight, key = (page.get_by_test_id("stMetric"), page.get_by_role("combobox", name="Key"))
    assert weight.bounding_box()["x"] >= left.bounding_box()["x"] + left.bounding_box()["width"]
    assert key.bounding_box()["x"] + key.bounding_box()["width"] <= right.bounding_box()["x"]
    page.get_by_role("heading", name="Inside a head").scroll_into_view_if_needed()
    page.wait_for_function(AT_THE_MARGIN)


def test_the_numbers_of_the_dot_product_add_up_on_screen(page, server):
    page.goto(f"{server}/inside?sentence={SENTENCE}&layer=2&head=3&query=3&key=2")
    page.get_by_text("9. Into the residual stream").wait_for()
    products = page.locator(".vector-rows").nth(2)
    canvas, note = products.locator("canvas").last, products.locator(".note").last
    expect(note).to_contain_text("sum")
    box = box_at_rest(canvas)
    total = 0
    for dimension in range(1, 33):
        x = box["x"] + (dimension - 0.5) * box["width"] / 32
        page.mouse.move(x, box["y"] + box["height"] / 2)
        reading = products.locator(".reading")
        expect(reading).to_contain_text(f"dimension {dimension}:")
        number = re.search(r"[−\d.]+$", reading.text_content()).group()
        total += float(number.replace("−", "-"))
    shown = note.text_content().removeprefix("sum ").replace("−", "-")
    assert total == pytest.approx(float(shown), abs=1e-3)


@pytest.mark.matrix
def test_a_word_of_the_lens_is_read_by_pointing_and_by_keys(page, server, translator):
    page.goto(f"{server}/inside?inside_tab=stream&sentence={SENTENCE}&kind=decoder")
    lens = page.locator(".lens-map")
    written = [token.text for token in translator.translate(SENTENCE).target_tokens]
    last = lens.locator("tr").last.locator("td")
    expect(last).to_have_text(written)
    settled(page)
    said = lens.get_by_role("status")
    hover(last.nth(1), lambda: f"“{written[1]}” 0." in said.text_content())
    last.nth(1).focus()
    page.keyboard.press("ArrowRight")
    expect(said).to_contain_text(f"After “{written[1]}”")
    lens.locator("th").last.hover()  # the pointer leaves the word that it was on
    expect(said).to_contain_text(f"After “{written[1]}”")


def test_a_long_name_leaves_no_lone_word_in_its_second_line(page, server):
    place = "kind=encoder&layer=3&head=2&query=4&key=2&inside_tab=why"
    page.goto(f"{server}/inside?sentence={SENTENCE}&{place}")
    name = page.locator(".sum-bars .sentence", has_text="feed-forward 2 in the query, feed-").first
    widths = name.evaluate(
        """name => {
          const range = document.createRange();
          range.selectNodeContents(name);
          return [...range.getClientRects()].map(({ width }) => width);
        }"""
    )
    assert len(widths) == 2
    assert min(widths) > max(widths) / 2


def test_a_click_on_a_head_that_wrote_the_key_goes_to_it_and_back(page, server, translator):
    place = "kind=encoder&layer=3&head=2&query=4&key=2&inside_tab=why"
    page.goto(f"{server}/inside?sentence={SENTENCE}&{place}")
    trace = translator.trace(SENTENCE)
    page.locator(".st-key-why-key .part", has_text="head 2.5").click()
    row = trace.attention[Site("encoder", 1)].weights[0, 4, 1]
    weight = page.get_by_test_id("stMetric").first
    expect(weight).to_contain_text("Encoder, layer 2, head 5")
    expect(weight).to_contain_text(f"{row.max():.3f}")
    query = page.get_by_role("combobox", name=re.compile("^Query"))
    expect(query).to_have_value(f"2: {trace.source_tokens[1].text}")
    back = page.get_by_role("button", name="Back", exact=True)
    expect(back).to_be_in_viewport(ratio=1)
    back.click()
    expect(weight).to_contain_text("Encoder, layer 3, head 2")
    expect(query).to_have_value(f"4: {trace.source_tokens[3].text}")
    expect(back).to_have_count(0)


FORMULAS = "[...document.querySelectorAll('.katex-display')]"


def test_a_phone_shows_formulas_whole(page, server):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server}/inside")
    page.get_by_text("9. Into the residual stream").wait_for()
    formulas = page.locator(".katex-display")
    expect(formulas).to_have_count(9)
    page.wait_for_function(f"{FORMULAS}.every((each) => each.scrollWidth <= 390)")
    page.goto(f"{server}/?kind=decoder")
    expect(formulas).to_have_count(1)
    page.wait_for_function(f"{FORMULAS}.every((each) => each.scrollWidth === each.clientWidth)")
