"""The QR code of a slide's scene: on the stage, and in the files that a talk is saved as."""

import io
from dataclasses import replace

import pytest
import segno
from PIL import Image
from playwright.sync_api import expect
from pptx import Presentation

import headlight.pages.parts.pages  # noqa: F401, what slides are of
from headlight.pages.shared.show.pictures import css_class
from headlight.wings.talks.presenter import QR_CODE
from headlight.wings.talks.slides import Slide
from tests.browser.rest import box_at_rest, until
from tests.matrix import first_of
from tests.wings.talks.browser.talks import (
    expect_fitted,
    save_talk,
    see_title,
    size_fitted,
    with_talk,
)

SCENE = {"v": "2", "sentence": "We left."}
TALK = (
    Slide("attention", SCENE, "Beside", pictures=("heatmap",), qr_code=True),
    Slide("attention", SCENE, "Alone", qr_code=True),
)
QUIET = 4  # modules around the code
WHOLE = "All slides are in it."
LEAST = {"Beside": 170, "Alone": 300}  # pixels of a code, of the 720 of a screen
BEAM = {"sentence": "The dog sees the cat.", "strategy": "beam", "beam_size": "3"}
HERO = "The animal didn't cross the street because it was too tired."
CHANGED = {"sentence": HERO, "edits": "look-ahead.off"}
MANY = (
    Slide("masks", CHANGED, "Masks", "Words.", ("matrix", "trained", "changed")),
    Slide("decoding", BEAM, "Beam", pictures=("tree",)),
)
SHARE = 0.8  # of the size of pictures without a code


def matrix_of(link):
    """The modules of the code of a link: rows of 0, 1."""
    return [list(row) for row in segno.make(link, micro=False, error="m", boost_error=False).matrix]


def link_in(canvas):
    """The link of a code, in the words for those who do not see it."""
    return canvas.get_attribute("aria-label").removeprefix("QR code of ")


def modules_of(canvas, side):
    """Which modules are dark on a canvas that has so many in a row: rows of 0, 1."""
    return canvas.evaluate(
        """(canvas, [side, quiet]) => {
            const module = canvas.width / (side + 2 * quiet);
            const context = canvas.getContext("2d");
            const dark = (row, column) => {
              const at = [column, row].map((place) => Math.floor(module * (quiet + place + 0.5)));
              return Number(context.getImageData(...at, 1, 1).data[0] < 128);
            };
            const places = Array.from({ length: side }, (_, place) => place);
            return places.map((row) => places.map((column) => dark(row, column)));
        }""",
        [side, QUIET],
    )


@pytest.mark.matrix
@pytest.mark.parametrize("number", first_of([1, 2]))
def test_a_slide_shows_its_code_and_it_leads_to_the_scene(page, server, number):
    with_talk(page, server, TALK, f"?talk={number}")
    see_title(page, TALK[number - 1].title)
    expect_fitted(page, [*TALK[number - 1].pictures, QR_CODE])
    canvas = page.locator(css_class(QR_CODE)).locator("canvas")
    assert box_at_rest(canvas)["width"] >= LEAST[TALK[number - 1].title]
    link = link_in(canvas)
    assert link == f"{server}/?v=2&sentence=We+left."
    expect(page.locator(".qr-code .address")).to_have_text(server.removeprefix("http://"))
    matrix = matrix_of(link)
    assert modules_of(canvas, len(matrix)) == matrix
    page.goto(link)
    expect(page.get_by_label("English sentence").first).to_have_value("We left.")


@pytest.mark.parametrize("slide", first_of(MANY))
def test_pictures_are_nearly_as_large_next_to_a_code_which_hides_none_of_them(page, server, slide):
    sizes = []
    for has_code, codes in ((False, []), (True, [QR_CODE])):
        with_talk(page, server, [replace(slide, qr_code=has_code)], "?talk=1")
        see_title(page, slide.title)
        expect_fitted(page, [*slide.pictures[:1], *codes], smallest=10)
        sizes.append(size_fitted(page, slide.pictures[0]))
    assert sizes[1] >= SHARE * sizes[0]

    def hides_none():
        code = page.locator(css_class(QR_CODE)).bounding_box()
        for shown in (".slide h1", *map(css_class, slide.pictures)):
            box = page.locator(shown).bounding_box()
            is_beside = box["x"] + box["width"] <= code["x"]
            assert is_beside or box["y"] >= code["y"] + code["height"]
        return True

    until(page, hides_none, AssertionError)  # it may be fitted anew between two boxes


@pytest.mark.matrix
def test_one_file_holds_the_code(page, server, browser, tmp_path):
    path = save_talk(page, server, TALK, "HTML", WHOLE, tmp_path, bar=False)
    other = browser.new_page()
    other.goto(path.as_uri())
    slide = other.locator("#slide-1.now:not(.waiting)")
    canvas = slide.locator(".qr-code canvas")
    link = link_in(canvas)
    assert link.startswith(f"{server}/?")
    matrix = matrix_of(link)
    assert modules_of(canvas, len(matrix)) == matrix
    other.close()


@pytest.mark.matrix
def test_powerpoint_holds_the_code(page, server, tmp_path):
    path = save_talk(page, server, TALK, "PowerPoint", WHOLE, tmp_path, bar=False)
    beside, alone = Presentation(path).slides
    assert [shape.name for shape in beside.shapes if shape.shape_type == 13][1:] == [
        "QR code of this scene"
    ]
    (picture,) = (shape for shape in alone.shapes if shape.shape_type == 13)
    dots = Image.open(io.BytesIO(picture.image.blob)).convert("L").point(lambda dot: dot < 128)
    top = dots.getbbox()[1] + 2  # below what is neither light nor dark
    left = next(x for x in range(dots.width) if dots.getpixel((x, top)))  # the address is wider
    matrix = matrix_of(f"{server}/?v=2&sentence=We+left.")
    # The three corners are dark lines of seven modules.
    corner = next(x for x in range(left, dots.width) if not dots.getpixel((x, top))) - left
    module = corner / 7
    for row, line in enumerate(matrix):
        for column, dark in enumerate(line):
            at = [int(start + module * (place + 0.5)) for start, place in
                  ((left, column), (top, row))]  # fmt: skip
            assert bool(dots.getpixel(tuple(at))) == bool(dark)
