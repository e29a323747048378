"""A room, from the lecturer's slide and from phones."""

import csv
import re

import pytest
from playwright.sync_api import expect

import headlight.pages.parts.pages  # noqa: F401, what slides are of
from headlight.wings.room.rooms import CHANGED
from headlight.wings.talks.slides import Slide
from tests.browser.test_door import closed
from tests.wings.talks.browser.talks import expect_fitted, see_title, with_talk

__all__ = ["closed"]

SENTENCE = "<b>It was hungry."
SCENE = {
    "kind": "encoder",
    "layer": "5",
    "head": "6",
    "guess": "on",
    "guess_row": "1",
    "sentence": SENTENCE,
}
TALK = (
    Slide("attention", SCENE, "A head", pictures=("heatmap",)),
    Slide("heads", {"guess": "on"}, "All heads", pictures=("effects", "map")),
    Slide(title="The end"),
    Slide(title="<i>Why?", question="Is $x$ *it*?\n<b>yes\nno\nboth"),
    Slide("attention", SCENE, "Both", pictures=("heatmap",), question="Dog or meat?\ndog\nmeat"),
)
TABLES = [("Encoder", 5), ("Decoder, masked", 3), ("Cross-attention", 3)]


@pytest.fixture
def phones(browser):
    """Open phones at an address, with or without a cookie of this app."""
    contexts = []

    def open_phone(address):
        contexts.append(browser.new_context(viewport={"width": 390, "height": 780}))
        phone = contexts[-1].new_page()
        phone.goto(address)
        return phone

    yield open_phone
    for context in contexts:
        context.close()


def open_room(page):
    """Open a room by the button in the sidebar; returns its code."""
    page.get_by_role("button", name="Room", exact=True).click()
    page.get_by_role("button", name="Open a room").click()
    code = page.get_by_text(re.compile("^Code: "))
    expect(code).to_be_visible()
    return code.text_content().removeprefix("Code: ")


def close_dialog(page):
    page.get_by_role("dialog").get_by_role("button", name="Close", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def options(phone):
    return phone.locator(".options button")


def test_a_slide_counts_guesses_shows_them_and_then_the_answer(
    page, server, phones, translator, tmp_path
):
    with_talk(page, server, TALK, "")
    page.get_by_role("link", name="Talk").click()
    expect(page.locator(".slide-list .title")).to_have_count(len(TALK))  # the kept talk has come
    code = open_room(page)
    close_dialog(page)
    page.get_by_role("button", name="Present").first.click()
    see_title(page, "A head")
    count = page.locator(".room .count")
    expect(count).to_have_text("0 of 0 phones have guessed")
    first, second, late = (phones(f"{server}/room/{code.lower()}") for _ in range(3))
    expect(first.locator(".sentence")).to_have_text(SENTENCE)
    names = options(first).locator("span:first-child").all_text_contents()
    options(first).nth(1).click()
    options(second).nth(1).click()
    options(second).nth(2).click()
    expect(options(second).nth(2)).to_have_attribute("aria-pressed", "true")
    expect(count).to_have_text("2 of 3 phones have guessed")
    first.reload()
    expect(options(first).nth(1)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".room .bars")).to_be_hidden()
    expect_fitted(page, [])
    page.get_by_title("Enlarge the code").click()
    expect(page.locator(".room dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".room dialog")).to_be_hidden()
    see_title(page, "A head")
    page.keyboard.press("g")
    bars = page.locator(".room .guessed")
    expect(bars).to_have_text([f"{names[1]}1", f"{names[2]}1"])
    expect(options(late).first).to_be_disabled()
    expect(options(late).nth(2)).to_have_text(f"{names[2]}1")
    page.keyboard.press("a")
    expect(page.locator(".heatmap canvas.map")).to_be_visible()
    row = translator.trace(SENTENCE).weights("encoder")[4][5][0]
    right = names[int(row.argmax())]
    expect(page.locator(".room .right .option")).to_have_text(f"{right} ✓")
    expect(late.locator(".said")).to_have_text(re.compile("guesses are closed|^It is "))
    expect_fitted(page, ["heatmap"])
    with page.expect_download() as download:
        page.locator(".room").get_by_role("button", name="CSV").click()
    assert download.value.suggested_filename == f"room {code} question 1.csv"
    download.value.save_as(tmp_path / "room.csv")
    with open(tmp_path / "room.csv", encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["option"] for row in rows] == names
    assert [int(row["guesses"]) for row in rows][1:3] == [1, 1]
    assert [row["option"] for row in rows if row["right"] == "1"] == [right]
    page.keyboard.press("ArrowRight")
    see_title(page, "All heads")
    expect(late.locator("h1")).to_have_text(re.compile("^Which head matters most"))
    expect(late.locator("h2")).to_have_text([label for label, _ in TABLES])
    expect(late.locator(".layer")).to_have_count(sum(layers for _, layers in TABLES))
    for phone, name in (
        (first, "Encoder, layer 5, head 8"),
        (late, "Decoder, masked, layer 1, head 2"),
    ):
        phone.get_by_role("button", name=name).click()
    expect(late.get_by_role("status")).to_be_in_viewport()
    expect(count).to_have_text("2 of 3 phones have guessed")
    page.keyboard.press("g")
    expect(bars).to_have_text(["Encoder, layer 5, head 81", "Decoder, masked, layer 1, head 21"])
    for option in bars.locator(".option").all():
        assert option.evaluate("node => node.scrollWidth <= node.clientWidth")
    page.keyboard.press("ArrowRight")
    see_title(page, "The end")
    expect(late.locator("h1")).to_have_text("Wait for the next question.")
    assert page.errors == []


def test_a_room_is_asked_the_question_of_a_slide_and_its_guesses_stay(page, server, phones):
    with_talk(page, server, TALK[2:], "")
    page.get_by_role("link", name="Talk").click()
    expect(page.locator(".slide-list .title")).to_have_count(3)  # the kept talk has come
    code = open_room(page)
    close_dialog(page)
    page.get_by_role("button", name="Present").first.click()
    see_title(page, "The end")
    phone = phones(f"{server}/room/{code}")
    expect(phone.locator("h1")).to_have_text("Wait for the next question.")
    page.keyboard.press("ArrowRight")
    see_title(page, "<i>Why?")
    listed = page.locator(".slide .question")
    expect(listed.locator("p")).to_have_text("Is $x$ *it*?")
    expect(listed.locator("li")).to_have_text(["<b>yes", "no", "both"])
    expect(phone.locator("h1")).to_have_text("Is $x$ *it*?")
    options(phone).first.click()
    count = page.locator(".room .count")
    expect(count).to_have_text("1 of 1 phone has guessed")
    expect_fitted(page, [])
    page.keyboard.press("ArrowRight")
    see_title(page, "Both")
    expect(phone.locator("h1")).to_have_text("Dog or meat?")
    expect(count).to_have_text("0 of 1 phone has guessed")
    expect(page.locator(".room")).to_have_count(1)
    page.keyboard.press("a")
    expect_fitted(page, ["heatmap"])
    expect(options(phone).first).to_be_enabled()  # the answer is to the question of Guess first
    page.keyboard.press("ArrowLeft")
    see_title(page, "<i>Why?")
    expect(options(phone).first).to_have_attribute("aria-pressed", "true")
    expect(count).to_have_text("1 of 1 phone has guessed")
    page.keyboard.press("g")
    expect(page.locator(".room .guessed")).to_have_text(["<b>yes1", "no0", "both0"])
    expect_fitted(page, [])
    assert page.errors == []


def test_a_question_of_ones_own_is_asked_on_any_page_until_the_room_is_closed(page, server, phones):
    page.goto(f"{server}/positions")
    code = open_room(page)
    phone = phones(f"{server}/room/{code}")
    expect(phone.locator("h1")).to_have_text("Wait for the next question.")
    page.get_by_label("Question").fill("Is $x$ *text*?")
    page.get_by_label("Answers, one a line").fill("yes\n<i>no</i>")
    page.get_by_role("button", name="Ask this").click()
    expect(page.locator(".room .asks")).to_have_text("Is $x$ *text*?")
    expect(phone.locator("h1")).to_have_text("Is $x$ *text*?")
    options(phone).nth(1).click()
    expect(page.locator(".room .count")).to_have_text("1 of 1 phone has guessed")
    page.get_by_role("button", name="Show the guesses").click()
    expect(page.locator(".room .guessed")).to_have_text(["<i>no</i>1", "yes0"])
    page.reload()
    page.get_by_role("button", name="Room", exact=True).click()
    page.get_by_role("button", name=f"Return to room {code}").click()
    page.get_by_role("button", name="Close the room").click()
    expect(phone.locator(".said")).to_contain_text("There is no room with this code")
    assert CHANGED not in phone.content()


def test_a_phone_needs_no_token_and_gets_nothing_else(page, phones, closed):
    page.goto(f"{closed}/?token=correct+horse%2Bbattery&guess=on")
    code = open_room(page)
    close_dialog(page)
    phone = phones(f"{closed}/room")
    phone.get_by_label("The code on the screen").fill(code.lower())
    phone.get_by_role("button", name="Enter the room").click()
    expect(options(phone).first).to_be_visible()
    options(phone).first.click()
    expect(page.locator(".room .count")).to_have_text("1 of 1 phone has guessed")
    phone.goto(closed)
    expect(phone.get_by_label("Token")).to_be_visible()
