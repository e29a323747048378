"""Keys that do what clicks do."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.boxes import box


def listens(page):
    """The parts of a page come one by one: wait for the one that hears the keys."""
    page.get_by_role("button", name="Keys: ?").wait_for()


@pytest.fixture
def attention(page, server):
    page.goto(f"{server}/?head=4")
    expect(box(page, "Head")).to_have_value("4")
    listens(page)
    return page


def test_keys_go_through_heads_layers_and_kinds(attention):
    attention.keyboard.press("h")
    expect(box(attention, "Head")).to_have_value("5")
    attention.keyboard.press("Shift+H")
    expect(box(attention, "Head")).to_have_value("4")
    attention.keyboard.press("h")
    attention.keyboard.press("h")  # at once
    expect(box(attention, "Head")).to_have_value("6")
    attention.keyboard.press("Shift+L")
    expect(attention).to_have_url(re.compile("layer=1"))
    attention.keyboard.press("Shift+K")
    expect(attention).to_have_url(re.compile("kind=decoder"))


def test_what_is_typed_in_a_box_is_text(attention):
    sentence = attention.get_by_label("English sentence")
    sentence.fill("")
    sentence.press_sequentially("hhl?")
    expect(sentence).to_have_value("hhl?")
    expect(box(attention, "Head")).to_have_value("4")
    expect(attention.get_by_role("dialog")).not_to_be_visible()


def test_the_help_sheet_opens_lists_the_keys_and_closes(attention):
    attention.keyboard.press("?")
    sheet = attention.get_by_role("dialog", name="Keys")
    expect(sheet).to_contain_text("next head")
    attention.keyboard.press("h")  # meanwhile the page is left alone
    attention.keyboard.press("Escape")
    expect(sheet).not_to_be_visible()
    expect(box(attention, "Head")).to_have_value("4")
    attention.get_by_role("button", name="Keys: ?").click()
    expect(sheet).to_be_visible()
    attention.keyboard.press("?")
    expect(sheet).not_to_be_visible()


def test_a_key_switches_the_selected_head(page, server):
    page.goto(f"{server}/heads?head=4")
    selected = page.locator(".switchboard .head.selected")
    expect(selected).to_have_attribute("aria-pressed", "true")
    listens(page)
    page.keyboard.press("t")
    expect(selected).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("t")
    expect(selected).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    expect(sheet).to_contain_text("switch the selected head off or on")
    expect(sheet).not_to_contain_text("next head")


def test_a_key_switches_the_head_that_is_enlarged(attention):
    attention.get_by_role("button", name="Switch this head off").wait_for()
    attention.keyboard.press("t")
    attention.get_by_role("button", name="Switch this head on again").wait_for()


@pytest.mark.matrix
def test_keys_step_through_a_decoding(page, server):
    page.goto(f"{server}/decoding")
    step = page.locator(".transport .slider").first
    expect(step).to_have_value("0")
    listens(page)
    page.keyboard.press("n")
    page.keyboard.press("n")
    expect(step).to_have_value("2")
    page.keyboard.press("p")
    expect(step).to_have_value("1")


TEXTS = (
    *(
        "<input>",
        "<input type=text>",
        "<input type=TEXT>",
        "<input type=search>",
        "<input type=url>",
    ),
    *("<input type=tel>", "<input type=email>", "<input type=password>", "<input type=number>"),
    *("<input type=date>", "<input type=month>", "<input type=week>", "<input type=time>"),
    *("<input type=datetime-local>", "<input type=unheard-of>", "<textarea></textarea>"),
    *("<p contenteditable>words</p>", "<div contenteditable><b tabindex=0>words</b></div>"),
)
OTHERS = (
    *("<input type=range>", "<input type=RANGE>", "<input type=radio>", "<input type=checkbox>"),
    *("<input type=button>", "<input type=submit>", "<input type=reset>", "<input type=image>"),
    *("<input type=file>", "<input type=color>", "<select><option>not</option></select>"),
    *("<button>no</button>", "<a href='#'>no</a>", "<div tabindex=0>no</div>"),
    *("<details><summary>no</summary></details>", "<svg tabindex=0></svg>"),
)
FOCUS = """markup => {
  window.tried?.remove();
  window.tried = document.createElement("form");
  document.body.prepend(window.tried);
  window.tried.innerHTML = markup;
  const part = window.tried.querySelector("[tabindex], summary") ?? window.tried.firstChild;
  part.focus();
  return document.activeElement === part;
}"""


def test_only_what_takes_text_keeps_the_keys(page, server):
    page.goto(f"{server}/decoding")
    step = page.locator(".transport .slider").first
    expect(step).to_have_value("0")
    listens(page)
    for markup in TEXTS:
        assert page.evaluate(FOCUS, markup), markup
        page.keyboard.press("n")
        expect(step, markup).to_have_value("0")
    for markup in OTHERS:
        assert page.evaluate(FOCUS, markup), markup
        page.keyboard.press("n")
        expect(step, markup).to_have_value("1")
        page.keyboard.press("p")
        expect(step, markup).to_have_value("0")


def test_the_keys_work_after_a_click_on_the_slider(page, server):
    page.goto(f"{server}/decoding")
    step = page.locator(".transport .slider").first
    expect(step).to_have_value("0")
    listens(page)
    step.click()
    expect(step).to_have_value("6")
    page.keyboard.press("n")
    expect(step).to_have_value("7")
    page.keyboard.press("p")
    expect(step).to_have_value("6")
    page.keyboard.press(" ")
    page.get_by_role("button", name="Pause").first.wait_for()
