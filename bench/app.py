"""python -m bench.app: from a click to new pixels, compared with a bare page of one small chart.

Both pages are open in one headless Chromium, served by two servers of the same configuration, and
are clicked in turns with real input events. Times are taken by the page's own clock: from the event
until a frame has been drawn in which every picture that the case names differs from before. The
times are medians.

- `sentence`: Enter after another sentence, until the translation, the maps of all heads and the
  enlarged map are new. Each sentence is new to the server. Bare: Enter in a text input.
- `head`: another head in the open box, until its heatmap is new. Bare: the same control.
- `mask cell`: a click that closes a cell, or opens it again, until mask, weights and probabilities
  are new. Each state is new to the server. Bare: a button.
- `head off`: a head is switched off, until the switchboard, the translation's probabilities and the
  map of the head are new. Each head is new to the server. Bare: a button.
- `step`: a decoding step, until text and weights are new. Bare: a button.
- `start`: from `streamlit run` to the first picture of the default sentence in a browser that is
  open already. Bare: the same page, which imports torch.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from urllib.parse import urlencode

from playwright.sync_api import (
    Browser,
    Error,
    Page,
    Position,
    ViewportSize,
    sync_playwright,
)

from bench.browser import SCRIPT, browsing, serving
from bench.performance import meaning, page_options, publish
from bench.report import Case
from tests.browser.install import chromium_path

BARE = "bench/pages/bare.py"
CHART = ".stPlotlyChart .main-svg"
GRID = ".head-grid canvas"
DRAWN_GRID = f"{GRID}[style*=width]"
TRANSLATION = ".token-strip .text"
HEATMAP = ".heatmap canvas.map"
WEIGHTS = f"{HEATMAP}[aria-label*=' weight ']"
IDLE = "document.querySelector('.stApp')?.dataset.testScriptState === 'notRunning'"
SETTLED = 300  # milliseconds without activity before a click
WARMING = 2  # clicks that are not measured
LIMIT = 60  # seconds to wait for anything on a page
LONGEST = 90  # seconds after which no further click of a case begins
SENTENCE = "My brother bought three old bicycles yesterday."
# JavaScript that returns the number of tokens in the first heatmap on the page.
TOKENS = """(({ dataset, clientHeight }) =>
  Math.round((clientHeight - dataset.top) / dataset.side))(find(".heatmap canvas.map")[0])"""
MATRIX_LABEL, MATRIX_SLANT = 92, 28  # pixels that labels take, as in viz/switches/mask_matrix.js

# `look` turns a picture into a text: its elements, and a checksum of each canvas, scaled down to
# 128 x 128 points. Scaling takes means, so a changed cell of a canvas changes some of the points.
WATCH = """
const small = document.createElement("canvas");
small.width = small.height = 128;
const brush = small.getContext("2d", { willReadFrequently: true });
const points = (canvas) => {
  brush.clearRect(0, 0, 128, 128);
  if (canvas.width && canvas.height) brush.drawImage(canvas, 0, 0, 128, 128);
  const { data } = brush.getImageData(0, 0, 128, 128);
  let sum = 0;
  for (const dot of new Uint32Array(data.buffer)) sum = (Math.imul(31, sum) + dot) | 0;
  return sum;
};
window.look = (selector) => find(selector).map((node) =>
  (node.localName === "canvas" ? [node] : [...node.querySelectorAll("canvas")]).map(points).join() +
  (node.localName === "canvas" ? "" : node.outerHTML)).join();
window.watch = (pictures) => {
  const before = pictures.map(look);
  let begin;
  const note = (event) => begin ??= event.timeStamp;
  for (const kind of ["pointerup", "keydown"]) addEventListener(kind, note, true);
  const changed = (place) => ![before[place], ""].includes(look(pictures[place]));
  let waiting = [...pictures.keys()];
  const over = () => begin && !(waiting = waiting.filter((place) => !changed(place))).length;
  window.watched = until(over).then(() => {
    for (const kind of ["pointerup", "keydown"]) removeEventListener(kind, note, true);
    return performance.now() - begin;
  });
};
window.after = (time) => new Promise((_, reject) => setTimeout(reject, time, "too late"));
"""


@dataclass(frozen=True)
class Click:
    """A click that is timed, and the pictures that should change after it."""

    path: str  # the page's address without the server's, with its parameters
    pictures: tuple[str, ...]  # CSS selectors of the pictures that should change
    act: Callable[[Page, int], None]  # makes the click with this number
    prepare: Callable[[Page, int], None] = lambda page, number: None  # called before the timing


def sentence_of(number: int) -> str:
    """Return a different sentence for each number, all made of the same words."""
    words = ["red", "old", "small", "black", "new", "good", "big", "white"]
    first, second = divmod(number, len(words))
    return f"The {words[first % len(words)]} car is near the {words[second]} house."


def fill(page: Page, number: int) -> None:
    page.get_by_role("textbox").first.fill(sentence_of(number))


def enter(page: Page, number: int) -> None:
    page.get_by_role("textbox").first.press("Enter")


def open_heads(page: Page, number: int) -> None:
    page.locator(".stSelectbox", has_text=re.compile("^Head")).get_by_role("combobox").click()


def choose_head(page: Page, number: int) -> None:
    page.get_by_role("option", name=str(number % 8 + 1), exact=True).click()


def change(page: Page, number: int) -> None:
    page.get_by_role("button", name="Change").click()


def close_cell(page: Page, number: int) -> None:
    """Click a cell of the mask below the diagonal, another one for each number."""
    size = page.evaluate("find('canvas.editable')[0].getBoundingClientRect().width")
    tokens = page.evaluate(TOKENS)
    places = [(query, key) for query in range(2, tokens) for key in range(1, query)]
    query, key = places[number % len(places)]
    side = (size - MATRIX_LABEL - MATRIX_SLANT) / tokens
    position: Position = {
        "x": MATRIX_LABEL + side * (key + 0.5),
        "y": MATRIX_LABEL + side * (query + 0.5),
    }
    page.locator("canvas.editable").click(position=position)


def switch_off(page: Page, number: int) -> None:
    """Switch off the next head of the cross-attention."""
    page.locator(".switchboard .head").nth(48 + number % 24).click()


def step(page: Page, number: int) -> None:
    forward = page.get_by_role("button", name="Step forward").first
    (forward if number % 10 < 5 else page.get_by_role("button", name="Step back").first).click()


def ready(page: Page, pictures: Sequence[str]) -> None:
    """Wait until the pictures are drawn and the server has finished its run."""
    page.wait_for_function(f"(pictures) => {IDLE} && pictures.every(look)", arg=pictures)
    page.wait_for_timeout(SETTLED)


def one_click(page: Page, click: Click, number: int) -> float:
    """Click, and return the milliseconds from the input event to the pictures' new pixels."""
    ready(page, click.pictures)
    click.prepare(page, number)
    page.evaluate("(pictures) => watch(pictures)", click.pictures)
    click.act(page, number)
    try:
        return page.evaluate(f"Promise.race([watched, after({1000 * LIMIT})])")
    except Error as error:
        raise RuntimeError(
            f"Click {number} on {click.path} did not change every picture."
        ) from error


def clicks(browser: Browser, addresses: Sequence[str], case: str, most: int) -> Case:
    """Click our page and the bare page in turns, compare the times; the first clicks warm up."""
    pages = [open_page(browser) for _ in addresses]
    for page, address, click in zip(pages, addresses, CASES[case], strict=True):
        page.goto(address + click.path)
    times: tuple[list[float], list[float]] = ([], [])
    begin = time.monotonic()
    for number in range(most + WARMING):
        if time.monotonic() - begin > LONGEST and number >= WARMING + 2:
            break
        for page, click, taken in zip(pages, CASES[case], times, strict=True):
            taken.append(one_click(page, click, number))
    for page in pages:
        page.context.close()
    print(f"{case} measured", file=sys.stderr)
    return case_of(case, *(taken[WARMING:] for taken in times), unit="ms")


def start(browser: Browser, script: str, path: str, picture: str) -> float:
    """Return the seconds from the command that starts the server to a picture in the browser."""
    page = open_page(browser)
    begin = time.perf_counter()
    with serving(script) as address:
        page.goto(address + path)
        page.evaluate("(picture) => until(() => find(picture).length)", picture)
        seconds = time.perf_counter() - begin
        page.context.close()
    return seconds


def starts(browser: Browser, most: int) -> Case:
    """Start both servers in turns and compare the times; the first start of each warms up."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(most + 1):
        times[0].append(start(browser, "app.py", "", DRAWN_GRID))
        times[1].append(start(browser, BARE, "?torch", CHART))
    return case_of("start", *(taken[1:] for taken in times), unit="s")


def case_of(case: str, ours: list[float], bare: list[float], unit: str) -> Case:
    """Return a case of both medians; its note has the range of the middle half of the ratios."""
    low, _, high = quantiles([one / other for one, other in zip(ours, bare, strict=True)], n=4)
    note = f"{len(ours)} pairs, half of them {low:.2f} to {high:.2f}"
    return Case(case, median(ours), median(bare), unit, median(ours) / median(bare), note)


def open_page(browser: Browser) -> Page:
    """Return a page with its own cache, tall enough to show every picture that is watched."""
    view: ViewportSize = {"width": 1280, "height": 1600}
    page = browser.new_context(viewport=view, bypass_csp=True).new_page()  # for WATCH
    page.set_default_timeout(1000 * LIMIT)
    page.add_init_script(SCRIPT + WATCH)
    return page


AT = urlencode({"sentence": SENTENCE})
PROBABILITIES = ".probability-bars"
BUTTON = Click("/", (CHART,), change)
BARE_HEAD = Click("/", (CHART,), choose_head, open_heads)
BARE_SENTENCE = Click("/", (CHART,), enter, fill)
CASES = {
    "sentence": (
        Click(f"/?{AT}&picture=heatmap", (TRANSLATION, GRID, HEATMAP), enter, fill),
        BARE_SENTENCE,
    ),
    "head": (
        Click(f"/?{AT}&picture=heatmap&head=8", (HEATMAP,), choose_head, open_heads),
        BARE_HEAD,
    ),
    "mask cell": (
        Click(f"/masks?{AT}&layer=1", ("canvas.editable", WEIGHTS, PROBABILITIES), close_cell),
        BUTTON,
    ),
    "head off": (
        Click(f"/heads?{AT}", (".switchboard", PROBABILITIES, HEATMAP), switch_off),
        BUTTON,
    ),
    "step": (Click(f"/decoding?{AT}", (".decoding-player",), step), BUTTON),
}


def main() -> None:
    """Measure and report."""
    parser = page_options()
    names = [*CASES, "start"]
    parser.add_argument("--cases", nargs="+", choices=names, default=names, metavar="CASE")
    parser.add_argument("--clicks", type=int, default=24, help="measured clicks of each case")
    parser.add_argument("--starts", type=int, default=5, help="measured starts")
    options = parser.parse_args()
    chromium_path()  # before `sync_playwright`, because this call starts Playwright itself
    cases = []
    with sync_playwright() as playwright, browsing(playwright) as browser:
        clicked = [case for case in options.cases if case in CASES]
        if clicked:
            with serving("app.py") as ours, serving(BARE) as bare:
                cases += [clicks(browser, (ours, bare), case, options.clicks) for case in clicked]
        if "start" in options.cases:
            cases.append(starts(browser, options.starts))
    publish(cases, options, "Interaction and start", meaning(__doc__))


if __name__ == "__main__":
    main()
