"""The page that runs the translator, opened from the disk as from a USB stick."""

import re

import pytest
from playwright.sync_api import expect

from headlight.model.edits import CellEdit, Edits, write_edits
from headlight.model.edits.positions import PositionEdit
from headlight.viz.tokens import and_written
from headlight.wings.live.page import EXAMPLES, write_live
from tests.browser.heatmaps import hover_cell, point_of
from tests.browser.rest import until
from tests.browser.translating import said, translate, translated
from tests.odd_texts import MARKUP

SENTENCE = EXAMPLES[0]


@pytest.fixture(scope="module")
def address(translator, tmp_path_factory):
    folder = tmp_path_factory.mktemp("live")
    write_live(folder, translator)
    return (folder / "index.html").as_uri()


@pytest.fixture
def live(page, address):
    """A way to open the page, which loads nothing that is not next to it."""
    loaded = []
    page.on("request", lambda request: loaded.append(request.url))

    def open_page(state=""):
        page.goto(f"{address}{state}")
        expect(page.locator(".before .text, .before .chips").first).to_be_visible()
        return page

    yield open_page
    folder = address.rpartition("/")[0]
    assert all(url.startswith((folder, "blob:", "data:")) for url in loaded)
    assert page.errors == []


def before(page):
    return page.locator(".before .token-strip")


def after(page):
    return page.locator(".after .token-strip")


def edited(translator, edits):
    return translator.translate(SENTENCE, edits=edits.at_sites(translator.shape, 60)).text


def test_a_head_is_switched_off_and_the_link_holds_it(live, translator):
    page = live()
    expect(before(page)).to_contain_text(translator.translate(SENTENCE).text)
    expect(after(page)).to_be_hidden()
    page.get_by_role("button", name="Switch this head off").click()
    text = edited(translator, Edits(gates={("cross", 0, 3): 0}))
    expect(after(page)).to_contain_text(text)
    expect(page.locator(".said")).to_have_text("The translation changes.")
    expect(page.locator(".head-grid .off")).to_have_accessible_name(re.compile("^layer 1, head 4"))
    button = page.get_by_role("button", name="Switch this head on")
    expect(button).not_to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(after(page)).to_contain_text(text)
    page.get_by_role("button", name="Undo all").click()
    expect(after(page)).to_be_hidden()


def test_a_link_of_the_app_with_spans_of_heads_and_cells_is_read(live, translator):
    cells = [CellEdit("cross", query, key, opened=False) for query in (1, 2) for key in (0, 1)]
    edits = Edits(gates={("encoder", 4, head): 0.0 for head in range(8)}, cells=cells)
    assert write_edits(edits) == "gate.encoder.5.1-8.0~close.cross.all.all.2-3.1-2"
    page = live(f"#edits={write_edits(edits)}")
    expect(after(page)).to_contain_text(edited(translator, edits))


@pytest.mark.parametrize("kind", ["decoder", "cross"])
def test_a_query_of_the_decoder_names_what_it_reads_and_writes(live, translator, kind):
    page = live(f"#kind={kind}&layer=1&head=1")
    written = [token.text for token in translator.translate(SENTENCE).target_tokens]
    rows = and_written(["<start>", *written[:-1]], written)
    assert rows[-1].endswith(" → <end>")
    for row in (0, len(rows) - 1):
        assert hover_cell(page, page.locator(".heatmap"), row, 0)[0] == rows[row]
    for name in page.locator(".head-grid .map").evaluate_all(
        "maps => maps.map((map) => map.ariaLabel)"
    ):
        assert re.search("from “(.*)” to “", name)[1] in rows


@pytest.mark.matrix
def test_a_head_of_the_grid_is_shown_in_large(live):
    page = live()
    page.locator(".head-grid").get_by_role("button", name=re.compile("layer 2, head 6")).click()
    expect(
        page.get_by_role("heading", name="Cross-attention, layer 2, head 6", exact=True)
    ).to_be_visible()
    page.get_by_role("button", name="Encoder", exact=True).click()
    expect(page.get_by_role("heading", name="Encoder, layer 2, head 6")).to_be_visible()


@pytest.mark.matrix
def test_a_click_closes_a_cell_and_another_opens_it(live, translator):
    page = live()
    page.mouse.click(*point_of(page.locator(".heatmap"), 7, 5))
    text = edited(translator, Edits(cells=[CellEdit("cross", 7, 5, opened=False)]))
    expect(after(page)).to_contain_text(text)
    page.mouse.click(*point_of(page.locator(".heatmap"), 7, 5))
    expect(after(page)).to_contain_text(translator.translate(SENTENCE).text)


@pytest.mark.matrix
def test_what_comes_next_is_chosen_and_typed(live, translator):
    page = live()
    bars = page.locator(".decoding-player")
    bars.get_by_role("button", name=re.compile("^Force “La”")).click()
    ids = [translator.tokenizer.encode("La")[0].id]
    expect(after(page)).to_contain_text(translator.translate(SENTENCE, prefix=ids).text)
    bars.get_by_role("textbox").fill("Ce chien")
    bars.get_by_role("textbox").press("Enter")
    expect(after(page)).to_contain_text(translator.translate(SENTENCE, prefix="Ce chien").text)


@pytest.mark.matrix
def test_masks_and_positions_are_switched_off(live, translator):
    page = live()
    page.get_by_role("button", name="Look-ahead mask").click()
    expect(after(page)).to_contain_text(edited(translator, Edits(off=("look-ahead",))))
    page.get_by_role("button", name="Look-ahead mask").click()
    page.get_by_role("button", name="Positions of the source").click()
    moved = translator.translate(SENTENCE, edits={"encoder": PositionEdit(off=True)})
    expect(after(page)).to_contain_text(moved.text)


def test_what_is_typed_stays_text_and_is_answered_in_a_sentence(live):
    page = live()
    box = page.get_by_label("English sentence")
    box.fill(MARKUP)
    expect(page.locator(".source .token-strip")).to_contain_text("script")
    assert page.evaluate("window.hacked ?? null") is None
    for text, words in ((" ", "Type an English sentence."), ("a " * 400, "Shorten it.")):
        box.fill(text)
        expect(page.locator(".said")).to_contain_text(words)
    box.fill("I like 日本.")
    expect(page.locator(".said")).to_contain_text("they are read as bytes.")


def test_a_translated_page_says_what_a_fresh_one_says_after_every_act(live, context):
    page = live()
    for name in ("Encoder", "Switch this head off", "I have never seen"):
        translate(page)
        page.get_by_role("button", name=re.compile(name)).click()
    expect(page.locator(".after .text")).to_be_visible()
    translate(page)
    assert not any(re.search(r"\d\.\d|“", text) for text in translated(page))
    fresh = context.new_page()
    fresh.goto(page.url)
    until(page, lambda: said(page) == said(fresh))


@pytest.mark.matrix
def test_a_browser_without_workers_is_told(page, address):
    page.add_init_script("delete window.Worker")
    page.goto(address)
    expect(page.locator(".said")).to_contain_text("This browser has no workers")


@pytest.mark.matrix
def test_a_phone_scrolls_nothing_sideways(live):
    live().set_viewport_size({"width": 390, "height": 844})
    page = live("#kind=encoder&layer=5&head=8&edits=gate.encoder.5.8.0~nonsense&beam=4")
    expect(page.get_by_role("heading", name="Encoder, layer 5, head 8")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
