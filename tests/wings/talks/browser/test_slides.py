"""What a slide shows: pictures that fill the stage, a footer, words, and no hints."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from headlight.pages.shared.show.pictures import css_class
from headlight.wings.talks.slides import Slide
from tests.browser.heatmaps import READING, point_of
from tests.browser.rest import box_at_rest, tended
from tests.matrix import first_of
from tests.wings.talks.browser.talks import (
    FITTED,
    SMALLEST,
    expect_fitted,
    see_title,
    size_fitted,
    with_talk,
)

HERO = "The animal didn't cross the street because it was too tired."
LONG = "The old man who lives near the river sold his small boat to a young doctor last week."
MAP = Slide("attention", {"sentence": LONG, "kind": "cross"}, "Map", "Words.", ("heatmap",))
MASK = Slide("masks", {"sentence": LONG}, "Mask", "Words.", ("matrix",))
PLAYER = Slide("decoding", {"sentence": HERO}, "Steps", "Words.", ("player",))
BOTH = Slide("attention", {"sentence": HERO}, "Both", "Words.", ("target-tokens", "heatmap"))
TREE = Slide(
    "decoding",
    {"sentence": "You seem busy.", "strategy": "beam", "beam_size": "3"},
    "Tree",
    "Words.",
    ("tree",),
)
MAPS = Slide("compare", {}, "Two maps", "", ("maps",))
TALK = (MAP, MASK, PLAYER, BOTH, TREE, MAPS)
# Pixels of tokens: of 23 rows, or next to a strip.
LEAST = {"Map": 18, "Mask": 18, "Both": 19, "Two maps": 18}
# The pictures of the page Cause, by their tab.
CAUSE = {
    "wrote": ("wrote-parts", "wrote-heads", "wrote-keys"),
    "estimate": ("estimate-heads", "estimate-map", "estimate-cells"),
    "patching": ("patch-heads", "patch-tokens"),
}
PAIR = {
    "sentence": "The old man bought a red car.",
    "patch_text": "The old man bought a blue car.",
    "kind": "cross",
    "layer": "3",
    "head": "4",
}
WORDS = Slide(title="Attention, seen", words="A **bold** and\nan *odd* <b>line</b> of 2 * 3 * 4")


@pytest.mark.parametrize("slide", TALK, ids=lambda slide: slide.title)
def test_pictures_fill_the_stage_and_are_readable_at_any_size(page, server, slide):
    page.set_viewport_size({"width": 1920, "height": 1080})
    with_talk(page, server, [slide], "?talk=1")
    see_title(page, slide.title)
    for width, height in ((1920, 1080), (1024, 768), (1280, 720)):
        page.set_viewport_size({"width": width, "height": height})
        expect_fitted(page, slide.pictures, smallest=LEAST.get(slide.title, SMALLEST))


@pytest.mark.parametrize(
    ("tab", "picture"), first_of((tab, picture) for tab in CAUSE for picture in CAUSE[tab])
)
def test_pictures_of_the_page_cause_are_whole(page, server, tab, picture):
    slide = Slide("cause", PAIR | {"cause_tab": tab}, "Cause", "Words.", (picture,))
    with_talk(page, server, [slide], "?talk=1")
    see_title(page, "Cause")
    expect_fitted(page, [picture])
    expect(page.locator(css_class(picture))).to_be_visible()


def test_no_frame_surrounds_a_slide_after_a_click_and_a_key(page, server):
    with_talk(page, server, [WORDS], "?talk=1")
    see_title(page, WORDS.title)
    page.mouse.click(640, 100)
    page.keyboard.press("z")
    main = page.locator(".stMain:focus-visible")
    main.wait_for()
    assert main.evaluate("main => getComputedStyle(main, '::before').boxShadow") == "none"


@pytest.mark.matrix
def test_what_appears_under_a_resting_pointer_is_not_pointed_at(page, server):
    parameters = {"sentence": HERO, "kind": "encoder", "head": "2", "picture": "lines", "lit": "q8"}
    lines = Slide("attention", parameters, "Lines", "Words.", ("lines",))
    with_talk(page, server, [lines, WORDS], "?talk=1")
    see_title(page, "Lines")
    expect_fitted(page, lines.pictures)
    weights = page.locator(".attention-lines .token.key .weight")
    lit = weights.all_text_contents()
    assert all(lit)
    page.locator(".attention-lines .token.query").first.hover()
    expect(weights.first).not_to_have_text(lit[0])
    page.keyboard.press("ArrowRight")
    see_title(page, WORDS.title)
    page.keyboard.press("ArrowLeft")
    see_title(page, "Lines")
    expect_fitted(page, lines.pictures)
    expect(weights).to_have_text(lit)


def test_no_token_of_lines_is_cut_next_to_other_pictures(page, server):
    scene = {"kind": "encoder", "layer": "2", "head": "2", "picture": "lines"}
    with_talk(page, server, [Slide("attention", scene, "Both", "", ("lines", "grid"))], "?talk=1")
    see_title(page, "Both")
    expect_fitted(page, ["lines", "grid"])
    cut = "tokens => tokens.filter((token) => token.scrollWidth > token.clientWidth).length"
    tokens = page.locator(".attention-lines .token, .attention-lines .token > *")
    assert tokens.evaluate_all(cut) == 0


@pytest.mark.matrix
def test_texts_before_and_after_begin_at_the_same_height(page, server):
    pictures = ("trained", "changed")
    slide = Slide("heads", {"edits": "gate.cross.1.4.0"}, "Both", "", pictures)
    with_talk(page, server, [slide], "?talk=1")
    see_title(page, "Both")
    expect_fitted(page, pictures)
    boxes = [box_at_rest(page.locator(css_class(key))) for key in pictures]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["height"] != boxes[1]["height"]


@pytest.mark.matrix
def test_a_size_below_1_is_a_share_of_what_fits(page, server):
    halved = Slide("decoding", PLAYER.parameters, "Half", "Words.", ("player",), size=0.5)
    with_talk(page, server, [PLAYER, halved], "?talk=1")
    zooms = []
    for slide in (PLAYER, halved):
        see_title(page, slide.title)
        zooms.append(size_fitted(page, "player"))
        page.keyboard.press("PageDown")
    assert zooms[1] == pytest.approx(zooms[0] / 2, rel=0.02)


@pytest.mark.matrix
def test_a_player_stays_whole_while_it_plays(page, server):
    with_talk(page, server, [PLAYER], "?talk=1")
    see_title(page, "Steps")
    expect_fitted(page, PLAYER.pictures)
    for _ in range(10):
        page.keyboard.press("n")
    expect(page.locator(".decoding-player .counter")).to_contain_text("step 11")
    expect_fitted(page, PLAYER.pictures, smallest=18)


@pytest.mark.matrix
def test_the_footer_is_data_and_there_are_no_hints(page, server):
    hostile = "<img src=x onerror=window.hit=1> **We** sing."
    scene = {"sentence": hostile, "layer": "1", "head": "4", "edits": "gate.cross.2.5.0"}
    slide = Slide("attention", scene, "Map", "", ("heatmap",))
    with_talk(page, server, [slide, PLAYER, TREE], "?talk=1")
    footer = page.locator(".st-key-slide-footer")
    expect(footer).to_contain_text(f"“{hostile}”")
    expect(footer).to_contain_text("layer 1, head 4")
    expect(footer).to_contain_text("Changed: Cross-attention, layer 2, head 5 off")
    assert page.evaluate("window.hit ?? null") is None
    heatmap = page.locator(css_class("heatmap"))
    page.wait_for_function(FITTED)
    reading = heatmap.locator(".reading")
    expect(reading).to_be_hidden()
    page.mouse.click(*point_of(heatmap, 2, 1))
    expect(reading).to_be_visible()
    expect(reading).to_have_text(READING)
    page.keyboard.press("PageDown")
    see_title(page, "Steps")
    expect(page.locator(".decoding-player .hint")).to_be_hidden()
    page.keyboard.press("PageDown")
    see_title(page, "Tree")
    number = page.locator(".beam-tree .leaf.best .number").first
    expect(number).to_have_text(re.compile(r"^\u2212\d\.\d\d$"))


def test_a_slide_of_words_alone_is_large_and_reads_two_marks(page, server):
    marked = replace(WORDS, title="Attention, *seen* <b>here</b>")
    with_talk(page, server, [marked, MAP], "?talk=1")
    see_title(page, "Attention, seen <b>here</b>")
    assert page.locator(".slide h1 em").all_text_contents() == ["seen"]
    words = page.locator(".slide .words")
    expect(words).to_have_text("A bold and\nan odd <b>line</b> of 2 * 3 * 4")
    assert words.locator("strong").all_text_contents() == ["bold"]
    assert words.locator("em").all_text_contents() == ["odd"]
    assert words.locator("b").count() == 0
    box = page.locator(".slide .alone").bounding_box()
    title = page.locator(".slide h1")
    assert title.evaluate("node => parseFloat(getComputedStyle(node).fontSize)") > 60
    assert box["height"] > 600
    expect(words).to_have_css("text-align", "center")
    page.keyboard.press("Space")
    see_title(page, "Map")


def test_present_asks_for_full_screen_and_a_refusal_is_silent(page, server):
    page.add_init_script(
        "window.asked = 0; Element.prototype.requestFullscreen = function () {"
        " window.asked += navigator.userActivation.isActive ? 1 : 100;"
        " return Promise.reject(new TypeError('denied')); };"
    )
    with_talk(page, server, [WORDS], "masks")
    tended(page)
    page.get_by_role("button", name="Present", exact=True).click()
    see_title(page, WORDS.title)
    page.wait_for_function("window.asked === 1")
    page.keyboard.press("f")
    page.wait_for_function("window.asked === 2")
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    expect(sheet).to_contain_text("leave the talk; where Esc is the browser's own key")
    page.keyboard.press("?")
    expect(sheet).to_be_hidden()
    page.keyboard.press("?")
    expect(sheet).to_be_visible()
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    expect(page.locator(".slide h1")).to_be_visible()
    assert not any("404" not in error for error in page.errors)


@pytest.mark.matrix
def test_on_a_phone_slides_scroll_and_nothing_overlaps(page, server):
    page.set_viewport_size({"width": 390, "height": 844})
    with_talk(page, server, [BOTH], "?talk=1")
    see_title(page, "Both")
    words = box_at_rest(page.locator(".slide .page"))
    strip = box_at_rest(page.locator(css_class("target-tokens")))
    heatmap = box_at_rest(page.locator(css_class("heatmap")))
    footer = box_at_rest(page.locator(".st-key-slide-footer"))
    boxes = [words, strip, heatmap, footer]
    for above, below in pairwise(boxes):
        assert above["y"] + above["height"] <= below["y"] + 1
    footer = page.locator(".st-key-slide-footer")
    footer.scroll_into_view_if_needed()
    page.locator("[data-testid=stMain]").evaluate("node => node.scrollTo(0, node.scrollHeight)")
    turn = page.locator(".slide .turn").bounding_box()
    last = footer.bounding_box()
    assert last["y"] + last["height"] <= turn["y"] + 1
