"""Presenting a talk, and the link of a scene; for the page Talk see test_talk_page.py."""

import re

import pytest
from playwright.sync_api import expect

import headlight.pages.parts.pages  # noqa: F401, what slides are of
from headlight.pages.shared.show.pictures import css_class
from headlight.pages.shared.state.choices import SENTENCE
from headlight.wings.talks.slides import Slide
from headlight.wings.talks.talk import shipped
from tests.browser.boxes import box, choose_in
from tests.browser.heatmaps import READING, point_of
from tests.browser.held import Held
from tests.browser.rest import RUNNING, box_at_rest, settled
from tests.matrix import first_of
from tests.wings.talks.browser.talks import FITTED, SCALE, expect_fitted, with_talk

TALK = shipped()
SHARP = """canvas => {
  const shown = canvas.getBoundingClientRect().width * devicePixelRatio;
  return Math.abs(canvas.width - shown) <= 2;
}"""


def open_slide(page, server, number):
    page.goto(f"{server}/?talk={number}")
    see(page, number)


def see(page, number):
    """Wait for a slide with all its pictures."""
    slide = TALK[number - 1]
    expect(page.locator(".slide h1")).to_have_text(slide.title)
    for key in slide.pictures:
        expect(page.locator(css_class(key)).locator("visible=true").first).to_be_visible()
    page.wait_for_function("() => !document.querySelector('[data-stale=true]')")


MAPS = (
    Slide("attention", {"layer": "1", "head": "2"}, "A map", pictures=("heatmap",)),
    Slide("decoding", {}, "Steps", pictures=("player",)),
    Slide("attention", {}, "All heads", pictures=("grid",)),
)


def see_own(page, number):
    """Wait for a slide of the visitor's own, with its picture."""
    expect(page.locator(".slide h1")).to_have_text(MAPS[number - 1].title)
    (key,) = MAPS[number - 1].pictures
    expect(page.locator(css_class(key)).locator("visible=true").first).to_be_visible()
    page.wait_for_function("() => !document.querySelector('[data-stale=true]')")


def test_every_slide_of_the_ready_talk_fits_the_screen_and_is_readable(page, server):
    open_slide(page, server, 1)
    for number, slide in enumerate(TALK, start=1):
        see(page, number)
        settled(page)
        expect_fitted(page, slide.pictures)
        for key in slide.pictures:
            for canvas in page.locator(css_class(key)).locator("canvas:visible").all():
                page.wait_for_function(SHARP, arg=canvas.element_handle())  # a frame later
        page.keyboard.press("ArrowRight")


def test_keys_go_through_the_slides_and_back_stays_in_the_talk(page, server):
    open_slide(page, server, 1)
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    for key, number in (
        ("ArrowRight", 2), ("PageDown", 3), ("Space", 4), ("PageUp", 3), ("ArrowLeft", 2),
        ("End", len(TALK)), ("ArrowRight", len(TALK)), ("Home", 1),
    ):  # fmt: skip
        page.keyboard.press(key)
        see(page, number)
        expect(page).to_have_url(re.compile(rf"talk={number}$"))
    page.get_by_role("button", name="Next slide").click()
    see(page, 2)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")  # on the same page
    see(page, 4)
    settled(page)
    expect(page.get_by_label("English sentence")).to_be_hidden()
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    page.keyboard.press("PageUp")
    see(page, 3)  # a slide that was only passed by may leave no entry
    page.keyboard.press("PageUp")
    see(page, 2)
    page.go_back()
    see(page, 3)
    page.go_forward()
    see(page, 2)
    page.reload()
    see(page, 2)
    assert page.errors == [] or all("404" in error for error in page.errors)


def test_quick_presses_are_all_counted(page, server):
    open_slide(page, server, 1)
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    see(page, 6)


def test_arrows_back_and_forth_end_where_they_lead(page, server):
    open_slide(page, server, 3)
    for key in ("Right", "Left", "Right", "Right", "Left", "Right", "Left"):
        page.keyboard.press(f"Arrow{key}")  # the slide in between may come late
    see(page, 4)
    expect(page.locator(".slide .counter")).to_have_text(f"4 / {len(TALK)}")


def test_the_address_is_that_of_the_slide_however_late_it_comes(page, server):
    held = Held(page)
    open_slide(page, server, 3)
    settled(page)
    held.is_late = True
    for runs, key in enumerate(("ArrowRight", "ArrowLeft"), start=1):
        page.keyboard.press(key)
        held.runs(runs)
    held.release()
    see(page, 3)
    expect(page).to_have_url(re.compile("talk=3"))
    expect(page.locator(".slide .counter")).to_have_text(f"3 / {len(TALK)}")


@pytest.mark.matrix
def test_escape_after_quick_presses_leaves_the_talk(page, server):
    open_slide(page, server, 4)
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    expect(page.locator(".slide")).to_have_count(0)
    settled(page)
    expect(page.locator(".slide")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("talk="))


def test_the_screen_goes_black_and_comes_back(page, server):
    open_slide(page, server, 2)
    black = page.locator(".slide .black")
    for key in ("b", "."):
        page.keyboard.press(key)
        expect(black).to_be_visible()
        box = black.bounding_box()
        assert (box["x"], box["y"]) == (0, 0)
        assert box["width"] >= 1280
        assert box["height"] >= 720
        page.keyboard.press(key)
        expect(black).to_be_hidden()


def test_leaving_keeps_the_scene_and_keys_write_into_boxes_again(page, server):
    open_slide(page, server, 9)
    page.keyboard.press("Escape")
    box = page.get_by_label("English sentence")
    expect(box).to_have_value(TALK[8].parameters["sentence"])
    expect(page).to_have_url(re.compile("head=4"))
    settled(page)  # until then the box of the slide is next to the new one
    box.press("End")
    box.press("ArrowLeft")
    box.type("b.")
    expect(box).to_have_value(TALK[8].parameters["sentence"][:-1] + "b..")


@pytest.mark.matrix
def test_a_click_in_a_map_on_a_slide_reads_its_cell_and_leaves_the_keys_to_the_talk(page, server):
    with_talk(page, server, MAPS, "masks?sentence=We+sing.")
    page.get_by_label("English sentence").wait_for()
    page.wait_for_url("**/masks?v=2&*")  # the address is written after the page
    begun = page.url
    page.get_by_role("button", name="Present", exact=True).click()
    see_own(page, 1)
    heatmap = page.locator(css_class("heatmap"))
    reading = heatmap.locator(".reading")
    page.mouse.click(*point_of(heatmap, 2, 1))
    expect(reading).to_have_text(READING)
    page.keyboard.press("ArrowRight")
    see_own(page, 2)
    page.locator(".decoding-player .transport .slider").click()
    page.keyboard.press("ArrowRight")
    see_own(page, 3)
    page.get_by_role("button", name=re.compile("^layer 1, head 2:")).click()
    page.keyboard.press("ArrowLeft")
    see_own(page, 2)
    page.keyboard.press("PageUp")
    see_own(page, 1)
    page.wait_for_function(f"!({RUNNING})")
    page.keyboard.press("Escape")
    expect(page).to_have_url(begun)
    expect(page.get_by_label("English sentence").last).to_have_value("We sing.")


@pytest.mark.matrix
def test_a_tap_in_a_map_on_a_slide_reads_its_cell(browser, server):
    context = browser.new_context(viewport={"width": 1280, "height": 720}, has_touch=True)
    page = context.new_page()
    with_talk(page, server, MAPS, "?talk=1")
    see_own(page, 1)
    heatmap = page.locator(css_class("heatmap"))
    expect(heatmap.locator(".reading")).to_be_hidden()  # a hint
    page.touchscreen.tap(*point_of(heatmap, 2, 1))
    expect(heatmap.locator(".reading")).to_have_text(READING)
    expect(page.locator(".slide h1")).to_have_text("A map")
    context.close()


@pytest.mark.matrix
def test_escape_shows_all_of_a_map_before_it_leaves_the_talk(page, server):
    with_talk(page, server, MAPS, "?talk=1")
    see_own(page, 1)
    heatmap = page.locator(css_class("heatmap"))
    page.mouse.move(*point_of(heatmap, 1, 1))
    page.mouse.down()
    page.mouse.move(*point_of(heatmap, 3, 3))
    page.mouse.up()
    whole = heatmap.get_by_role("button", name="Show all")
    expect(whole).to_be_visible()
    page.keyboard.press("Escape")
    expect(whole).to_be_hidden()
    expect(page.locator(".slide")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stSidebar")).to_be_visible()


@pytest.mark.matrix
def test_space_plays_what_a_slide_has_to_play_and_n_and_p_step_it(page, server):
    with_talk(page, server, MAPS, "?talk=1")
    see_own(page, 1)
    page.keyboard.press("Space")  # nothing to play here
    see_own(page, 2)
    step = page.locator(".decoding-player .transport .slider")
    for key, value in (("n", "1"), ("n", "2"), ("p", "1")):
        page.keyboard.press(key)
        expect(step).to_have_value(value)
    page.locator(".decoding-player").get_by_role("button", name="Step forward").click()
    page.locator(".decoding-player").get_by_label("Speed").select_option("0.5")
    page.keyboard.press("Space")  # not what the clicked button does
    expect(page.locator(".decoding-player").get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press("Space")
    expect(page.locator(".decoding-player").get_by_role("button", name="Play")).to_be_visible()
    expect(page.locator(".slide h1")).to_have_text("Steps")
    step.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")  # a slider that was reached by keys keeps its own
    before = int(step.input_value())
    page.keyboard.press("ArrowLeft")
    expect(step).to_have_value(str(before - 1))
    page.keyboard.press("PageDown")
    see_own(page, 3)


@pytest.mark.matrix
def test_pictures_stay_alive_on_a_slide(page, server):
    number = 1 + next(place for place, slide in enumerate(TALK) if "player" in slide.pictures)
    open_slide(page, server, number)
    page.locator(".decoding-player").get_by_label("Speed").select_option("8")
    page.locator(".decoding-player").get_by_role("button", name="Play").click()
    expect(page.locator(".decoding-player .text")).to_contain_text("The end token")
    page.keyboard.press("PageUp")
    see(page, number - 1)
    grid = 1 + next(place for place, slide in enumerate(TALK) if "grid" in slide.pictures)
    open_slide(page, server, grid)
    page.get_by_role("button", name=re.compile("^layer 1, head 2:")).click()
    chosen = page.locator(".head-grid .map[aria-pressed=true]")
    expect(chosen).to_have_attribute("aria-label", re.compile("^layer 1, head 2:"))
    expect(page.locator(".slide h1")).to_have_text(TALK[grid - 1].title)


@pytest.mark.matrix
def test_the_pointer_finds_its_cell_on_an_enlarged_mask(page, server):
    number = 1 + next(place for place, slide in enumerate(TALK) if "matrix" in slide.pictures)
    open_slide(page, server, number)
    page.wait_for_function(FITTED)
    canvas = page.locator(f"{css_class('matrix')} canvas")
    left, top, side = canvas.evaluate(
        f"node => ['left', 'top', 'side'].map((name) => node.dataset[name] * {SCALE}(node))"
    )
    box = box_at_rest(canvas)
    page.mouse.move(box["x"] + left + side * 1.5, box["y"] + top + side * 2.5)
    reading = page.locator(f"{css_class('matrix')} .reading")
    expect(reading).to_have_text("“chien → voit” looking at “Le”: visible")


@pytest.mark.matrix
@pytest.mark.parametrize("scheme", first_of(["light", "dark"]))
def test_the_copied_link_restores_the_scene_elsewhere(page, browser, server, scheme):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{server}/?sentence=We sing.&head=3&embed_options=dark_theme")
    choose_in(page, "Head", "5")
    expect(page).to_have_url(re.compile("head=5"))
    page.get_by_role("button", name="Copy link").click()
    page.get_by_role("button", name="Copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    assert ("embed_options=dark_theme" in link) == (scheme == "light")
    other = browser.new_context(color_scheme="light").new_page()
    other.goto(link)
    expect(other.get_by_label("English sentence")).to_have_value("We sing.")
    expect(box(other, "Head")).to_have_value("5")
    other.context.close()


@pytest.mark.matrix
def test_a_link_can_be_copied_by_hand_without_permission(page, server):
    page.add_init_script(
        "navigator.clipboard.writeText = () => Promise.reject(new Error('denied'))"
    )
    page.goto(f"{server}/?head=3")
    page.get_by_role("button", name="Copy link").click()
    box = page.get_by_label("The link")
    expect(box).to_have_value(re.compile(r"head=3"))
    assert box.evaluate("box => box.selectionEnd - box.selectionStart === box.value.length")


def test_a_slide_opens_its_scene_live_and_comes_back_by_the_same_key(page, server):
    with_talk(page, server, MAPS, "masks?sentence=We+sing.")
    page.get_by_role("button", name="Present", exact=True).click()
    see_own(page, 1)
    page.keyboard.press("x")
    box = page.get_by_label("English sentence")
    expect(page.get_by_role("heading", name="Attention", exact=True)).to_be_visible()
    back = page.get_by_role("button", name="Back to slide 1")
    expect(back).to_be_visible()
    settled(page)
    box.fill("They go.x")
    box.press("x")  # is typed
    expect(box).to_have_value("They go.xx")
    box.press("Enter")
    expect(page).to_have_url(re.compile("They"))
    box.blur()
    settled(page)
    page.keyboard.press("x")
    see_own(page, 1)
    expect(page).to_have_url(re.compile("talk=1"))
    page.get_by_role("button", name="Open this scene live").click()
    expect(box).to_have_value(SENTENCE.default)  # what was changed is gone
    back.click()
    see_own(page, 1)
    settled(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="Masks", exact=True)).to_be_visible()
    expect(box).to_have_value("We sing.")
