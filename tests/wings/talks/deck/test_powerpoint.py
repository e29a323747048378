"""A talk as PowerPoint: what the file holds, read back by the library that writes it."""

import base64
import io
from dataclasses import replace

import pytest
from PIL import Image
from pptx import Presentation

from headlight.wings.guess import part
from headlight.wings.talks.deck.file import Drawn, DrawnSlide
from headlight.wings.talks.deck.powerpoint import LIVE, places, powerpoint_of, room_of, shares
from headlight.wings.talks.deck.template import HEIGHT, PIXEL, WIDTH

HOSTILE = "<a:t>&amp;\x00\x01\x0b\x1b\x7f\ufffe\ud800 </p:sld> “é” 𝔸"
CLEAN = "<a:t>&amp;␀? </p:sld> “é” 𝔸"
LINK = "http://localhost:8501/masks?v=2&sentence=%3Cb%3E"


def png(width, height):
    """The address of an image."""
    file = io.BytesIO()
    Image.new("RGB", (width, height), "navy").save(file, "PNG")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


MAP = Drawn("all heads", png(800, 600), of="“We sing.”")
SLIDE = DrawnSlide(
    "A title", "Two **bold**\n*lines*", "Say this.", 1.0, [MAP], "“We sing.”", link=LINK
)


def read(slides, **more):
    """The slides of a file, and which of them are not whole."""
    file, left_out = powerpoint_of(slides, **more)
    return Presentation(io.BytesIO(file)), left_out


def pictures(slide):
    return [shape for shape in slide.shapes if shape.shape_type == 13]


def texts(slide):
    return [shape.text_frame.text for shape in slide.shapes if shape.has_text_frame]


def box(shape):
    return [side / PIXEL for side in (shape.left, shape.top, shape.width, shape.height)]


def test_a_slide_has_its_words_its_notes_and_the_link_to_its_scene():
    file, left_out = read([SLIDE])
    (slide,) = file.slides
    assert left_out == []
    assert (file.slide_width, file.slide_height) == (WIDTH * PIXEL, HEIGHT * PIXEL)
    assert file.core_properties.title == slide.shapes.title.text == "A title"
    assert slide.shapes.title.is_placeholder
    assert texts(slide) == ["A title", "Two bold\nlines", "“We sing.”", LIVE]
    assert slide.notes_slide.notes_text_frame.text == "Say this."
    lines = slide.shapes[1].text_frame.paragraphs
    assert [(run.text, run.font.bold) for run in lines[0].runs] == [("Two ", None), ("bold", True)]
    assert lines[1].runs[0].font.italic
    (run,) = slide.shapes[-1].text_frame.paragraphs[0].runs
    assert run.hyperlink.address == LINK


def test_marks_are_read_in_a_title_that_was_typed_and_in_no_other():
    title = "“*” or *it*"
    slides = [replace(SLIDE, title=title), replace(SLIDE, title=title, typed=False)]
    slides += [replace(slide, pictures=()) for slide in slides]
    shown = [slide.shapes.title.text for slide in read(slides)[0].slides]
    assert shown == ["“*” or it", title] * 2


def test_a_question_of_a_slide_is_listed_below_its_words_as_it_was_typed():
    asks = ("Is *this* it?", HOSTILE, "**no**")
    lines = f"Is *this* it?\n• {CLEAN}\n• **no**"
    slides = [replace(SLIDE, question=asks), replace(SLIDE, words="", question=asks)]
    slides += [replace(slide, pictures=()) for slide in slides]
    below = [texts(slide)[1] for slide in read(slides)[0].slides]
    assert below == [f"Two bold\nlines\n{lines}", lines] * 2


def test_a_question_and_its_options_come_on_a_slide_before_the_answer():
    asks = part.question("Which **one**?", [("**dog**", "2: dog"), ("it", "7: it")])
    asked = replace(MAP, question=(asks, ["It is dog."]))
    first, second = read([replace(SLIDE, pictures=[MAP, asked])])[0].slides
    assert texts(first) == ["A title", "Two bold\nlines\nWhich **one**?\n**dog**   it"]
    assert first.notes_slide.notes_text_frame.text == "Say this."
    assert not pictures(first)
    assert second.shapes.title.text == "A title"
    assert len(pictures(second)) == 2
    bare = replace(SLIDE, title="", words="", pictures=[MAP, asked])
    question, untitled = read([bare])[0].slides
    assert texts(question) == ["Which **one**?", "**dog**   it"]
    assert untitled.shapes.title.text == "It is dog."
    _, of_page = read([replace(SLIDE, title="A head", typed=False, pictures=[MAP, asked])])[
        0
    ].slides
    assert of_page.shapes.title.text == "It is dog."


def test_the_code_of_a_scene_is_in_the_corner_and_takes_no_column_of_the_pictures():
    code = Drawn("QR code of this scene", png(400, 440), code=True)
    title = "A title that would be as wide as the whole slide if it had no code in its corner"
    (slide,) = read([replace(SLIDE, title=title, pictures=[MAP, MAP, code])])[0].slides
    first, second, corner = map(box, pictures(slide))
    assert first[2:] == second[2:] == [400, 300]
    left, top, width, _ = corner
    assert left > WIDTH - 220
    assert top < 20
    assert 170 <= width < 180
    for shape in (slide.shapes.title, slide.shapes[1], *pictures(slide)[:2]):
        assert box(shape)[0] + box(shape)[2] <= left
    (alone,) = read([replace(SLIDE, pictures=[code])])[0].slides
    assert box(pictures(alone)[0])[2:] == [200, 220]


def test_of_three_pictures_two_stand_one_above_the_other():
    (slide,) = read([replace(SLIDE, pictures=[replace(MAP, picture=png(1200, 400))] * 3)])[0].slides
    large, upper, lower = map(box, pictures(slide))
    assert large[2] == upper[2] == lower[2] == 600
    assert large[0] + large[2] <= upper[0] == lower[0]
    assert upper[1] + upper[3] <= lower[1]


def test_a_picture_is_half_as_large_as_its_image_and_says_what_it_is():
    (slide,) = read([SLIDE])[0].slides
    (picture,) = pictures(slide)
    assert picture.image.size == (800, 600)
    assert box(picture)[2:] == [400, 300]
    assert picture._element.nvPicPr.cNvPr.get("descr") == "all heads. “We sing.”"


@pytest.mark.parametrize("size", [(3000, 400), (400, 3000), (5000, 5000)])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_pictures_fit_their_room_undistorted_beside_each_other(size, count):
    drawn = [Drawn(f"picture {at}", png(*size)) for at in range(count)]
    (slide,) = read([replace(SLIDE, pictures=drawn)])[0].slides
    *_, room = places(SLIDE.title, SLIDE.words)
    for shape, share in zip(pictures(slide), shares(room, count), strict=True):
        left, top, width, height = box(shape)
        assert width / height == pytest.approx(size[0] / size[1], rel=0.01)
        assert share.left - 0.01 <= left
        assert left + width <= share.left + share.width + 0.01
        assert share.top - 0.01 <= top
        assert top + height <= share.top + share.height + 0.01
        fills = pytest.approx(share.width, abs=0.01), pytest.approx(share.height, abs=0.01)
        assert width == fills[0] or height == fills[1]
    assert room.left + room.width <= WIDTH
    width, height = room_of(SLIDE.title, SLIDE.words, count)
    assert width / count < room.width / count < WIDTH
    assert height < room.height


def test_pictures_of_different_heights_begin_at_the_same_height():
    drawn = [Drawn("one", png(300, 500)), Drawn("another", png(300, 200))]
    (slide,) = read([replace(SLIDE, pictures=drawn)])[0].slides
    tops = [box(shape)[1] for shape in pictures(slide)]
    assert tops[0] == tops[1]


def test_all_that_stands_on_a_slide_stands_within_it():
    long = replace(SLIDE, title="title " * 13, words="words \n" * 40, missing="Something. " * 8)
    for slide in read([long, replace(long, pictures=())])[0].slides:
        for shape in slide.shapes:
            left, top, width, height = box(shape)
            assert left >= 0
            assert top >= 0
            assert width > 0
            assert height > 0
            assert left + width <= WIDTH
            assert top + height <= HEIGHT


def test_hostile_words_are_text_without_what_xml_cannot_hold():
    slide = DrawnSlide(HOSTILE, HOSTILE, HOSTILE, 1, [MAP], HOSTILE, HOSTILE, link=LINK + HOSTILE)
    alone = DrawnSlide(HOSTILE, HOSTILE, HOSTILE)
    file, left_out = read(
        [replace(slide, pictures=[replace(MAP, what=HOSTILE, of=HOSTILE)]), alone]
    )
    assert left_out == [1]
    first, second = file.slides
    assert texts(first) == [CLEAN] * 4 + [LIVE]
    assert texts(second) == [CLEAN] * 2
    assert first.notes_slide.notes_text_frame.text == CLEAN
    (picture,) = pictures(first)
    assert picture._element.nvPicPr.cNvPr.get("descr") == f"{CLEAN}. {CLEAN}"
    assert file.core_properties.title == CLEAN


@pytest.mark.parametrize(
    "image",
    [
        "",
        "data:image/png;base64,AAAA",
        "data:image/png;base64,é",
        MAP.picture[:200],
        MAP.picture.replace("iVBORw0KGgo", "R0lGODlhAAA"),
    ],
)
def test_what_is_no_image_gives_way_to_a_sentence(image):
    file, left_out = read([replace(SLIDE, pictures=[replace(MAP, picture=image), MAP]), SLIDE])
    assert left_out == [1]
    first, second = file.slides
    assert len(pictures(first)) == len(pictures(second)) == 1
    assert "The picture “all heads” could not be drawn when the file was saved." in texts(first)


def test_what_is_missing_or_too_large_is_said_and_the_rest_is_there():
    gone = replace(SLIDE, pictures=(), missing="The model is gone.")
    file, left_out = read([gone, SLIDE, replace(SLIDE, pictures=[Drawn("map", png(900, 700))])])
    assert left_out == [1]
    assert "The model is gone." in texts(file.slides[0])
    most = len(MAP.picture) * 4 // 3 + 8
    file, left_out = read(
        [SLIDE, replace(SLIDE, pictures=[Drawn("map", png(900, 700))])], most=most
    )
    assert left_out == [2]
    assert [len(pictures(slide)) for slide in file.slides] == [1, 0]


def test_a_dark_talk_is_light_on_dark():
    master = read([SLIDE], dark=True)[0].slide_master
    assert str(master.background.fill.fore_color.rgb) == "171614"
    assert 'tx1="lt1"' in master._element.xml
    assert 'tx1="dk1"' in read([SLIDE])[0].slide_master._element.xml
