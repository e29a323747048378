"""Find a Chromium for the browser tests, or install one: python -m tests.browser.install.

In this order: the one that the environment variable CHROMIUM names, Playwright's own,
the system's. Only a browser that has really started counts.
"""

import contextlib
import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from typing import Any

from playwright.sync_api import Error, sync_playwright

# No sandbox, since the tests may run as root; nothing that calls other hosts; and scroll bars that
# take room, which Playwright hides: most visitors have them.
LAUNCH: dict[str, Any] = {
    "args": [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ],
    "ignore_default_args": ["--hide-scrollbars"],
}
SYSTEM_NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]


class NoBrowserError(Exception):
    """No Chromium starts on this machine."""


@functools.cache
def chromium_path() -> str | None:
    """Return what launch(executable_path=...) takes; None stands for Playwright's own."""
    chosen = os.environ.get("CHROMIUM")
    if chosen:
        if not _starts(chosen):
            raise NoBrowserError(f"CHROMIUM is set to {chosen}, which does not start.")
        return chosen
    installed = filter(None, map(shutil.which, SYSTEM_NAMES))
    for path in [None, *installed]:
        if _starts(path):
            return path
    raise NoBrowserError(
        "No usable Chromium: install one by hand (apt-get install chromium, or Google Chrome), "
        "or set the environment variable CHROMIUM to the path of one."
    )


def install() -> None:
    """Try each way to get a browser until one starts."""
    if os.environ.get("CHROMIUM") or _found():
        return
    playwright = [sys.executable, "-m", "playwright"]
    downloaded = attempt([*playwright, "install", "chromium"], seconds=600)
    if downloaded and _found():
        return
    root = root_prefix()
    if root is None or not shutil.which("apt-get"):
        return
    # A download that does not start lacks libraries of the system.
    if downloaded and attempt([*root, *playwright, "install-deps", "chromium"], 600) and _found():
        return
    apt_get = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    attempt([*apt_get, "update"], seconds=300)
    attempt([*apt_get, "install", "-y", "chromium"], seconds=900)


def _found() -> bool:
    with contextlib.suppress(NoBrowserError):
        chromium_path()
        return True
    return False


def _starts(path: str | None) -> bool:
    try:
        with sync_playwright() as playwright:
            launch = playwright.chromium.launch
            launch(executable_path=path, timeout=60_000, **LAUNCH).close()
    except Error:
        return False
    return True


def root_prefix() -> list[str] | None:
    """What to put before a command that needs root; None where root is out of reach."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return []
    if shutil.which("sudo") and attempt(["sudo", "-n", "true"], seconds=10):
        return ["sudo", "-n"]
    return None


def attempt(command: list[str], seconds: int) -> bool:
    """Run a command without input; say why if it fails or takes too long."""
    print("$", *command, flush=True)
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        # In a session of its own, so that a download that hangs ends with its children.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            if process.wait(seconds) == 0:
                return True
            print(f"failed with status {process.returncode}:", flush=True)
        except subprocess.TimeoutExpired:
            print(f"stopped after {seconds} s:", flush=True)
        finally:
            if process.poll() is None:
                with contextlib.suppress(PermissionError):  # what sudo started
                    os.killpg(process.pid, signal.SIGKILL)
        log.seek(0)
        said = [line for line in log if not line.startswith("    at ")]  # no stack traces
        print(*said[-3:], sep="", flush=True)
    return False


def main() -> None:
    """Install a browser if there is none, and say which one the tests use."""
    try:
        install()
        print("Browser for the tests:", chromium_path() or "Playwright's own Chromium")
    except NoBrowserError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
