"""Films of what moves: a decoding and a beam, as the browser records them and as a GIF."""

import base64
import io
import re

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browser.rest import rerun, settled, until

SENTENCE = "I love my cat."
DRAWING_MS = 300_000  # of all frames, on a busy machine
LENGTH = """async (data) => {
    const video = document.createElement("video");
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    video.src = URL.createObjectURL(new Blob([bytes]));
    await new Promise((done, failed) => { video.onloadeddata = done; video.onerror = failed; });
    video.currentTime = 1e6; // the recorder writes no length
    await new Promise((done) => (video.onseeked = done));
    return [video.currentTime, video.videoWidth, video.videoHeight];
}"""


def wrong(page):
    """The page's errors, but that Streamlit looks for its server below the page's own path."""
    return [error for error in page.errors if "404" not in error]


def open_menu(page, key):
    page.locator(f".st-key-{key}").get_by_role("button", name=re.compile("^Save: ")).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("group", name="Save as a film").filter(visible=True)).to_be_visible()


def film(page, kind):
    button = page.get_by_role("button", name=kind, exact=True).filter(visible=True)
    with page.expect_download(timeout=DRAWING_MS) as saved:
        button.click()
    assert saved.value.suggested_filename.endswith(f".{kind.lower()}")
    return saved.value.path().read_bytes()


@pytest.fixture
def decoding(page, server):
    page.goto(f"{server}/decoding?sentence={SENTENCE}")
    page.locator(".decoding-player").get_by_label("Speed").select_option("8")
    return page.locator(".decoding-player")


def test_a_decoding_is_recorded_step_by_step_and_stays_where_it_was(page, decoding, translator):
    steps = len(translator.translate(SENTENCE).target_tokens)
    decoding.get_by_role("button", name="Step forward").click()
    expect(decoding.locator(".counter")).to_have_text(f"step 2 of {steps}")
    other = page.context.new_page()  # without the app's policy
    open_menu(page, "player")

    def whole_film():
        """A film from the first step to the last: a busy machine's recorder may begin late."""
        data = film(page, "WEBM")
        expect(decoding.locator(".counter")).to_have_text(f"step 2 of {steps}")
        seconds, *size = other.evaluate(LENGTH, base64.b64encode(data).decode())
        return size if seconds >= (steps - 1) / 8 else None  # 8 steps a second

    width, height = until(page, whole_film)
    assert 700 <= width <= 1280
    assert height % 2 == 0
    assert not wrong(page)


@pytest.mark.matrix
def test_a_gif_has_a_frame_for_each_step(page, decoding, translator):
    open_menu(page, "player")
    made = Image.open(io.BytesIO(film(page, "GIF")))
    assert made.n_frames == len(translator.translate(SENTENCE).target_tokens)
    made.seek(0)
    first = made.convert("RGB").tobytes()
    made.seek(made.n_frames - 1)
    assert made.convert("RGB").tobytes() != first
    assert made.info["duration"] > 200  # the last one stays


@pytest.mark.matrix
def test_a_slow_film_tells_the_app_nothing_of_its_steps(page, decoding):
    page.evaluate("""() => {
        const made = HTMLCanvasElement.prototype.toBlob;
        HTMLCanvasElement.prototype.toBlob = function (...given) {
            setTimeout(() => made.apply(this, given), 700); // a step would be told after 500
        };
    }""")
    open_menu(page, "player")
    settled(page)
    before = page.ended_runs
    with rerun(page):
        film(page, "GIF")
    assert page.ended_runs == before + 1  # the one that makes the file


def test_a_file_is_made_between_two_quick_choices(page, decoding):
    """A later answer of a picture may replace one that Streamlit has not taken yet."""
    open_menu(page, "player")
    with page.expect_download(timeout=DRAWING_MS) as saved:
        page.get_by_role("button", name="CSV", exact=True).filter(visible=True).evaluate(
            """async (csv) => {
                const next = () => new Promise((done) => setTimeout(done));
                const part = csv.getRootNode();
                const bars = [...part.querySelectorAll(".bar")];
                for (const button of [bars[1], csv, bars[2]]) {
                    button.click();
                    await next();
                }
            }"""
        )
    assert saved.value.suggested_filename.endswith(".csv")
    expect(page.get_by_text("forced")).not_to_have_count(0)


@pytest.mark.matrix
def test_a_beam_grows_in_its_film_and_is_whole_after_it(page, server):
    page.goto(f"{server}/decoding?sentence={SENTENCE}&strategy=beam")
    tree = page.locator(".beam-tree")
    tree.locator(".leaf").first.wait_for()
    leaves = tree.locator(".leaf").count()
    tree.evaluate("root => root.moves.go(0)")
    expect(tree.locator(".leaf").filter(visible=True)).not_to_have_count(leaves)
    tree.evaluate("root => root.moves.go(root.moves.count() - 1)")
    expect(tree.locator(".leaf").filter(visible=True)).to_have_count(leaves)
    open_menu(page, "tree")
    made = Image.open(io.BytesIO(film(page, "GIF")))
    assert made.n_frames == tree.evaluate("root => root.moves.count()")
    expect(tree.locator(".leaf").filter(visible=True)).to_have_count(leaves)
    assert not wrong(page)


def test_what_does_not_move_has_no_film(page, server):
    page.goto(f"{server}/?sentence={SENTENCE}&picture=heatmap")
    page.get_by_role("button", name=re.compile("^Save: Cross-attention, layer")).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("group", name="Copy for slides").filter(visible=True)).to_be_visible()
    films = page.get_by_role("group", name="Save as a film")
    expect(films.filter(visible=True)).to_have_count(0)


@pytest.mark.matrix
def test_a_training_is_filmed_and_still_plays(page, server):
    page.goto(f"{server}/model")
    film_of_heads = page.locator(".attention-film")
    film_of_heads.get_by_label("Speed").select_option("8")
    film_of_heads.get_by_role("button", name="First step").click()
    shown = film_of_heads.locator(".counter").text_content()
    open_menu(page, "history")
    made = Image.open(io.BytesIO(film(page, "GIF")))
    assert made.n_frames == film_of_heads.evaluate("root => root.moves.count()")
    expect(film_of_heads.locator(".counter")).to_have_text(shown)
    film_of_heads.get_by_role("button", name="Newest step").click()
    expect(film_of_heads.locator(".counter")).not_to_have_text(shown)
    assert not wrong(page)
