"""A talk in one file with the model inside, opened from the disk as from a USB stick."""

import pytest
from playwright.sync_api import expect

import headlight.pages.parts.pages  # noqa: F401, what slides are of
from headlight.model.edits import Edits
from headlight.model.transformer.trace import Site
from headlight.viz import attention_heatmap
from headlight.wings.live.page import for_talks
from headlight.wings.talks.deck.file import Drawn, DrawnSlide, file_of
from headlight.wings.talks.slides import Slide, write_talk
from tests.browser.rest import box_at_rest
from tests.wings.talks.browser.talks import FONT

SENTENCE = "The dog ate the meat because it was hungry."
SCENE = {"sentence": SENTENCE, "kind": "cross", "layer": "1", "head": "4"}


@pytest.fixture(scope="module")
def address(translator, tmp_path_factory):
    trace = translator.trace(SENTENCE)
    site = Site("cross", 0)
    tokens = [
        [token.text for token in axis(site)] for axis in (trace.query_tokens, trace.key_tokens)
    ]
    picture = attention_heatmap(trace.attention[site].weights[0, 3].numpy(), *tokens)
    slides = [
        DrawnSlide("One", pictures=[Drawn("a head", picture)], scene=SCENE),
        DrawnSlide("Two", words="Words."),
    ]
    talk = write_talk([Slide(title="One"), Slide(title="Two")])
    file, left_out = file_of(slides, talk, model=for_talks(translator))
    assert left_out == []
    path = tmp_path_factory.mktemp("live") / "talk.html"
    path.write_bytes(file)
    return path.as_uri()


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_a_slide_answers_a_sentence_that_the_room_calls_out(
    page, address, translator, width, height
):
    page.set_viewport_size({"width": width, "height": height})
    page.context.set_offline(True)
    page.goto(address)
    page.get_by_role("button", name="Ask the model …").click()
    expect(page.get_by_label("English sentence")).to_be_focused()
    dialog = page.get_by_role("dialog")
    before, after = (dialog.locator(f".{name} .token-strip") for name in ("before", "after"))
    expect(before).to_contain_text(translator.translate(SENTENCE).text)
    dialog.get_by_role("button", name="Switch this head off").click()
    edits = Edits(gates={("cross", 0, 3): 0}).at_sites(translator.shape, 60)
    expect(after).to_contain_text(translator.translate(SENTENCE, edits=edits).text)
    box = dialog.get_by_label("English sentence")
    box.fill("Where is the station?")
    box.press("ArrowRight")
    expect(before).to_contain_text(translator.translate("Where is the station?").text)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", name="Two")).to_be_in_viewport()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("x")
    expect(before).to_contain_text(translator.translate(SENTENCE).text)
    expect(after).to_be_hidden()
    page.context.set_offline(False)
    assert page.errors == []


def test_no_text_of_the_file_is_so_long_that_a_browser_reads_it_slowly(page, address):
    page.goto(address)
    longest = "Math.max(...[...document.scripts].map((text) => text.textContent.length))"
    assert page.evaluate(longest) < 1_000_000


@pytest.mark.parametrize("lacking", ["checkVisibility", "adoptedStyleSheets"])
def test_a_browser_that_lacks_a_feature_is_told_its_name(page, address, lacking):
    page.add_init_script(
        f"delete Element.prototype.{lacking}; delete Document.prototype.{lacking};"
    )
    page.goto(address)
    expect(page.get_by_role("alert")).to_contain_text("this browser lacks")
    expect(page.locator(".frame")).to_have_count(0)


@pytest.mark.parametrize("scale", [1, 1.5])
def test_what_it_writes_is_large_and_its_map_is_whole_on_one_screen(page, address, scale):
    page.set_viewport_size({"width": int(1280 * scale), "height": int(720 * scale)})
    page.goto(address)
    page.get_by_role("button", name="Ask the model …").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("English sentence").fill("Love is a rebellious bird.")
    expect(dialog.locator(".before .token-strip")).to_contain_text("L'amour est un oiseau")
    for text in (".chip", ".label", ".control"):
        assert dialog.locator(text).first.evaluate(FONT) >= 16 * scale
    for part in (".of-map canvas.map", ".of-map .scale"):
        box = box_at_rest(dialog.locator(part))
        assert box["y"] + box["height"] <= 720 * scale
