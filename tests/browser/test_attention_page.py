"""What a person sees and can do on the Attention page, in a real browser."""

import re

import pytest
from playwright.sync_api import expect

from headlight.model.transformer.trace import Site
from tests.browser.heatmaps import expect_weight
from tests.browser.rest import hover, settled, until
from tests.matrix import first_of

NEW_SENTENCE = "My brother bought three old bicycles yesterday."
HOSTILE = "<img src=x onerror=\"document.title='owned'\"> <b>bold</b> **stars** $x$ #000001"


def open_app(page, address):
    page.goto(address)
    page.get_by_role("group", name="All heads").wait_for()


def type_sentence(page, sentence):
    page.get_by_label("English sentence").fill(sentence)
    page.get_by_label("English sentence").press("Enter")


def french(page):
    return page.locator(".token-strip .text")


def test_a_new_sentence_is_translated_and_a_weight_can_be_read(page, server, translator):
    open_app(page, f"{server}/?kind=cross")
    type_sentence(page, NEW_SENTENCE)
    translation = translator.translate(NEW_SENTENCE)
    french(page).get_by_text(translation.text, exact=True).wait_for()
    page.get_by_role("button", name=re.compile("^layer 3, head 4:")).click()
    page.wait_for_url(re.compile(r"layer=3&head=4"))

    trace = translator.trace(NEW_SENTENCE, translation)
    rows, columns = len(trace.target_tokens), len(trace.source_tokens)
    heatmap = page.locator(".heatmap")
    for row, column in ((0, 0), (1, 2), (rows - 1, columns - 1)):
        expect_weight(page, heatmap, trace, Site("cross", 2), 3, row, column)
    assert page.errors == []


def test_pointing_at_a_token_shows_the_weights_of_its_lines(page, server, translator):
    open_app(page, f"{server}/?sentence={NEW_SENTENCE}&kind=encoder&layer=1&head=2&picture=lines")
    trace = translator.trace(NEW_SENTENCE)
    weights = trace.attention[Site("encoder", 0)].weights[0, 1]
    queries, keys = (page.locator(f".attention-lines .{side}") for side in ("query", "key"))

    def shows(tokens, weights):
        expected = pytest.approx(weights.tolist(), abs=6e-4)

        def is_shown():
            """The weights next to these tokens are those."""
            texts = tokens.locator(".weight").all_text_contents()
            return "" not in texts and list(map(float, texts)) == expected

        return is_shown

    hover(queries.nth(3), shows(keys, weights[3]))
    assert keys.locator(".name").all_text_contents() == [each.text for each in trace.source_tokens]
    hover(keys.nth(1), shows(queries, weights[:, 1]))
    assert page.errors == []


def test_each_side_of_the_lines_is_one_tab_stop_and_arrow_keys_go_on(page, server):
    open_app(page, f"{server}/?sentence={NEW_SENTENCE}&kind=cross&picture=lines&lit=q3")
    lines = page.locator(".attention-lines")
    queries, keys = lines.locator(".query"), lines.locator(".key")
    expect(lines.locator(".token[tabindex='0']")).to_have_count(2)
    queries.nth(2).focus()
    for key, reached in (
        ("ArrowDown", queries.nth(3)),
        ("ArrowRight", keys.nth(3)),
        ("ArrowUp", keys.nth(2)),
        ("Shift+Tab", queries.nth(2)),
        ("Tab", keys.first),
        ("ArrowDown", keys.nth(1)),
    ):
        page.keyboard.press(key)
        expect(reached).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("lit=k2"))
    expect(lines.locator(".token[aria-pressed=true]")).to_have_text(["brother"])
    expect(keys.nth(1)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(queries.nth(1)).to_be_focused()
    assert page.errors == []


def test_on_a_phone_the_lines_leave_tokens_the_room_they_need(page, server):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server}/?sentence={NEW_SENTENCE}&kind=encoder&picture=lines&lit=q4")
    weights = page.locator(".attention-lines .key .weight")
    expect(weights.last).to_have_text(re.compile(r"\d\.\d{3}$"))
    names = page.locator(".attention-lines .name")
    assert not any(
        name.evaluate("name => name.scrollWidth > name.clientWidth") for name in names.all()
    )


@pytest.mark.matrix
def test_on_the_narrowest_phone_a_token_gives_way_to_its_weight(page, server):
    page.set_viewport_size({"width": 280, "height": 653})
    page.goto(f"{server}/?sentence={NEW_SENTENCE}&kind=encoder&picture=lines&lit=q4")
    cut = page.locator(".attention-lines .key").filter(has_text="yesterday")
    expect(cut.locator(".weight")).to_have_text(re.compile(r"^\d\.\d{3}$"))
    ends = "token => [token, token.lastChild].map((part) => part.getBoundingClientRect().right)"
    end, of_weight = cut.evaluate(ends)
    assert of_weight <= end
    assert cut.locator(".name").evaluate("name => name.scrollWidth > name.clientWidth")


def test_the_sidebar_of_a_phone_closes_when_a_page_is_chosen(page, server):
    page.set_viewport_size({"width": 375, "height": 812})
    open_app(page, server)
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("link", name="Heads", exact=True).click()
    expect(page.get_by_role("heading", name="Heads", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Masks", exact=True)).not_to_be_in_viewport()


def test_what_is_chosen_below_the_picture_of_a_phone_comes_into_sight(page, server):
    page.set_viewport_size({"width": 390, "height": 844})
    open_app(page, f"{server}/?kind=cross&layer=1&head=1")
    said = page.locator(".st-key-weight-said")
    page.get_by_role("button", name=re.compile("^layer 3, head 6:")).click()
    expect(said.get_by_text("layer 3, head 6:")).to_be_in_viewport()
    page.get_by_role("radio", name="Decoder, masked").click()
    expect(said.get_by_text("Decoder, masked, layer 3")).to_be_in_viewport()
    page.get_by_role("heading", name="Attention", exact=True).scroll_into_view_if_needed()
    expect(page.get_by_role("radio", name="Cross-attention")).to_be_in_viewport(ratio=1)


def test_the_grid_works_with_the_keyboard_alone(page, server):
    open_app(page, f"{server}/?layer=1&head=1")
    chosen = page.get_by_role("button", name=re.compile("^layer 1, head 1:"))
    chosen.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"head=3"))
    below = page.get_by_role("button", name=re.compile("^layer 2, head 3:"))
    expect(below).to_have_attribute("aria-pressed", "true")
    expect(chosen).to_have_attribute("aria-pressed", "false")


@pytest.mark.matrix
def test_a_reload_keeps_the_sentence_and_the_head(page, server):
    open_app(page, server)
    type_sentence(page, "We are here.")
    page.get_by_role("button", name=re.compile("^layer 1, head 7:")).click()
    page.wait_for_url(re.compile(r"sentence=We.*layer=1&head=7"))
    page.reload()
    page.get_by_role("group", name="All heads").wait_for()
    expect(page.get_by_label("English sentence")).to_have_value("We are here.")
    chosen = page.get_by_role("button", name=re.compile("^layer 1, head 7:"))
    expect(chosen).to_have_attribute("aria-pressed", "true")


@pytest.mark.matrix
def test_choices_survive_a_visit_to_another_page(page, server):
    open_app(page, server)
    type_sentence(page, "We are here.")
    page.wait_for_url(re.compile("sentence=We"))
    page.get_by_role("link", name="Model card").click()
    page.get_by_role("heading", name="Model card", exact=True).wait_for()
    page.get_by_role("link", name="Attention").click()
    page.get_by_role("group", name="All heads").wait_for()
    expect(page.get_by_label("English sentence")).to_have_value("We are here.")


def test_typed_markup_is_shown_and_never_run(page, server):
    open_app(page, server)
    title = page.title()
    type_sentence(page, HOSTILE)
    page.get_by_text("no piece in the vocabulary").wait_for()
    chips = page.locator(".token-strip").first.locator(".chip")
    expect(chips.filter(has_text="<0x3C>")).to_have_count(HOSTILE.count("<"))
    expect(chips.filter(has_text="$")).to_have_count(HOSTILE.count("$"))
    assert page.locator("img[src='x']").count() == 0
    assert page.title() == title
    assert page.errors == []


def test_an_empty_box_asks_for_a_sentence(page, server):
    open_app(page, server)
    type_sentence(page, "")
    page.get_by_text("Type an English sentence above").wait_for()


@pytest.mark.parametrize("scheme", first_of(["dark", "light"]))
def test_text_follows_the_theme(page, server, scheme):
    page.emulate_media(color_scheme=scheme)
    open_app(page, server)

    def brightness(selector, property_name):
        color = page.locator(selector).first.evaluate(
            f"node => getComputedStyle(node).{property_name}"
        )
        return sum(float(part) for part in re.findall(r"[\d.]+", color)[:3]) / 3

    background = brightness("[data-testid=stApp]", "backgroundColor")
    assert (background > 128) == (scheme == "light")
    for selector in (".head-grid", ".token-strip .text"):
        assert abs(brightness(selector, "color") - background) > 128


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("path", "heading"),
    first_of([("/model", "Model card"), ("/?kind=encoder&layer=3", "Attention")]),
)
def test_a_deep_link_as_the_first_request_shows_its_page(page, start_server, path, heading):
    with start_server() as address:
        page.goto(address + path)
        page.get_by_role("heading", name=heading, exact=True).wait_for()
        if "kind" in path:
            page.get_by_role("button", name=re.compile("^layer 3, mean:.*")).wait_for()
        settled(page)
        assert page.get_by_role("dialog").count() == 0
        assert page.get_by_text("Page not found").count() == 0


@pytest.mark.matrix
def test_a_long_sentence_keeps_its_tokens_under_the_pointer(page, server, translator):
    sentence = "the old man and the small dog were in the house " * 6
    open_app(page, f"{server}/?sentence={sentence}&kind=encoder&layer=1&head=1")
    expect(page.get_by_label("English sentence")).to_have_value(sentence)
    trace = translator.trace(sentence)
    assert len(trace.source_tokens) > 65
    heatmap = page.locator(".heatmap")
    expect_weight(page, heatmap, trace, Site("encoder", 0), 0, 10, 40)


def test_the_button_that_switches_a_head_keeps_the_focus(page, server):
    page.goto(server)
    page.get_by_role("button", name="Switch this head off").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Switch this head on again")).to_be_focused()
    expect(page.locator(".st-key-lead-outcome")).to_be_visible()
    expect(page.get_by_role("button", name="Switch this head on again")).to_be_focused()


HEIGHT = """canvas => {
  const context = canvas.getContext("2d");
  const { actualBoundingBoxAscent, actualBoundingBoxDescent } = context.measureText("lp");
  return actualBoundingBoxAscent + actualBoundingBoxDescent;
}"""


def test_tokens_next_to_the_smallest_cells_do_not_overlap(page, server):
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{server}/?sentence={'We saw the old house, ' * 7}and it was empty.")
    canvas = page.locator(".heatmap canvas.map")
    expect(canvas).to_have_attribute("data-side", "8")
    until(page, lambda: canvas.evaluate(HEIGHT) <= 8)  # once the letters of the page have come
