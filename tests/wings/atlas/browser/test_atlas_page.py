"""The page Atlas: from all heads to one, by mouse and by keys, and on to the page Attention."""

import re

import pytest
from playwright.sync_api import expect

from headlight.viz.numbers import number_text
from headlight.wings.atlas.calls import FOLDER
from headlight.wings.atlas.files import open_atlas
from tests.browser.rest import hover
from tests.browser.test_export import save

SENTENCE = "My sister sold seven boats."
TABS = {
    "heads": "Heads removed one by one",
    "two": "Spearman’s rank correlation",
    "likeness": "Most alike of all",
    "head": "Examples",
    "search": "The sentences read",
}


@pytest.fixture(scope="module")
def atlas():
    return open_atlas(FOLDER)


@pytest.fixture
def open_tab(page, server):
    def open_at(tab, place="kind=encoder&layer=4&head=2"):
        page.goto(f"{server}/atlas?sentence={SENTENCE}&atlas_tab={tab}&{place}")
        page.get_by_text(TABS[tab]).first.wait_for()
        return page

    return open_at


def expect_selected(page, kind, layer, head):
    words = f"{kind}, layer {layer}, head {head}"
    expect(page.get_by_text(words, exact=False).locator("visible=true").first).to_be_visible()
    expect(page).to_have_url(re.compile(f"layer={layer}"))
    expect(page).to_have_url(re.compile(f"head={head}"))


def test_a_cell_of_the_map_reads_its_figure_and_a_click_selects_its_head(open_tab, atlas):
    page = open_tab("heads")
    value = number_text(atlas.kinds["decoder"].figures["previous token"].mean[2, 4])
    name = f"Decoder, masked, layer 3, head 5: previous token {value}"
    cell = page.get_by_role("button", name=name)
    reading = page.locator(".st-key-atlas-map .reading")
    hover(cell, lambda: reading.text_content().strip() == name)
    cell.click()
    expect_selected(page, "Decoder, masked", 3, 5)
    expect(page.get_by_role("button", name="Open its card")).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Open its card").click()
    expect(page.get_by_role("heading", name="Decoder, masked, layer 3, head 5")).to_be_visible()
    expect(page).to_have_url(re.compile("atlas_tab=head"))
    page.keyboard.press("h")
    expect(page.get_by_role("heading", name="Decoder, masked, layer 3, head 6")).to_be_visible()


@pytest.mark.matrix
def test_keys_go_from_point_to_point_and_enter_selects(open_tab, atlas):
    page = open_tab("likeness", "kind=cross&layer=1&head=4")
    canvas = page.locator(".st-key-atlas-plane canvas")
    canvas.focus()
    canvas.press("ArrowRight")  # the first from the left
    reading = page.locator(".st-key-atlas-plane .reading")
    expect(reading).to_have_text(re.compile(r"^cross \d\.\d: nearest are "))
    layer, head = reading.text_content().split(":")[0].removeprefix("cross ").split(".")
    canvas.press("Enter")
    expect_selected(page, "Cross-attention", layer, head)
    expect(page.get_by_text(f"Nearest to cross {layer}.{head}")).to_be_visible()


def test_an_example_opens_on_the_page_attention_with_its_head(open_tab, atlas):
    page = open_tab("head")
    row = page.get_by_role("img", name=re.compile("^previous token: usually .*; on your sentence "))
    expect(row).to_be_visible()
    page.locator(".st-key-atlas-clearest canvas.map").wait_for()
    page.get_by_role("button", name="Open in Attention").first.click()
    expect(page.get_by_role("heading", name="Attention", level=1)).to_be_visible()
    (best,) = sorted(
        (
            (score, example["line"][1])
            for example in atlas.examples
            for *at, _, side, score, _ in example["heads"]
            if (at, side) == (["encoder", 3, 1], "clearest")
        ),
        reverse=True,
    )[:1]
    expect(page.get_by_label("English sentence")).to_have_value(best[1])
    expect(page).to_have_url(re.compile("layer=4&head=2|head=2&layer=4"))


@pytest.mark.matrix
def test_the_table_can_be_saved(open_tab):
    page = open_tab("heads")
    page.get_by_test_id("stDataFrame").hover()
    data, name = save(page, page.locator(".st-key-save-atlas-table"), "csv")
    assert name.startswith("headlight_en-fr_all-figures-of-all-heads")
    lines = data.decode("utf-8-sig").splitlines()
    assert len(lines) == 1 + 88 * 20
    assert lines[1].startswith("figures,1,encoder 1.1,1,entropy,")


@pytest.mark.matrix
def test_a_head_picked_among_those_that_copy_shows_what_its_weights_do(page, server):
    page.goto(f"{server}/atlas?atlas_tab=weights&kind=encoder&layer=1&head=1")
    head = page.get_by_role("button", name=re.compile("^Cross-attention, layer 3, head 3: "))
    head.first.click(timeout=90_000)
    expect(page.get_by_text("very → très").first).to_be_visible(timeout=90_000)
    page.wait_for_url(re.compile("layer=3&head=3"))
    page.get_by_role("radio", name="key").click()
    page.wait_for_url(re.compile("circuit_way=key"))
