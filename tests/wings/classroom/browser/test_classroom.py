"""A link for a class: its QR code, and what it leaves open."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
import segno
from playwright.sync_api import expect

from headlight.wings.classroom.wing import NAMED, NO_CLICKS


@pytest.fixture
def class_page(page, server):
    """A way to open a page with a class's link, on a screen of some size."""

    def open_page(path, size=(1280, 720), **parameters):
        page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
        query = "&".join(f"{name}={text}" for name, text in parameters.items())
        page.goto(f"{server}/{path}?{query}")
        return page

    return open_page


def modules_of(page):
    """Which modules of the code on the screen are dark, as its canvas shows them: rows of 0, 1."""
    return page.locator(".qr-code canvas").evaluate(
        """canvas => {
            const { width } = canvas;
            const dots = canvas.getContext("2d").getImageData(0, 0, width, width).data;
            const dark = (x, y) => dots[4 * (Math.floor(y) * width + Math.floor(x))] < 128;
            let first = 0;
            while (!dark(first + 0.5, first + 0.5)) first++;
            const module = first / 4; // the quiet zone
            const side = Math.round(width / module) - 8;
            const middle = (place) => first + module * (place + 0.5);
            const places = Array.from({ length: side }, (_, place) => place);
            return places.map((row) =>
                places.map((column) => Number(dark(middle(column), middle(row)))));
        }"""
    )


def test_the_code_holds_the_scene_and_what_the_teacher_named(class_page):
    page = class_page("heads", sentence="We left.")
    page.get_by_role("button", name="QR", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("opens on this machine only")).to_be_visible()
    dialog.get_by_text("Only this page").click()
    link = dialog.get_by_test_id("stCode").locator("code")
    expect(link).to_contain_text("workshop=heads")
    expect(page.locator(".qr-code .address")).to_have_text(link.text_content())
    asked = parse_qs(urlsplit(link.text_content()).query)
    assert asked["sentence"] == ["We left."]
    code = segno.make(link.text_content(), micro=False, error="m", boost_error=False)
    assert modules_of(page) == [list(row) for row in code.matrix]


def test_controls_of_every_named_page_are_offered_and_clicks_are_told_of(class_page):
    page = class_page("", sentence="We left.")
    page.get_by_role("button", name="QR", exact=True).click()
    dialog = page.get_by_role("dialog")
    link = dialog.get_by_test_id("stCode").locator("code")

    def add(label, words, said):
        box = dialog.get_by_label(label)
        box.click()
        box.fill(words)
        page.get_by_role("option", name=words, exact=True).click()
        expect(link).to_contain_text(said)
        page.keyboard.press("Tab")  # the list closes, which would hide the next box

    add(NAMED, "Head", "workshop=%3Ahead")
    expect(dialog.get_by_text(NO_CLICKS)).to_be_visible()
    add(
        "Pages that stay open next to Attention", "Decoding", "workshop=attention%2Cdecoding%3Ahead"
    )
    add(NAMED, "Beam size", "decoding%3Ahead%2Cbeam_size")
    add(NAMED, "Clicks in pictures", "%3Ahead%2Cbeam_size%2Cclicks")
    expect(dialog.get_by_text(NO_CLICKS)).to_be_hidden()


@pytest.mark.matrix
def test_pages_that_are_not_open_are_not_offered_and_lead_back(class_page):
    page = class_page("", workshop="attention,heads")
    links = page.get_by_test_id("stSidebar").get_by_role("link")
    expect(links).to_have_count(2)
    links.filter(has_text="Heads").click()
    expect(page.get_by_role("heading", name="Heads", exact=True)).to_be_visible()
    page.wait_for_function("() => location.search.includes('workshop=attention')")
    page.reload()
    expect(links).to_have_count(2)
    class_page("masks", workshop="heads")
    expect(page.get_by_role("heading", name="Heads", exact=True)).to_be_visible()


def test_controls_that_are_not_open_do_not_answer_and_pictures_still_tell(class_page):
    page = class_page("", workshop=":sentence", picture="heatmap")
    sentence = page.get_by_label("English sentence")
    head = page.locator(".st-key-head").get_by_role("combobox")
    page.wait_for_function("() => document.querySelector('.st-key-head .stSelectbox')?.inert")
    expect(head).to_be_attached()
    page.locator(".head-grid").get_by_role("button", name=re.compile("^layer 3, head 5")).click()
    page.locator("h1").click()
    page.keyboard.press("h")
    page.keyboard.press("l")
    sentence.fill("We stay.")
    sentence.press("Enter")
    page.wait_for_function("() => location.search.includes('We+stay')")
    assert "head=" not in page.url
    assert "layer=" not in page.url
    expect(page.locator(".st-key-sentence [inert]")).to_have_count(0)
    expect(
        page.get_by_text("This link is for a class: it shows only what the class needs now.")
    ).to_be_visible()
    assert page.errors == []


def test_locked_controls_take_no_room_on_a_phone(class_page):
    page = class_page("", size=(390, 844), workshop=":head")
    expect(page.get_by_label("English sentence")).to_be_visible()  # all is about it
    expect(
        page.get_by_text("This link is for a class: it shows only what the class needs now.")
    ).to_be_in_viewport()
    page.wait_for_function("() => document.querySelector('.st-key-sentence [inert]')")
    expect(page.locator(".st-key-model")).to_be_hidden()
    expect(page.locator(".st-key-head").get_by_role("combobox")).to_be_in_viewport()


def test_a_class_to_which_changes_are_open_switches_heads_off(class_page):
    page = class_page("heads", size=(390, 844), workshop=":edits")
    head = "Cross-attention, layer 1, head 4"
    expect(page.get_by_role("slider")).to_be_enabled()
    page.get_by_role("button", name=f"{head}: on").click()
    expect(page.get_by_role("button", name=f"{head}: off")).to_be_visible()
    expect(page.locator(".st-key-lead-outcome")).to_be_in_viewport()


@pytest.mark.parametrize(
    ("path", "opener", "is_open"),
    [("", "Tokens drawn", False), ("masks", "More", False), ("masks", "Add a mask", True)],
)
def test_what_a_popover_holds_is_as_open_as_its_button(class_page, path, opener, is_open):
    page = class_page(path, workshop=":edits")
    page.get_by_role("button", name=opener, exact=True).click()
    held = page.get_by_test_id("stPopoverBody").locator(".stButtonGroup, .stSelectbox, .stCheckbox")
    held.first.wait_for()
    expect(held.first).to_have_js_property("inert", not is_open)


@pytest.mark.parametrize(
    ("path", "query", "control", "other"),
    [
        ("heads", {"roles": "on"}, "edits", "role_seed"),
        ("masks", {}, "edits", "head"),
        ("compare", {}, "compare_a", "compare_b"),
        ("positions", {"positions_tab": "sinusoids"}, "positions_dimensions", "positions_width"),
    ],
)
def test_what_changes_something_is_open_with_it(class_page, path, query, control, other):
    """The widgets of edits and of sides, which are no choices of their own."""
    page = class_page(path, workshop=f":{control}", **query)
    page.locator(f".st-key-{other} [inert]").first.wait_for()
    expect(page.locator(f".st-key-{control} :is(input, [role=slider])").first).to_be_attached()
    expect(page.locator(f".st-key-{control} [inert]")).to_have_count(0)


@pytest.mark.matrix
def test_a_list_that_makes_no_sense_opens_everything_and_says_so(class_page):
    page = class_page("", workshop="<b>,nothing")
    expect(page.get_by_text("Parts of this link are too old")).to_be_visible()
    expect(page.get_by_test_id("stSidebar").get_by_role("link", name="Masks")).to_be_visible()
