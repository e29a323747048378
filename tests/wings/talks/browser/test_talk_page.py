"""The Talk page: the list of slides, its small pictures, and how a talk is kept."""

import json
import re

import pytest
from playwright.sync_api import expect

import headlight.pages.parts.pages  # noqa: F401, what slides are of
from headlight.wings.talks.kept import KEPT
from headlight.wings.talks.page.boxes import REMOVED
from headlight.wings.talks.page.page import REMOVED as REMOVED_ALL
from headlight.wings.talks.slides import MOST_SLIDES, Slide, write_talk
from headlight.wings.talks.stage import THUMBNAILS, thumbnail_key
from headlight.wings.talks.talk import shipped
from tests.browser.boxes import choose_in
from tests.browser.rest import RUNNING, box_at_rest, settled, until
from tests.matrix import first_of
from tests.wings.talks.browser.talks import with_talk

TALK = shipped()
THREE = tuple(Slide("attention", title=name, pictures=("grid",)) for name in ("a", "b", "c"))


# Frames come late, so that a slide takes its time to be fitted. Of each image: whether its slide
# was still being fitted, and the widths of its texts as shares of those that their fonts have.
NOTE_TEXTS = """
const frame = requestAnimationFrame;
window.requestAnimationFrame = (act) => frame(() => setTimeout(act, 100));
window.noted = [];
const { serializeToString } = XMLSerializer.prototype;
XMLSerializer.prototype.serializeToString = function (svg) {
  const ruler = document.createElement("canvas").getContext("2d");
  const texts = [...svg.querySelectorAll("text")].map((text) => {
    ruler.font = text.style.font;
    return text.getAttribute("textLength") / ruler.measureText(text.lastChild.data).width;
  });
  noted.push({ fitting: "fitting" in document.documentElement.dataset, texts });
  return serializeToString.call(this, svg);
};
"""


def add(page, number):
    page.get_by_role("button", name="Add to talk").click()
    page.get_by_text(f"Added as slide {number}.").wait_for()


def titles(page):
    return page.locator(".slide-list .title")


def press(page, what, number):
    """Press a button of a slide in the list, by its number from 1."""
    page.get_by_role("button", name=f"{what}: slide {number}", exact=True).click()


def test_a_talk_is_made_presented_saved_loaded_and_kept(page, server):
    page.goto(f"{server}/?sentence=We sing.&head=3")
    add(page, 1)
    page.get_by_role("link", name="Decoding").click()
    page.locator(".decoding-player").wait_for()
    add(page, 2)
    page.get_by_role("link", name="Talk", exact=True).click()
    expect(titles(page)).to_have_count(2)
    first = titles(page).first.text_content()
    assert re.fullmatch("“.*” gives 0.... of its attention to “.*”", first)
    expect(titles(page).nth(1)).to_have_text(re.compile("^Decoding, "))
    titles(page).nth(1).click()
    page.get_by_text("Slide 2", exact=True).wait_for()
    title = page.get_by_label("Title", exact=True)
    title.fill("<i>How</i> it **is** *written*")
    title.press("Enter")
    expect(titles(page)).to_have_text([first, "<i>How</i> it is written"])
    press(page, "Move up", 2)
    expect(titles(page)).to_have_text(["<i>How</i> it is written", first])
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a file").click()
    saved = download.value.path().read_bytes()
    assert [slide["page"] for slide in json.loads(saved)["slides"]] == ["decoding", "attention"]
    page.get_by_role("button", name="Present", exact=True).last.click()
    expect(page.locator(".slide h1")).to_have_text("<i>How</i> it is written")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".slide h1")).to_have_text(first)
    page.reload()
    expect(page.locator(".slide .counter")).to_have_text("2 / 2")
    expect(page.locator(".slide h1")).to_have_text(first)
    page.goto(f"{server}/talk")
    page.get_by_role("button", name="Remove all slides").click()
    page.get_by_text("You have no slides of your own yet").wait_for()
    page.get_by_text("Load a talk from a file").click()
    file = {"name": "talk.json", "mimeType": "application/json", "buffer": saved}
    page.locator("input[type=file]").set_input_files(file)
    expect(titles(page)).to_have_text(["<i>How</i> it is written", first])


@pytest.mark.matrix
def test_a_talk_outlives_reloads_typed_addresses_and_tabs_without_the_page_talk(page, server):
    page.goto(f"{server}/?sentence=We sing.")
    add(page, 1)
    page.reload()
    add(page, 2)
    page.goto(f"{server}/masks")
    add(page, 3)
    other = page.context.new_page()
    other.goto(f"{server}/talk")
    expect(titles(other)).to_have_count(3)
    add(page, 4)
    expect(titles(other)).to_have_count(4)
    expect(titles(other).last).to_contain_text("Mask in force")
    press(other, "Remove", 1)
    expect(titles(other)).to_have_count(3)
    page.get_by_role("link", name="Talk", exact=True).click()
    expect(titles(page)).to_have_count(3)
    page.get_by_role("button", name="Remove all slides").click()
    page.get_by_text("You have no slides of your own yet").wait_for()
    expect(titles(other)).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(titles(page)).to_have_count(3)
    expect(titles(other)).to_have_count(3)
    page.reload()
    expect(titles(page)).to_have_count(3)


def test_what_is_being_typed_into_a_slide_outlives_a_reload(page, server):
    with_talk(page, server, THREE, "talk")
    expect(titles(page)).to_have_text(["a", "b", "c"])
    titles(page).nth(1).click()
    page.get_by_text("Slide 2", exact=True).wait_for()
    settled(page)
    page.get_by_role("textbox", name="Speaker notes").press_sequentially("Say this.")
    page.reload()
    expect(titles(page)).to_have_text(["a", "b", "c"])
    titles(page).nth(1).click()
    expect(page.get_by_role("textbox", name="Speaker notes")).to_have_value("Say this.")


@pytest.mark.matrix
def test_what_the_browser_kept_is_data(page, server):
    hostile = "<img src=x onerror=window.hit=1>"
    slide = Slide("attention", {"sentence": hostile}, hostile, hostile, ("grid",))
    page.goto(f"{server}/_stcore/health")
    pictures = json.dumps({thumbnail_key(slide): "javascript:window.hit=1", "x": 7})
    page.evaluate("kept => localStorage.setItem(...kept)", [THUMBNAILS, pictures])
    with_talk(page, server, [slide], "talk")
    expect(titles(page)).to_have_text([hostile])
    expect(page.locator(".slide-list .name")).to_have_text("all heads")
    press(page, "Present from here", 1)
    expect(page.locator(".slide h1")).to_have_text(hostile)
    for name in (KEPT, THUMBNAILS):
        page.evaluate("name => localStorage.setItem(name, '<script>window.hit=1</script>')", name)
    page.goto(f"{server}/talk")
    page.get_by_text("You have no slides of your own yet").wait_for()
    page.get_by_role("button", name="Edit a copy of the ready talk").click()
    expect(titles(page)).to_have_count(len(TALK))
    assert page.evaluate("window.hit ?? null") is None
    page.reload()
    expect(titles(page)).to_have_count(len(TALK))


@pytest.mark.matrix
def test_slides_are_moved_by_dragging_and_by_keys(page, server):
    with_talk(page, server, THREE, "talk")
    rows = page.locator(".slide-list li")
    expect(titles(page)).to_have_text(["a", "b", "c"])
    height = rows.nth(2).bounding_box()["height"]
    rows.nth(0).drag_to(rows.nth(2), target_position={"x": 60, "y": height - 6})
    expect(titles(page)).to_have_text(["b", "c", "a"])
    rows.nth(2).drag_to(rows.nth(1), target_position={"x": 60, "y": 6})
    expect(titles(page)).to_have_text(["b", "a", "c"])
    page.get_by_role("button", name="Open its scene, to change it: slide 3").focus()
    page.keyboard.press("Alt+ArrowUp")
    expect(titles(page)).to_have_text(["b", "c", "a"])
    page.keyboard.press("Alt+ArrowUp")  # the focus has gone with it
    expect(titles(page)).to_have_text(["c", "b", "a"])
    page.get_by_role("button", name="Undo").click()
    expect(titles(page)).to_have_text(["b", "c", "a"])


@pytest.mark.matrix
@pytest.mark.parametrize("box", first_of(["Title", "Words", "Speaker notes"]))
def test_the_click_that_ends_typing_in_a_box_is_not_lost(page, server, box):
    with_talk(page, server, THREE, "talk")
    press(page, "Edit “a”, Attention", 1)
    page.get_by_label(box, exact=True).fill("typed")
    page.get_by_role("button", name="Move down: slide 1", exact=True).hover()
    page.mouse.down()  # the box tells what was typed, and the list is drawn again
    kept = "name => localStorage.getItem(name).includes('typed')"
    page.wait_for_function(kept, arg=KEPT)
    page.wait_for_function(f"!({RUNNING})")
    page.mouse.up()
    named = "typed" if box == "Title" else "a"
    expect(titles(page)).to_have_text(["b", named, "c"])
    settled(page)  # the box may have been drawn anew, with the old one still there
    page.get_by_label(box, exact=True).fill("more")
    press(page, f"Edit “{named}”, Attention", 2)  # at once: the list knows the old slide only
    page.get_by_text("Slide 2", exact=True).wait_for()
    press(page, "Remove", 2)
    expect(titles(page)).to_have_text(["b", "c"])


@pytest.mark.matrix
def test_what_is_typed_quickly_into_all_boxes_of_a_slide_is_kept(page, server):
    with_talk(page, server, THREE, "talk")
    boxes = ("Title", "Words", "Speaker notes")
    for box in boxes:
        page.get_by_label(box, exact=True).fill(f"typed as {box}")
    press(page, "Edit “typed as Title”, Attention", 1)
    kept = "name => (localStorage.getItem(name).match(/typed as/g) ?? []).length === 3"
    page.wait_for_function(kept, arg=KEPT)
    page.wait_for_function(f"!({RUNNING})")
    for box in boxes:
        expect(page.get_by_label(box, exact=True)).to_have_value(f"typed as {box}")


@pytest.mark.matrix
def test_two_quick_presses_do_not_reach_another_slide(page, server):
    with_talk(page, server, THREE, "talk")
    remove = page.get_by_role("button", name="Remove: slide 1", exact=True)
    remove.evaluate("button => { button.click(); button.click(); }")
    expect(page.get_by_text(REMOVED.format(number=1))).to_be_visible()
    expect(titles(page)).to_have_text(["b", "c"])
    page.wait_for_function(f"!({RUNNING})")
    expect(titles(page)).to_have_text(["b", "c"])


@pytest.mark.matrix
def test_a_small_picture_is_taken_and_stays_in_the_browser_until_its_slide_is_gone(page, server):
    sent = []
    page.on("websocket", lambda opened: opened.on("framesent", lambda data: sent.append(data)))
    page.goto(f"{server}/?sentence=We sing.&head=3")
    add(page, 1)
    page.wait_for_function("name => localStorage.getItem(name)", arg=THUMBNAILS)
    page.goto(f"{server}/talk")
    image = page.locator(".slide-list img")
    expect(image).to_have_attribute("src", re.compile("^data:image/"))
    assert image.evaluate("image => image.complete && image.naturalWidth") == 320
    assert not any(b"data:image/" in bytes(frame) for frame in sent if isinstance(frame, bytes))
    with_talk(page, server, THREE, "?talk=2")
    stored = "([name, key]) => key in JSON.parse(localStorage.getItem(name) ?? '{}')"
    page.wait_for_function(stored, arg=[THUMBNAILS, thumbnail_key(THREE[1])])
    assert (
        page.evaluate("name => Object.keys(JSON.parse(localStorage[name])).length", THUMBNAILS) == 1
    )
    page.goto(f"{server}/talk")
    expect(image).to_have_count(3)  # all are of one scene
    page.get_by_role("button", name="Remove all slides").click()
    page.get_by_text("You have no slides of your own yet").wait_for()
    page.get_by_role("button", name="Undo").click()
    expect(image).to_have_count(3)


@pytest.mark.matrix
def test_a_small_picture_is_of_a_slide_that_is_fitted_and_has_letters_of_their_own_shape(
    page, server
):
    page.add_init_script(NOTE_TEXTS)
    slide = Slide("masks", {"sentence": "We sing."}, "Mask", "Words.", ("matrix", "changed"))
    with_talk(page, server, [slide], "?talk=1")
    stored = "([name, key]) => key in JSON.parse(localStorage.getItem(name) ?? '{}')"
    page.wait_for_function(stored, arg=[THUMBNAILS, thumbnail_key(slide)])
    assert not any(page.evaluate("noted.map((image) => image.fitting)"))
    shapes = page.evaluate("noted.flatMap((image) => image.texts)")
    assert shapes
    assert all(0.9 < shape < 1.1 for shape in shapes)


def test_a_slide_is_opened_changed_and_updated(page, server):
    slide = Slide("decoding", {"sentence": "I love my cat."}, "Steps", pictures=("player",))
    with_talk(page, server, [slide], "talk")
    press(page, "Open its scene, to change it", 1)
    page.locator(".decoding-player").wait_for()
    page.locator(".decoding-player").get_by_role("button", name="Step forward").click()
    expect(page).to_have_url(re.compile(r"step=2"))
    before = page.locator(".decoding-player .text").inner_text()
    page.locator(".bar").nth(1).click()
    expect(page).to_have_url(re.compile(r"branch=2"))
    expect(page.locator(".decoding-player .text")).not_to_have_text(before)
    text = page.locator(".decoding-player .text").inner_text()
    page.get_by_role("button", name="Update slide 1").click()
    page.get_by_text("Slide 1 shows this scene now.").wait_for()
    page.get_by_role("button", name="Present", exact=True).click()
    expect(page.locator(".slide")).to_be_visible()
    settled(page)  # the page's own player is gone
    expect(page.locator(".decoding-player .text")).to_have_text(text)
    expect(page.locator(".decoding-player .transport .counter")).to_have_text(
        re.compile("^step 2 of")
    )


def test_a_talk_is_saved_in_one_click_and_never_again_unasked(page, server):
    saved = []
    page.on("download", lambda download: saved.append(download.suggested_filename))
    with_talk(page, server, THREE[:2], "talk")
    page.get_by_role("button", name="Save as one HTML file").click()
    again = page.get_by_role("button", name="Download the HTML file again")
    until(page, lambda: len(saved) == 1)
    page.get_by_role("link", name="Masks", exact=True).click()
    page.get_by_role("button", name="Add to talk").wait_for()
    page.get_by_role("link", name="Talk", exact=True).click()  # the file is offered, not saved
    again.wait_for()
    other = page.context.new_page()
    other.on("download", lambda download: saved.append("of the other tab"))
    other.goto(f"{server}/talk")
    expect(titles(other)).to_have_count(2)
    settled(other)
    press(page, "Remove", 1)
    expect(again).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    again.wait_for()
    settled(page)
    again.click()
    until(page, lambda: len(saved) == 2)
    page.get_by_role("button", name="Save for PowerPoint").click()
    page.get_by_role("button", name="Download the PowerPoint file again").click()
    until(page, lambda: len(saved) == 4)
    page.get_by_role("button", name="Save as one HTML file").click()
    until(page, lambda: len(saved) == 5)
    settled(page)
    assert [name.rpartition(".")[2] for name in saved] == ["html", "html", "pptx", "pptx", "html"]
    assert not any("Client Error" in error for error in page.errors)


# What of the app lies below a message, at points a few pixels apart.
COVERED = """() => {
  const toast = document.querySelector(".stToast");
  const { left, top, right, bottom } = toast.getBoundingClientRect();
  const end = document.querySelector(".stMain").getBoundingClientRect().bottom;
  const covered = [];
  for (let x = left; x < right; x += 8)
    for (let y = top; y < bottom; y += 8)
      covered.push(...document.elementsFromPoint(x, y).filter((one) => one.closest(".stApp")));
  const isInside = top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
  return [isInside, covered.length === 0, end <= top];
}"""


def test_small_pictures_of_slides_are_there_without_presenting_them(page, server):
    page.goto(f"{server}/talk")
    page.get_by_text("Load a talk from a file").click()
    saved = write_talk((TALK[2], TALK[7])).encode()
    file = {"name": "a.json", "mimeType": "application/json", "buffer": saved}
    page.locator("input[type=file]").set_input_files(file)
    images = page.locator(".slide-list img")
    title = page.get_by_label("Title", exact=True)
    title.fill("typed meanwhile")
    expect(images).to_have_count(2)
    expect(title).to_be_focused()
    expect(title).to_have_value("typed meanwhile")

    def another(before):
        """The second slide has another small picture."""
        sources = images.evaluate_all("images => images.map((image) => image.src)")
        return len(sources) == 2 and sources[1] != before and sources[1]

    loaded = another("")
    kept = json.loads(page.evaluate("name => localStorage[name]", KEPT))["slides"]
    assert [slide["drawn"] for slide in kept] == [[], []]  # the frame changes nothing
    titles(page).nth(1).click()
    page.get_by_text("Slide 2", exact=True).wait_for()
    page.locator(".stMain label").filter(has_text="Guess first").click()
    asked = until(page, lambda: another(loaded))
    press(page, "Open its scene, to change it", 2)
    page.get_by_role("button", name="Update slide 2").wait_for()
    choose_in(page, "Head", "5")
    page.get_by_role("button", name="Update slide 2").click()
    page.get_by_text("Slide 2 shows this scene now.").wait_for()
    page.get_by_role("link", name="Talk", exact=True).click()
    assert until(page, lambda: another(asked)) != loaded
    expect(page.locator(".slide-list iframe")).to_have_count(0)


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_a_message_covers_nothing_and_moves_no_button(page, server, width, height):
    page.set_viewport_size({"width": width, "height": height})
    with_talk(page, server, THREE, "talk")
    expect(titles(page)).to_have_count(3)
    tour = page.get_by_role("button", name="Take the tour")
    before = box_at_rest(tour) if width > 640 else None
    page.get_by_role("button", name="Remove all slides").click()
    page.get_by_text(REMOVED_ALL).hover()  # so that it stays
    page.wait_for_function(f"({COVERED})().every(Boolean)")
    assert before is None or tour.bounding_box() == before


@pytest.mark.matrix
def test_sixty_slides_are_quick(page, server):
    slides = [Slide("attention", title=str(number)) for number in range(MOST_SLIDES)]
    with_talk(page, server, slides, "talk")
    expect(titles(page)).to_have_count(MOST_SLIDES)
    page.wait_for_function(f"!({RUNNING})")
    begun = page.evaluate("performance.now()")
    press(page, "Move down", 1)
    expect(titles(page).first).to_have_text("1")
    assert page.evaluate("performance.now()") - begun < 5_000  # on a machine that does much else


@pytest.mark.matrix
@pytest.mark.parametrize("begun", ["step", "branch"])
def test_the_step_and_the_branch_of_a_decoding_come_back_by_its_address(page, server, begun):
    page.goto(f"{server}/decoding?sentence=I+love+my+cat.")
    page.locator(".decoding-player").wait_for()
    if begun == "branch":
        box = page.get_by_label("Text to force at this step")
        box.fill("Mon")
        box.press("Enter")
        expect(page).to_have_url(re.compile(r"branch=1"))
        expect(page.locator(".decoding-player .text")).to_have_text("Mon")
    page.locator(".decoding-player").get_by_role("button", name="Step forward").click()
    page.locator(".decoding-player").get_by_role("button", name="Step forward").click()
    expect(page).to_have_url(re.compile(r"step=3"))
    expect(page.locator(".decoding-player .text")).not_to_have_text("")
    text = page.locator(".decoding-player .text").inner_text()
    page.reload()
    expect(page.locator(".decoding-player .text")).to_have_text(text)
    expect(page.locator(".decoding-player .transport .counter")).to_have_text(
        re.compile("^step 3 of")
    )
    page.locator(".decoding-player").get_by_role("button", name="Step back").click()
    expect(page).to_have_url(re.compile(r"step=2"))
    page.go_back()
    expect(page.locator(".decoding-player .transport .counter")).to_have_text(
        re.compile("^step 3 of")
    )
