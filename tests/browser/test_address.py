"""The browser's Back and Forward, links opened elsewhere, and choices on the way between pages."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.boxes import box, choose_in
from tests.browser.rest import settled, tended


def open_attention(page, server, query=""):
    page.goto(f"{server}/{query}")
    page.get_by_text("All heads", exact=True).wait_for()
    expect(box(page, "Head")).to_be_visible()
    tended(page)


def come_to_attention(page, server):
    """Open the page from another one, whose script is there: one that loads it may be too early."""
    page.goto(f"{server}/model")
    tended(page)
    page.get_by_role("link", name="Attention", exact=True).click()
    page.get_by_text("All heads", exact=True).wait_for()
    expect(page).to_have_url(re.compile(r"/\?"))
    settled(page)


def choose(page, name):
    choose_in(page, "Head", name)
    expect(page).to_have_url(re.compile(f"head={name}"))


def test_the_first_page_has_the_address_of_its_name_too(page, server):
    page.goto(f"{server}/attention?head=4")
    expect(page).to_have_url(re.compile(r"/\?(.*&)?head=4"))
    expect(box(page, "Head")).to_have_value("4")


@pytest.mark.matrix
def test_back_and_forward_go_through_what_was_chosen(page, server):
    open_attention(page, server)
    choose(page, "4")
    choose(page, "6")
    page.go_back()
    expect(box(page, "Head")).to_have_value("4")
    page.go_forward()
    expect(box(page, "Head")).to_have_value("6")


@pytest.mark.matrix
def test_one_press_of_back_leads_to_the_page_before(page, server):
    open_attention(page, server, "?head=4")
    page.get_by_role("link", name="Masks").click()
    expect(page).to_have_url(re.compile(r"/masks\?.*head=4"))
    page.get_by_role("link", name="Heads").click()
    expect(page).to_have_url(re.compile(r"/heads\?.*head=4"))
    page.go_back()
    expect(page.get_by_role("heading", name="Masks", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile(r"/masks\?.*head=4"))
    page.go_back()
    expect(box(page, "Head")).to_have_value("4")
    page.go_forward()
    expect(page.get_by_role("heading", name="Masks", exact=True)).to_be_visible()


@pytest.mark.matrix
def test_quick_steps_back_and_forward_end_where_they_should(page, server):
    names = ["Masks", "Decoding", "Heads", "Compare", "Positions"]
    come_to_attention(page, server)
    first = page.evaluate("navigation.currentEntry.index")
    for name in names:
        page.get_by_role("link", name=name, exact=True).click()
        expect(page).to_have_url(re.compile(rf"/{name.lower()}\?"))
        settled(page)
    entries, last = page.evaluate("[history.length, navigation.currentEntry.index]")
    for step, ending, path in (("back", "Attention", "/"), ("forward", "Positions", "/positions")):
        for _ in range(last - first):
            # Not by the address: a page that is passed by may still complete its own.
            index = page.evaluate("navigation.currentEntry.index")
            page.evaluate(f"history.{step}()")
            page.wait_for_function("index => navigation.currentEntry.index !== index", arg=index)
        assert urlsplit(page.url).path == path
        expect(page.get_by_role("heading", name=ending, exact=True)).to_be_visible()
        settled(page)  # no page that was passed by comes back
        expect(page.get_by_role("heading", name=ending, exact=True)).to_be_visible()
    assert page.evaluate("history.length") == entries


def test_a_page_that_was_passed_is_no_step_however_late_it_loads(page, server):
    come_to_attention(page, server)
    first = page.evaluate("navigation.currentEntry.index")
    for name in ("Masks", "Decoding"):
        page.get_by_role("link", name=name, exact=True).click()
        expect(page).to_have_url(re.compile(rf"/{name.lower()}\?"))
        settled(page)
    page.evaluate("first => history.go(first - navigation.currentEntry.index)", first)
    page.wait_for_function("first => navigation.currentEntry.index === first", arg=first)
    expect(page.get_by_role("heading", name="Attention", exact=True)).to_be_visible()
    settled(page)
    page.evaluate("performance.now = () => Infinity")  # much later, Masks loads as Streamlit has it
    page.evaluate("history.pushState(null, '', '/masks')")
    assert page.evaluate("navigation.currentEntry.index") == first
    page.get_by_role("link", name="Masks", exact=True).click()
    expect(page).to_have_url(re.compile(r"/masks\?"))
    assert page.evaluate("navigation.currentEntry.index") == first + 1


def test_a_link_restores_a_scene_in_another_browser(page, browser, server):
    edits = "look-ahead.off~gate.cross.2.8.0"
    open_attention(page, server, f"?sentence=We sing.&head=4&kind=encoder&edits={edits}")
    page.get_by_role("link", name="Masks").click()
    look_ahead = page.get_by_role("switch", name="Look-ahead mask")
    expect(look_ahead).not_to_be_checked()
    expect(page).to_have_url(re.compile("masks.*head=4"))
    other = browser.new_context().new_page()
    other.goto(page.url)
    expect(other.get_by_label("English sentence")).to_have_value("We sing.")
    expect(other.get_by_role("switch", name="Look-ahead mask")).not_to_be_checked()
    other.context.close()


def test_a_damaged_link_shows_the_defaults_and_a_note(page, server):
    open_attention(page, server, "?head=99&edits=gate.cross.9.9.9&layer=3")
    expect(page.get_by_text("too old, damaged or too long")).to_be_visible()
    expect(page.get_by_text("edits, head").or_(page.get_by_text("head, edits"))).to_be_visible()
    expect(box(page, "Head")).to_have_value("mean")
    expect(page).to_have_url(re.compile("layer=3"))


@pytest.mark.matrix
def test_choices_of_a_page_outlive_clicks_on_others(page, server):
    page.goto(f"{server}/decoding")
    page.get_by_role("radio", name="Beam").click()
    page.get_by_text("A beam of size 4").wait_for()
    page.get_by_role("link", name="Attention").click()
    page.get_by_text("All heads", exact=True).wait_for()
    expect(page).to_have_url(re.compile(r"/\?model="))  # the page has run to its end
    for name in ("4", "5", "7"):
        choose(page, name)
    page.get_by_role("link", name="Masks").click()
    page.get_by_role("heading", name="Masks", level=1).wait_for()  # Attention has such a row, too
    page.get_by_role("radio", name="Cross-attention").click()
    expect(page).to_have_url(re.compile("mask_kind=cross"))
    page.get_by_role("link", name="Decoding").click()
    page.get_by_text("A beam of size 4").wait_for()
    expect(page.get_by_role("radio", name="Beam")).to_be_checked()
    expect(box(page, "Head")).to_have_value("7")


def test_a_text_typed_before_a_quick_click_comes_along_to_the_next_page(page, server):
    open_attention(page, server)
    page.get_by_label("English sentence").fill("We sing.")
    page.get_by_role("link", name="Heads", exact=True).click()
    page.get_by_role("heading", name="Heads", level=1).wait_for()
    expect(page.get_by_label("English sentence")).to_have_value("We sing.")
    expect(page).to_have_url(re.compile(r"/heads\?.*sentence=We\+sing"))


def test_a_copied_link_has_the_text_typed_before(page, server):
    page.add_init_script("""
      const writeText = async (text) => (window.copiedText = text);
      Object.defineProperty(navigator, "clipboard", { value: { writeText } });
    """)
    open_attention(page, server)
    page.get_by_label("English sentence").fill("We sing.")
    page.get_by_role("button", name="Copy link").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert "sentence=We+sing" in page.evaluate("copiedText")
