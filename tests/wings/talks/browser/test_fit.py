"""The size of a slide's pictures: as large as fits, also when the slide is drawn anew meanwhile."""

from pathlib import Path

from headlight.pages.browser import parts
from headlight.viz.modules import in_order, script
from tests.wings.talks.browser.talks import FITTED

FIT = Path(parts.__file__).with_name("fit.js")
STAGE = """<style>.st-key-stage { transform: scale(var(--slide-zoom)) }</style>
  <div style="height: 400px">
    <div class="st-key-stage"><div class="st-key-on-map" style="height: 300px"></div></div>
  </div>"""
BEGIN = "slide => { window.root = {}; window.end = $fit.fitToScreen(root, slide); }"
# Draw the slide anew as soon as a zoom is tried. The zooms `seen` are those that are not hidden.
ANEW = """slide => {
  const { style, dataset } = document.documentElement;
  window.seen = [];
  let isAnew = false;
  new MutationObserver(() => {
    const zoom = style.getPropertyValue("--slide-zoom");
    if (!isAnew && zoom === "0.4") {
      isAnew = true;
      end();
      window.end = $fit.fitToScreen(root, slide);
    }
    if (isAnew && dataset.fitting !== "") seen.push(zoom);
  }).observe(document.documentElement, { attributes: true });
  document.querySelector(".st-key-on-map").style.height = "200px";
  dispatchEvent(new Event("resize"));
}"""
IN_FILE = """async () => {
  const stage = document.querySelector(".st-key-stage");
  const zooms = [];
  new MutationObserver(() => {
    if (stage.style.opacity !== "0") zooms.push(stage.style.getPropertyValue("--slide-zoom"));
  }).observe(stage, { attributes: true });
  await $fit.fitting(stage, 1).fit();
  await new Promise((done) => requestAnimationFrame(done));
  return zooms;
}"""
ZOOM = "document.documentElement.style.getPropertyValue('--slide-zoom')"


def test_a_slide_that_is_drawn_anew_while_sizes_are_tried_comes_to_the_largest(page):
    page.set_content(f"{STAGE}<script>{script(in_order([FIT]))}</script>")
    slide = {"size": 1}
    page.evaluate(BEGIN, slide)
    page.wait_for_function(FITTED)
    first = float(page.evaluate(ZOOM))
    assert 400 / 300 / 1.03 < first <= 401 / 300
    page.evaluate(ANEW, slide)
    page.wait_for_function(f"() => seen.length && ({FITTED})()")
    assert 400 / 200 / 1.03 < float(page.evaluate(ZOOM)) <= 401 / 200
    assert {float(zoom) for zoom in page.evaluate("seen")} == {float(page.evaluate(ZOOM))}


def test_a_file_shows_no_size_that_is_only_tried(page):
    page.set_content(f"{STAGE}<script>{script(in_order([FIT]))}</script>")
    (zoom,) = set(page.evaluate(IN_FILE))
    assert 400 / 300 / 1.03 < float(zoom) <= 401 / 300
