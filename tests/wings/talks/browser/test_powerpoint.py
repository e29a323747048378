"""A talk saved for PowerPoint through the app, read back, and opened by LibreOffice if there."""

import re
import shutil
import subprocess

import pytest
from playwright.sync_api import expect
from pptx import Presentation

import headlight.pages.parts.pages  # noqa: F401, what slides are of
from headlight.wings.talks.deck.powerpoint import AROUND, LIVE, room_of
from headlight.wings.talks.deck.template import PIXEL, WIDTH
from headlight.wings.talks.slides import Slide
from tests.wings.talks.browser.talks import save_talk
from tests.wings.talks.deck.test_powerpoint import pictures, texts

pytestmark = pytest.mark.matrix
HOSTILE = "<img src=x onerror=alert(1)>\x01</a:t>"
CLEAN = "<img src=x onerror=alert(1)></a:t>"
SENTENCE = {"sentence": "We sing."}
ASKED = {"v": "2", "sentence": "We sing.", "guess": "on"}
TALK = (
    Slide(title=HOSTILE, words="Words\nalone", notes="Notes"),
    Slide("attention", SENTENCE, "Maps", "Two **pictures**", ("grid", "heatmap"), notes=HOSTILE),
    Slide("attention", ASKED, "Guess", pictures=("heatmap",), size=0.5),
    Slide("positions", {"positions_tab": "sinusoids"}, "Charts", pictures=("curves", "table")),
    Slide("attention", {"model": "own-1"}, "Gone", pictures=("grid",)),
)
QUESTION = 2  # the index of the slide that asks, before the one with the picture
SHOWN = [len(slide.pictures) if slide.title != "Gone" else 0 for slide in TALK]
# For every image that is made: its dots, and the widths of the stage and its pictures then.
WATCH = """
window.made = [];
const all = (root) => [...root.querySelectorAll("*")]
  .flatMap((node) => [node, ...(node.shadowRoot ? all(node.shadowRoot) : [])]);
const original = HTMLCanvasElement.prototype.toDataURL;
HTMLCanvasElement.prototype.toDataURL = function (...type) {
  const stage = document.querySelector(".st-key-stage");
  if (stage && type[0] === "image/png") {
    const drawn = ".picture:not(.save-menu), .svg-container, .vega-embed";
    const pictures = [...stage.querySelectorAll("[class*=st-key-on-]")]
      .map((holder) => all(holder).find((node) => node.matches(drawn)));
    const sizes = pictures.filter(Boolean).map((node) => [node.offsetWidth, node.offsetHeight]);
    made.push({ dots: [this.width, this.height], stage: stage.offsetWidth, sizes });
  }
  return original.apply(this, type);
};
"""


@pytest.fixture(scope="module")
def saved(context, server, tmp_path_factory):
    """The file that the page Talk saves, and what its images were made of."""
    page = context.new_page()
    page.add_init_script(WATCH)
    folder = tmp_path_factory.mktemp("powerpoint")
    path = save_talk(page, server, TALK, "PowerPoint", "Slides 5 are incomplete", folder)
    made = page.evaluate("made")
    page.evaluate("localStorage.clear()")
    page.close()
    return path, made


@pytest.fixture(scope="module")
def slides(saved):
    """Its slides, without the one that asks a question."""
    every = list(Presentation(saved[0]).slides)
    return every[:QUESTION] + every[QUESTION + 1 :]


def test_every_slide_has_its_words_notes_pictures_and_link(slides, server, saved):
    assert saved[0].suffix == ".pptx"
    assert [len(pictures(slide)) for slide in slides] == SHOWN
    assert [slide.shapes.title.text for slide in slides] == [CLEAN, *(s.title for s in TALK[1:])]
    assert slides[0].notes_slide.notes_text_frame.text == "Notes"
    assert slides[1].notes_slide.notes_text_frame.text == CLEAN
    assert texts(slides[1])[1:3] == ["Two pictures", texts(slides[1])[2]]
    assert texts(slides[1])[2].startswith("“We sing.” · ")
    assert "no longer available" in texts(slides[4])[1]
    (link,) = (shape for shape in slides[1].shapes if shape.has_text_frame and shape.text == LIVE)
    address = link.text_frame.paragraphs[0].runs[0].hyperlink.address
    assert address == f"{server}/?sentence=We+sing."
    descriptions = [picture._element.nvPicPr.cNvPr.get("descr") for picture in pictures(slides[1])]
    assert descriptions[0].startswith("all heads. “We sing.” · ")


def test_a_question_comes_before_its_picture(saved):
    asked = Presentation(saved[0]).slides[QUESTION]
    assert asked.shapes.title.text == "Guess"
    assert "which token does “Nous → chante” look at most?" in asked.shapes[1].text
    assert "sing" in asked.shapes[1].text
    assert not pictures(asked)


def test_the_link_opens_the_scene(slides, page):
    links = [shape.text_frame.paragraphs[0].runs[0].hyperlink for shape in slides[3].shapes
             if shape.has_text_frame and shape.text_frame.text == LIVE]  # fmt: skip
    page.goto(links[0].address)
    expect(page.get_by_role("heading", name="Positions", exact=True)).to_be_visible()


def test_images_are_sent_again_after_a_connection_that_lost_them(page, server, tmp_path):
    lost = []

    def connect(browser_side):
        server_side = browser_side.connect_to_server()

        def pass_on(data):
            if b"data:image/png" in data and not lost:
                lost.append(data)
                browser_side.close()
            else:
                server_side.send(data)

        browser_side.on_message(pass_on)

    page.route_web_socket(re.compile("/_stcore/stream"), connect)
    save_talk(page, server, TALK[1:2], "PowerPoint", "All slides are in it.", tmp_path, bar=False)
    assert lost


def test_each_image_has_two_dots_for_a_pixel_of_its_slide(slides, saved):
    kept = [list(shape.image.size) for slide in slides for shape in pictures(slide)]
    made = iter([image for image in saved[1] if image["dots"] in kept])  # others are parts of them
    for slide, scene in zip(slides, TALK, strict=True):
        shapes = pictures(slide)
        for at, shape in enumerate(shapes):
            image = next(made)
            room, _ = room_of(scene.title, scene.words, len(shapes))
            zoom = room / image["stage"]
            drawn = [zoom * (side + AROUND) for side in image["sizes"][at]]
            assert list(shape.image.size) == image["dots"]
            assert image["dots"] == pytest.approx([2 * side for side in drawn], rel=0.01, abs=4)
            placed = [shape.width / PIXEL, shape.height / PIXEL]
            assert placed == pytest.approx(drawn, rel=0.08)
            assert placed[0] * image["dots"][1] == pytest.approx(
                placed[1] * image["dots"][0], rel=0.01
            )
    assert next(made, None) is None


def test_pictures_are_as_large_as_fits(slides):
    for slide in (slides[1], slides[3]):
        sides = [(picture.width / PIXEL, picture.height / PIXEL) for picture in pictures(slide)]
        assert sum(width for width, _ in sides) > 0.8 * WIDTH or max(h for _, h in sides) > 400


@pytest.mark.skipif(not shutil.which("soffice"), reason="LibreOffice is not installed")
def test_libreoffice_opens_it(saved, tmp_path):
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    to_pdf = ["--convert-to", "pdf", "--outdir", str(tmp_path), str(saved[0])]
    command = ["soffice", "--headless", profile, *to_pdf]
    subprocess.run(command, check=True, timeout=240, capture_output=True)
    (pdf,) = tmp_path.glob("*.pdf")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes())) == len(TALK) + 1
