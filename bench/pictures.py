"""python -m bench.pictures: all heads of a 12-by-12 model in a browser, compared with BertViz.

Both draw the same random weights, which are made before the clock starts, in headless Chromium
(Linux only).

Ours is a Streamlit page, already open, made of the parts of the app's Attention page: the grid of
all heads and the lines of one head, on the components that the pages mount.

- `seconds`: from the click that asks for the pictures, through the server, which builds both and
  sends them, to a frame that shows them. BertViz: from opening the finished page to a frame with
  all its lines; the time to build that page is not counted.
- `build seconds`: only the calls in Python that build the pictures. BertViz: the calls that write
  the page.
- `bytes`: what the page received for that click. BertViz: the size of the page.
- `memory`: the most that the page's process has held; ours includes the rest of Streamlit.
- `layer seconds`: from a click on a small map of another layer to the frame with the lines of that
  head and the map marked. BertViz: from choosing a layer to the frame with its lines.
- `hover ms`: from pointing at a token next to the lines to the frame with only its lines.

The times are medians of up to five measurements, or of fewer if they take long. A BertViz page is
stopped after `--limit` seconds or at `--memory` gigabytes; its figures are then lower bounds, and
say so. Ours is also drawn with 512 tokens and compared with itself at 128.
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Browser, Error, Page, Playwright, sync_playwright

from bench.bertviz_pages import build, serve_scripts
from bench.browser import SCRIPT, browsing, process_id, renderer_peak, serving, typical
from bench.performance import meaning, page_options, publish
from bench.random_heads import HEADS, LAYERS, names, random_weights
from bench.report import Case
from headlight.viz import attention_lines, head_grid
from tests.browser.install import chromium_path

TOKENS = (16, 32, 64, 128, 256)
GROWTH = (512, 128)
MEGABYTE = 1e6
UNITS = {"seconds": "s", "bytes": "MB", "memory": "MB", "hover ms": "ms"}

Figures = dict[str, float]

OURS_DRAWN = f"""
  const drawn = (place, before) => {{
    const [grid] = find(".head-grid canvas");
    const [lines] = find(".attention-lines canvas");
    return grid?.style.width && lines?.style.width && lines !== before &&
      find(".map").length === {LAYERS * HEADS} &&
      find('.map[aria-pressed="true"]')[0]?.dataset.index === String(place);
  }};
"""
OURS_CLICK = f"""async () => {{ {OURS_DRAWN}
  const begin = performance.now();
  find("button").find((button) => button.textContent === "Draw").click();
  await until(() => drawn(0));
  return (performance.now() - begin) / 1000;
}}"""
OURS_LAYER = f"""async (place) => {{ {OURS_DRAWN}
  const [before] = find(".attention-lines canvas");
  const begin = performance.now();
  find(".map")[place].click();
  await until(() => drawn(place, before));
  return (performance.now() - begin) / 1000;
}}"""
THEIRS_LAYER = """async (layer) => {
  const choice = document.querySelector("#layer");
  await shown();
  const begin = performance.now();
  choice.value = layer;
  choice.dispatchEvent(new Event("change", { bubbles: true }));
  await shown();
  return (performance.now() - begin) / 1000;
}"""
HOVER = """async ([selector, event, place]) => {
  const token = find(selector)[place];
  await shown();
  const begin = performance.now();
  token.dispatchEvent(new PointerEvent(event, { bubbles: true }));
  await shown();
  return performance.now() - begin;
}"""


def pointing(page: Page, selector: str, event: str) -> float:
    """Point at one token after the other; return the milliseconds until only its lines show."""
    places = iter(range(5))
    return typical(lambda: page.evaluate(HOVER, [selector, event, next(places)]))


def layers(page: Page, script: str, step: int) -> float:
    """Return the seconds to show another layer; `script` is given the layer times `step`."""
    places = iter(range(step, LAYERS * step, step))
    return typical(lambda: page.evaluate(script, next(places)))


def seconds_of(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def ours(playwright: Playwright, address: str, tokens: int) -> Figures:
    """Return the figures of the app's own parts: all heads, and the lines of one."""
    weights, words = random_weights(tokens), names(tokens)
    built = typical(
        lambda: seconds_of(
            lambda: (
                head_grid(weights, words, selected=(0, 0)),
                attention_lines(weights[0, 0], words),
            )
        )
    )
    figures: Figures = {}

    def visit() -> float:
        received = 0

        def count(payload: str | bytes) -> None:
            nonlocal received
            received += len(payload)

        with browsing(playwright) as browser:
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.add_init_script(SCRIPT)
            page.on("websocket", lambda socket: socket.on("framereceived", count))
            page.goto(f"{address}/?tokens={tokens}")
            page.get_by_role("button", name="Draw").wait_for()
            page.wait_for_load_state("networkidle")
            received = 0
            seconds = page.evaluate(OURS_CLICK)
            figures["bytes"] = received / MEGABYTE
            figures["memory"] = renderer_peak(process_id(browser)) / MEGABYTE
            figures["layer seconds"] = layers(page, OURS_LAYER, HEADS)
            figures["hover ms"] = pointing(page, ".token.query", "pointerenter")
        return seconds

    return {"build seconds": built, "seconds": typical(visit, most=3), **figures}


def theirs(
    playwright: Playwright, view: str, tokens: int, limit: float, most_memory: float
) -> tuple[Figures, str]:
    """Return the figures of a view of BertViz, and why it was stopped; empty if it was not."""
    lines = (LAYERS if view == "model_view" else 1) * HEADS * tokens * tokens
    with tempfile.TemporaryDirectory() as folder, browsing(playwright) as browser:
        file = Path(folder) / "page.html"
        figures = {"build seconds": seconds_of(lambda: build(view, tokens, file))}
        figures["bytes"] = file.stat().st_size / MEGABYTE
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.set_default_timeout(1000 * limit)
        page.add_init_script(SCRIPT)
        serve_scripts(page)
        stopped = ""
        begin = time.perf_counter()
        with Watch(browser, most_memory) as watch:
            try:
                page.goto(file.as_uri(), wait_until="commit")
                drawn = f"document.querySelectorAll('#vis line').length === {lines}"
                page.wait_for_function(drawn, timeout=1000 * limit)
                page.evaluate("shown()")
            except Error:
                stopped = watch.reason or f"given up after {limit:.0f} s"
            figures["seconds"] = time.perf_counter() - begin
        figures["memory"] = watch.peak / MEGABYTE
        if view == "head_view" and not stopped:
            figures["layer seconds"] = layers(page, THEIRS_LAYER, 1)
            figures["hover ms"] = pointing(page, "#left > g:last-child > g", "mouseover")
        return figures, stopped


class Watch(threading.Thread):
    """Reads a browser's memory twice a second, and ends the browser if it takes too much."""

    def __init__(self, browser: Browser, most_memory: float) -> None:
        super().__init__(daemon=True)
        self.process, self.most = process_id(browser), most_memory
        self.peak, self.reason, self.over = 0, "", threading.Event()

    def run(self) -> None:
        """Read the memory until the page is drawn or too large."""
        while not self.over.wait(0.5) and not self.reason:
            self.look()

    def look(self) -> None:
        self.peak = max(self.peak, renderer_peak(self.process))
        if self.peak > self.most:
            self.reason = f"given up at {self.most / 1e9:.0f} GB"
            with suppress(ProcessLookupError):
                os.kill(self.process, signal.SIGKILL)

    def __enter__(self) -> Watch:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.join()
        self.look()


def cases_of(view: str, tokens: int, mine: Figures, peer: Figures, note: str) -> list[Case]:
    """Return a case for each figure that both sides have."""
    name = view.replace("_", " ")
    return [
        Case(
            f"{name} {tokens} {quantity}",
            mine[quantity],
            figure,
            UNITS.get(quantity, "s"),
            mine[quantity] / figure,
            note if quantity in ("seconds", "memory") else "",
        )
        for quantity, figure in peer.items()
    ]


def main() -> None:
    """Measure and report."""
    parser = page_options()
    parser.add_argument("--tokens", type=int, nargs="+", default=TOKENS, metavar="N")
    parser.add_argument("--limit", type=float, default=150, help="seconds for a page of BertViz")
    parser.add_argument("--memory", type=float, default=8, help="gigabytes for a page of BertViz")
    options = parser.parse_args()
    chromium_path()  # before `sync_playwright`, because this call starts Playwright itself
    cases: list[Case] = []
    with serving("bench/pages/all_heads.py") as address, sync_playwright() as playwright:
        mine = {tokens: ours(playwright, address, tokens) for tokens in {*options.tokens, *GROWTH}}
        for tokens in options.tokens:
            for view in ("head_view", "model_view"):
                peer, note = theirs(playwright, view, tokens, options.limit, 1e9 * options.memory)
                cases += cases_of(view, tokens, mine[tokens], peer, note)
    large, small = GROWTH
    cases += cases_of(f"ours next to {small} tokens,", large, mine[large], mine[small], "")
    publish(cases, options, "Pictures", meaning(__doc__))


if __name__ == "__main__":
    main()
