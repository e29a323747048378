"""Talks of a visitor's own, and what every slide holds."""

from playwright.sync_api import Error, expect

from headlight.pages.shared.show.pictures import css_class
from headlight.wings.talks.kept import KEPT
from headlight.wings.talks.slides import write_talk
from tests.browser.rest import until

SAVE = {"HTML": "Save as one HTML file", "PowerPoint": "Save for PowerPoint"}
SMALLEST = 20  # pixels of a token that the last row can read, at 1280 by 720
TOKENS = {  # where each picture writes tokens as text
    "source": ".chip",
    "target-tokens": ".chip",
    "trained": ".chip",
    "changed": ".chip",
    "lines": ".token .name",
    "text": ".token",
    "player": ".weighed-tokens .name",
    "tree": ".leaf",
    "story-dot": ".label",
    "story-softmax": ".label",
    "story-values": ".label",
}
ON_CANVAS = {
    "heatmap": "canvas.map",
    "matrix": "canvas",
    "maps": "canvas.map >> nth=0",
}  # where each one draws them
# The slide has been fitted, and nothing of it is coming any more.
FITTED = """() => !("fitting" in document.documentElement.dataset)
  && document.documentElement.style.getPropertyValue("--slide-zoom")
  && !document.querySelector("[data-test-script-state=running], [data-stale=true]")"""
ONE_SCREEN = """() => {
  const main = document.querySelector("[data-testid=stMain]");
  return main.scrollHeight <= main.clientHeight && main.scrollWidth <= main.clientWidth;
}"""
# What of a picture is cut off or scrolls.
CUT_OFF = """picture => {
  const all = (root) => [...root.querySelectorAll("*")]
    .flatMap((node) => [node, ...(node.shadowRoot ? all(node.shadowRoot) : [])]);
  const over = (node) =>
    node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1;
  return all(picture)
    .filter(over)
    .filter((node) => /auto|scroll/.test(getComputedStyle(node).overflow))
    .map((node) => node.className);
}"""
# How much larger than its own pixels an element is shown.
SCALE = """(node => {
  let scale = 1;
  for (let up = node; up; up = up.parentElement ?? up.getRootNode().host)
    scale *= new DOMMatrix(getComputedStyle(up).transform).a;
  return scale;
})"""
FONT = f"node => parseFloat(getComputedStyle(node).fontSize) * {SCALE}(node)"
SIDE = f"node => Math.min(13, node.dataset.side - 1) * {SCALE}(node)"


def with_talk(page, server, slides, path):
    """Open a page in a browser that has kept a talk."""
    page.goto(f"{server}/_stcore/health")
    page.evaluate("kept => localStorage.setItem(...kept)", [KEPT, write_talk(slides)])
    page.goto(f"{server}/{path}")


def save_talk(page, server, slides, kind, said, folder, *, bar=True):
    """Save a talk through the page Talk as a file in a folder; returns its path.

    `said` is what the page then says of the slides that are in it. Without `bar` it may take too
    short for the bar that says how far it is.
    """
    with_talk(page, server, slides, "talk")
    expect(page.locator(".slide-list .title")).to_have_count(len(slides))
    with page.expect_download(timeout=240_000) as download:
        page.get_by_role("button", name=SAVE[kind]).click()
        if bar:
            expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_role("button", name=f"Download the {kind} file again")).to_be_visible()
    expect(page.get_by_text(said)).to_be_visible()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def see_title(page, title):
    """Wait for a slide by its title."""
    expect(page.locator(".slide h1")).to_have_text(title)
    page.wait_for_function("() => !document.querySelector('[data-stale=true]')")


def expect_fitted(page, pictures, smallest=SMALLEST):
    """Expect that pictures are whole on one screen, and that their tokens can be read.

    It may take a while to hold: a slide is fitted once more when one of its pictures grows.
    """

    def is_fitted():
        page.wait_for_function(FITTED)
        check_fitted(page, pictures, smallest)
        return True

    until(page, is_fitted, AssertionError, Error)


def size_fitted(page, picture):
    """The scale of a picture on a slide that is fitted at that very moment."""
    node = f"[document.querySelector(picture)].filter(Boolean).map({SCALE})[0]"
    size = f"picture => ({FITTED})() && {node}"
    return until(page, lambda: page.evaluate(size, css_class(picture)))


def check_fitted(page, pictures, smallest):
    assert page.evaluate(ONE_SCREEN)
    if not pictures:
        return  # a slide of words alone, which has no footer
    width, height = page.viewport_size["width"], page.viewport_size["height"]
    footer = page.locator(".st-key-slide-footer").bounding_box()
    scale = min(width / 1280, height / 720)
    for key in pictures:
        picture = page.locator(css_class(key))
        assert picture.evaluate(CUT_OFF) == []
        box = picture.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["y"] + box["height"] <= footer["y"] + 1
        if key in TOKENS:
            assert picture.locator(TOKENS[key]).first.evaluate(FONT) >= smallest * scale
        if key in ON_CANVAS:
            assert picture.locator(ON_CANVAS[key]).evaluate(SIDE) >= smallest * scale
