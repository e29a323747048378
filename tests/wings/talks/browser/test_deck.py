"""A talk saved as one file through the app, and opened from the disk without a network."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

import headlight.pages.parts.pages  # noqa: F401, what slides are of
from headlight.wings.talks.slides import Slide
from headlight.wings.talks.talk import shipped
from tests.browser.translating import translate, translated
from tests.wings.talks.browser.talks import save_talk

pytestmark = pytest.mark.matrix
READY = shipped()
HOSTILE = "<img src=x onerror=alert(1)></script><b>"
MORE = (
    Slide(title=HOSTILE, words=HOSTILE, notes=f"{HOSTILE} notes"),
    Slide("positions", {"positions_tab": "sinusoids"}, "*Charts*", pictures=("curves", "table")),
    Slide("attention", {"model": "own-1"}, "Gone", pictures=("grid",)),
    Slide("attention", {"guess": "on", "head": "3"}, "Guess", pictures=("heatmap",)),
    Slide(
        "decoding",
        {"guess": "on", "strategy": "beam", "step": "5"},
        "Guess first",
        pictures=("tree", "player"),
    ),
)
TALK = (*READY, *MORE)
NUMBERS = {slide.title: number for number, slide in enumerate(TALK, start=1)}
GRID = NUMBERS["Many heads, each in its own way"]
LOST = NUMBERS["What if one head is missing?"]
PLAYER = NUMBERS["One token at a time"]
TREE = NUMBERS["Beam search keeps several texts"]
WATCH = """
window.violations = [];
addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective));
"""
ALL_DRAWN = "() => 'drawn' in document.documentElement.dataset"
# Which canvases of the shown slide have only one colour.
BLANK = """() => {
  const all = (root) => [...root.querySelectorAll("*")]
    .flatMap((node) => [node, ...(node.shadowRoot ? all(node.shadowRoot) : [])]);
  return all(document.querySelector(".frame.now"))
    .filter((node) => node.matches("canvas") && node.width && node.height && node.checkVisibility())
    .filter((node) => {
      const { data } = node.getContext("2d").getImageData(0, 0, node.width, node.height);
      return new Uint32Array(data.buffer).every((pixel, _, all) => pixel === all[0]);
    })
    .map((node) => node.className);
}"""

# Whether the pictures of a slide are as high as their room lets them be.
FILLS = """number => {
  const heightOf = (name) =>
    document.querySelector(`#slide-${number} ${name}`).getBoundingClientRect().height;
  const share = heightOf(".on") / heightOf(".middle");
  return share > 0.8 && share < 1.01;
}"""


@pytest.fixture(scope="module")
def saved(context, server, tmp_path_factory):
    """The file that the page Talk saves."""
    page = context.new_page()
    left_out = f"Slides {NUMBERS['Gone']} are incomplete"
    path = save_talk(page, server, TALK, "HTML", left_out, tmp_path_factory.mktemp("deck"))
    page.evaluate("localStorage.clear()")
    page.close()
    return path


@pytest.fixture
def deck(browser, saved):
    """The file in a browser of its own, which may load nothing else; what it asks for fails."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.set_offline(True)
    context.add_init_script(WATCH)
    asked = []

    def refuse(route):
        asked.append(route.request.url)
        route.abort()

    context.route(re.compile("^(?!file:)"), refuse)
    page = context.new_page()
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda told: told.type == "error" and page.errors.append(told.text))
    page.goto(saved.as_uri())
    page.wait_for_function(ALL_DRAWN)
    yield page
    assert page.evaluate("violations") == []
    assert asked == []
    assert page.errors == []
    context.close()


def go(page, number):
    page.evaluate("number => (location.hash = `#${number}`)", number)
    return at(page, number)


def at(page, number):
    """The slide with this number, once it is shown."""
    expect(page.locator(".turn .counter")).to_have_text(f"{number} / {len(TALK)}")
    frame = page.locator(f"#slide-{number}.now:not(.waiting)")
    frame.wait_for()
    return frame


def test_every_slide_is_drawn_and_fits_its_room(deck):
    for number, slide in enumerate(TALK, start=1):
        frame = at(deck, number)
        expect(frame.locator("h1")).to_have_text(slide.title.strip("*"))
        assert deck.evaluate(BLANK) == []
        pictures = frame.locator(".on")
        expect(pictures).to_have_count(0 if slide.title == "Gone" else len(slide.pictures))
        for picture in frame.locator(".on:visible").all():
            box = picture.bounding_box()
            assert box["width"] > 100
            assert box["height"] > 40
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 1281
            assert box["y"] + box["height"] <= 721
        deck.keyboard.press("PageDown")
    deck.keyboard.press("Home")
    at(deck, 1)


def test_on_a_phone_pictures_stand_above_the_footer(deck):
    deck.set_viewport_size({"width": 390, "height": 844})
    for number, slide in enumerate(TALK, start=1):
        if len(slide.pictures) > 1 and slide.title != "Gone":
            frame = go(deck, number)
            lowest = frame.locator(".on").last.bounding_box()
            footer = frame.locator(".footer").bounding_box()
            assert lowest["y"] + lowest["height"] <= footer["y"] + 1


def test_a_click_in_a_picture_leaves_the_keys_to_the_talk(deck):
    frame = go(deck, GRID)
    frame.get_by_role("button", name=re.compile("^layer 2, head 3: ")).click()
    expect(frame.locator(".panel h2")).to_have_text("Layer 2, head 3")
    expect(frame.locator(".panel canvas").first).to_be_visible()
    assert deck.evaluate(BLANK) == []
    deck.keyboard.press("PageDown")
    at(deck, GRID + 1)
    frame = go(deck, PLAYER)
    frame.locator(".transport .slider").click()
    deck.keyboard.press("ArrowLeft")
    at(deck, PLAYER - 1)
    frame = go(deck, TREE)
    frame.locator(".leaf").nth(3).click()
    expect(frame.locator(".leaf").nth(3)).to_have_attribute("aria-pressed", "true")
    deck.keyboard.press("PageUp")
    at(deck, PLAYER)


def test_a_file_without_the_model_says_how_to_have_it(deck):
    go(deck, LOST)
    deck.keyboard.press("x")
    expect(deck.get_by_role("status").last).to_contain_text("The model is not in this file.")


def test_a_map_of_something_else_marks_the_head_that_was_clicked(deck):
    frame = go(deck, NUMBERS["Where is the colour kept?"])
    head = frame.get_by_role("button", name=re.compile("^Encoder, layer 2, head 3:"))
    head.click()
    expect(head).to_have_attribute("aria-pressed", "true")
    expect(frame.locator(".panel")).to_be_hidden()


def test_a_film_is_played_stepped_and_stops_when_its_slide_is_left(deck):
    frame = go(deck, PLAYER)
    counter = frame.locator(".transport .counter")
    deck.keyboard.press("n")
    expect(counter).to_have_text("step 2 of 7")
    deck.keyboard.press("p")
    deck.keyboard.press(" ")
    expect(counter).to_have_text("step 3 of 7")
    frame.locator(".bar").nth(5).click()
    expect(deck.get_by_role("status").last).to_contain_text("This file only has what was computed")
    deck.keyboard.press("ArrowRight")
    at(deck, TREE)
    expect(deck.locator(f"#slide-{PLAYER} .transport .play")).to_have_attribute(
        "aria-label", "Play"
    )


def test_hostile_words_are_text(deck):
    number = NUMBERS[HOSTILE]
    frame = go(deck, number)
    expect(frame.locator("h1")).to_have_text(HOSTILE)
    expect(frame.locator(".words")).to_have_text(HOSTILE)
    with deck.context.expect_page() as opened:
        deck.keyboard.press("s")
    notes = opened.value
    expect(notes.locator(".notes")).to_have_text(f"{HOSTILE} notes")
    expect(notes.locator(".clock")).to_have_text(re.compile(r"^\d\d:\d\d$"))
    expect(notes.locator(".coming")).to_have_text(re.compile("^Next: Charts"))
    for page in (deck, notes):
        assert page.locator("img[src=x], b").count() == 0
        translate(page)
        assert translated(page) == []
    notes.keyboard.press("PageDown")
    at(deck, number + 1)
    expect(notes.locator("h1")).to_have_text("Charts")


def test_charts_are_still_pictures_and_what_is_missing_says_so(deck):
    frame = go(deck, NUMBERS["*Charts*"])
    for image in frame.locator(".on img").all():
        assert image.evaluate("image => image.naturalWidth") > 300
    frame = go(deck, NUMBERS["Gone"])
    expect(frame.locator(".missing")).to_contain_text("no longer available")


def test_a_picture_is_hidden_until_somebody_has_guessed(deck):
    frame = go(deck, NUMBERS["Guess"])
    picture, said = frame.locator(".heatmap"), frame.locator(".guess .said")
    expect(frame.locator(".guess .asks")).to_contain_text("look at most?")
    expect(picture).to_be_hidden()
    frame.locator(".guess .option").first.click()
    expect(said).to_contain_text("You guessed")
    expect(picture).to_be_visible()
    assert deck.evaluate(BLANK) == []
    deck.wait_for_function(FILLS, NUMBERS["Guess"])
    deck.keyboard.press("a")
    expect(picture).to_be_hidden()
    deck.keyboard.press("a")
    expect(said).to_contain_text("looks most at")


def test_another_picture_waits_with_the_one_that_is_asked_about(deck):
    frame = go(deck, NUMBERS["Guess first"])
    tree = frame.locator("[data-part=beam_tree]")
    player = frame.get_by_text("The likeliest next tokens")
    expect(frame.locator(".guess .asks")).to_contain_text("likeliest?")
    expect(tree).to_be_hidden()
    expect(player).to_be_hidden()
    frame.locator(".guess .option").first.click()
    expect(tree).to_be_visible()
    expect(player).to_be_visible()


def test_overview_black_screen_keys_and_theme(deck):
    deck.keyboard.press("o")
    deck.keyboard.press("ArrowRight")
    deck.keyboard.press("Enter")
    at(deck, 2)
    deck.keyboard.press("b")
    expect(deck.locator(".black")).to_be_visible()
    deck.keyboard.press("Escape")
    expect(deck.locator(".black")).to_be_hidden()
    deck.keyboard.press("?")
    sheet = deck.get_by_role("dialog", name="Keys")
    expect(sheet).to_contain_text("overview of all slides")
    deck.keyboard.press("?")
    expect(sheet).to_be_hidden()
    deck.keyboard.press("d")
    assert deck.evaluate("document.documentElement.dataset.theme") == "dark"


def test_it_prints_one_slide_a_page(deck):
    printed = deck.pdf(prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == len(TALK)
    assert {*re.findall(rb"/MediaBox \[([^\]]*)\]", printed)} == {b"0 0 960 540"}  # in points


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_serious_finding(deck, theme):
    deck.emulate_media(color_scheme=theme)
    deck.reload()
    deck.wait_for_function(ALL_DRAWN)
    told = []
    for number in (
        1,
        GRID,
        LOST,
        PLAYER,
        TREE,
        *(NUMBERS[name] for name in ("*Charts*", "Gone", "Guess")),
    ):
        go(deck, number)
        told += serious(deck)
    deck.keyboard.press("o")
    told += serious(deck)
    assert not told, "\n".join(told)


def serious(page):
    """What axe finds that is serious."""
    return [
        f"{fault['impact']} {fault['id']}: {fault['help']}: {node['target']} {node['html'][:160]}"
        for fault in Axe().run(page).response["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]


def test_a_phone_shows_one_slide_without_scrolling_sideways(deck):
    deck.set_viewport_size({"width": 390, "height": 844})
    deck.reload()
    for number in (1, GRID, LOST, PLAYER):
        frame = go(deck, number)
        expect(frame.locator("h1")).to_be_visible()
        assert deck.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_file_is_loaded_as_the_talk_that_it_is(page, server, saved):
    page.goto(f"{server}/talk")
    page.get_by_text("Load a talk from a file").click()
    page.locator("input[type=file]").set_input_files(saved)
    expect(page.locator(".slide-list .title")).to_have_text(
        [slide.title.strip("*") for slide in TALK]
    )
