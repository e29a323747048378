"""Tools for benches in a browser: serve a page, start Chromium, wait for frames, read memory."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Playwright

from tests.browser.install import LAUNCH, chromium_path

ROOT = Path(__file__).resolve().parent.parent

# `shown()` waits until all earlier changes are on the screen. To know that, it changes a small mark
# in each of the next frames: the browser begins such a frame only after it has drawn the one
# before. `until` tests its condition at the beginning of a frame, so it then waits for only two
# frames. `find` also searches inside the components of a Streamlit page.
SCRIPT = """
const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
window.shown = async (frames = 3) => {
  const mark = document.createElement("div");
  mark.style.cssText = "position: fixed; top: 0; left: 0; width: 1px; height: 1px";
  document.body.append(mark);
  for (let count = 0; count < frames; count++) {
    mark.style.background = count % 2 ? "red" : "green";
    await frame();
  }
  mark.remove();
};
window.find = (selector) =>
  [document, ...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")]
    .flatMap((part) => [...(part.shadowRoot ?? part).querySelectorAll(selector)]);
window.until = async (condition) => {
  while (!condition()) await frame();
  await shown(2);
};
"""


@contextlib.contextmanager
def serving(page: str) -> Iterator[str]:
    with server(page) as (address, _):
        yield address


@contextlib.contextmanager
def server(page: str, *options: str) -> Iterator[tuple[str, int]]:
    """Serve a page with options for `streamlit run`; yield its address and process id."""
    command = ("streamlit", "run", page, "--server.headless", "true")
    with started(*command, "--logger.level", "warning", *options) as process:
        yield process


@contextlib.contextmanager
def started(*command: str) -> Iterator[tuple[str, int]]:
    """Run a module as a server on a free port; yield its address and process id."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    where = ("--server.address", "127.0.0.1", "--server.port", str(port))
    process = subprocess.Popen(
        [sys.executable, "-m", *command, *where],
        cwd=ROOT,
        env={"HEADLIGHT_TOKEN": "", **os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(2400):
            with contextlib.suppress(urllib.error.URLError):
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=5)
                break
            if process.poll() is not None:
                raise RuntimeError("The server of the page did not start; its messages are above.")
            time.sleep(0.05)
        yield address, process.pid
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def browsing(playwright: Playwright) -> Iterator[Browser]:
    """Start a new Chromium for one page, so that the page's memory can be read; yield it."""
    browser = playwright.chromium.launch(executable_path=chromium_path(), **LAUNCH)
    try:
        yield browser
    finally:
        browser.close()


def process_id(browser: Browser) -> int:
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    return next(process["id"] for process in processes if process["type"] == "browser")


def renderer_peak(browser_process: int) -> int:
    """Return the most bytes that any page of a browser has held, read from Linux's /proc."""
    parents, peaks = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # the process may have just ended
            lines = (folder / "status").read_text().splitlines()
            status = dict(line.split(":", 1) for line in lines)
            parents[int(folder.name)] = int(status["PPid"])
            if b"--type=renderer" in (folder / "cmdline").read_bytes():
                peaks[int(folder.name)] = 1024 * int(status["VmHWM"].split()[0])

    def belongs(process: int) -> bool:
        return process == browser_process or (process in parents and belongs(parents[process]))

    return max((peak for process, peak in peaks.items() if belongs(process)), default=0)


def typical(measure: Callable[[], float], most: int = 5, seconds: float = 10) -> float:
    """Return the median of up to `most` measurements; none begins after `seconds` seconds."""
    taken = []
    begin = time.monotonic()
    while not taken or (len(taken) < most and time.monotonic() - begin < seconds):
        taken.append(measure())
    return median(taken)
