"""python -m bench.split: where the time of a click goes, for the clicks of bench.app.

The clicks and pages are the same. The first four parts add up to the time until the pixels are new:

- `asked`: from the event to the page's message to the server.
- `begun`: from there to the server's first message back.
- `answered`: from there until the page reads the last message before the pictures were complete.
- `drawn`: from there to the pixels, including two frames of waiting for the screen.

The other parts count everything that a click sets off until the page is idle, including what comes
after the pictures that are waited for. They are CPU times, which depend little on what else runs:

- `server`: of the server's process.
- `script`: of the page's code: Streamlit's, React's and ours; `layout`: of styles and layout;
  `page`: of all work of the page's main thread, including these two and painting.
- `messages` and `bytes`: what the server sent.

Compared with the bare page, a click takes longer from `begun` on. Until the pictures are sent, the
server takes about 10 ms for a head; 20 for a cell or a head off, half of it for the model; and 50
for a sentence, half of it to write the translation. Then the messages wait as long again for the
page's main thread, which is busy from the first message to the pictures: React goes through the
tree of some 60 elements (the bare page has 6) when a run begins, when its messages come and when it
ends, and a frame is painted in between. Sending all messages of a run at once, and leaving out the
whole sidebar, save less than a tenth each; other intervals of Python and Streamlit save nothing. An
element that does not change costs the page, with each click, 0.03 to 0.3 ms (text, a button, a
box), 0.5 to 0.6 (one of our parts, a heading, a switch) or 0.8 to 1.2 (a popover, a pair of
columns). With a quarter fewer elements, three of the four stages among them, the page Masks answers
an eighth sooner.
"""

from __future__ import annotations

import os
import sys
from statistics import fmean, median
from typing import NamedTuple

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from bench.app import BARE, CASES, IDLE, WARMING, Click, one_click, open_page
from bench.browser import browsing, server
from bench.performance import meaning, page_options, publish
from bench.report import Case
from tests.browser.install import chromium_path

FRAMES = 2 * 1000 / 60  # milliseconds that `until` waits after the pictures are new
TICKS = os.sysconf("SC_CLK_TCK")
ASKING = [case for case in CASES if case != "step"]  # a decoding step sends the server nothing
PHASES = "asked", "begun", "answered", "drawn"
# Notes in `sent` when messages go out and come in, and in `begun` when a click or key came.
LISTEN = """
window.sent = [];
window.WebSocket = class extends WebSocket {
  constructor(...given) {
    super(...given);
    const note = ({ data }) => sent.push(["in", performance.now(), data.byteLength ?? data.size]);
    this.addEventListener("message", note);
  }
  send(data) {
    sent.push(["out", performance.now(), data.byteLength]);
    super.send(data);
  }
};
for (const kind of ["pointerup", "keydown"]) {
  addEventListener(kind, (event) => (window.begun = event.timeStamp), true);
}
"""


class Server(NamedTuple):
    """The address and the process of a server."""

    address: str
    process: int


def processor_time(process: int) -> float:
    """Return the CPU milliseconds that a process has taken so far (Linux only)."""
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / TICKS


def page_times(session: CDPSession) -> dict[str, float]:
    """Return the CPU milliseconds that a page's main thread has taken so far, by kind of work."""
    named = {"script": "ScriptDuration", "page": "TaskDuration"}
    metrics = {
        entry["name"]: entry["value"] for entry in session.send("Performance.getMetrics")["metrics"]
    }
    times = {name: 1000 * metrics[metric] for name, metric in named.items()}
    return times | {"layout": 1000 * (metrics["LayoutDuration"] + metrics["RecalcStyleDuration"])}


def split(page: Page, session: CDPSession, served: Server, click: Click, number: int) -> dict:
    """Return the times of one click by part."""
    page.evaluate("sent.length = 0")
    before = page_times(session) | {"server": processor_time(served.process)}
    total = one_click(page, click, number)
    page.wait_for_function(IDLE)
    page.wait_for_timeout(300)
    after = page_times(session) | {"server": processor_time(served.process)}
    begin, log = page.evaluate("[begun, sent]")
    out = next(time for way, time, _ in log if way == "out" and time > begin)
    inward = [(time, size) for way, time, size in log if way == "in" and time > out]
    first = inward[0][0]
    last = max(time for time, _ in inward if time <= max(first, begin + total - FRAMES))
    points = [begin, out, first, last, begin + total]
    taken = {
        name: end - start for name, start, end in zip(PHASES, points, points[1:], strict=False)
    }
    taken |= {name: after[name] - before[name] for name in after}
    return taken | {"messages": len(inward), "bytes": sum(size for _, size in inward)}


def splits(browser: Browser, servers: tuple[Server, Server], case: str, most: int) -> list[Case]:
    """Click both pages in turns; return a case for each part of the time."""
    pages, sessions = [], []
    for served, click in zip(servers, CASES[case], strict=True):
        pages.append(open_page(browser))
        pages[-1].add_init_script(LISTEN)
        pages[-1].goto(served.address + click.path)
        sessions.append(pages[-1].context.new_cdp_session(pages[-1]))
        sessions[-1].send("Performance.enable", {"timeDomain": "threadTicks"})
    taken: tuple[list[dict], list[dict]] = ([], [])
    for number in range(most + WARMING):
        given = zip(taken, pages, sessions, servers, CASES[case], strict=True)
        for phases, page, session, served, click in given:
            one_click(page, click, number) if number < WARMING else phases.append(
                split(page, session, served, click, number)
            )
    for page in pages:
        page.context.close()
    print(f"{case} measured", file=sys.stderr)
    return [case_of(case, name, *taken) for name in taken[0][0]]


def case_of(case: str, name: str, ours: list[dict], bare: list[dict]) -> Case:
    """Compare the medians of a part; for the server the means, because its clock is coarse."""
    typical = fmean if name == "server" else median
    mine, others = (typical(click[name] for click in side) for side in (ours, bare))
    unit = {"messages": "", "bytes": "B"}.get(name, "ms")
    return Case(f"{case} {name}", mine, others, unit, mine / others if others else float("inf"))


def main() -> None:
    """Measure and report."""
    parser = page_options()
    parser.add_argument("--cases", nargs="+", choices=ASKING, default=ASKING, metavar="CASE")
    parser.add_argument("--clicks", type=int, default=12, help="measured clicks of each case")
    options = parser.parse_args()
    chromium_path()  # before `sync_playwright`, because this call starts Playwright itself
    cases = []
    with (
        sync_playwright() as playwright,
        browsing(playwright) as browser,
        server("app.py") as ours,
        server(BARE) as bare,
    ):
        servers = Server(*ours), Server(*bare)
        for case in options.cases:
            cases += splits(browser, servers, case, options.clicks)
    publish(cases, options, "Where a click's time goes", meaning(__doc__))


if __name__ == "__main__":
    main()
