"""What a test does with a browser that is driven by its own protocol, Firefox or WebKit.

Both run without a screen, in a window of 1280 by 720 with scroll bars that take room and with a
mouse, as most people have them.
"""

import contextlib
import json
import subprocess
import tempfile
import time
from pathlib import Path

from tests.browser.rest import AGAIN

WIDTH, HEIGHT = 1280, 720
LONGEST = 300  # seconds for what is waited for, such as a whole talk being saved
STARTING = 60  # seconds
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
KEYS = {  # as the protocols write them
    "Tab": "\ue004",
    "Enter": "\ue007",
    "Control": "\ue009",
    "Escape": "\ue00c",
    "PageUp": "\ue00e",
    "PageDown": "\ue00f",
    "End": "\ue010",
    "Home": "\ue011",
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
}
SEEN = Path(__file__).with_name("seen.js").read_text(encoding="utf-8")


class PageError(Exception):
    """What is evaluated in a page failed there."""


def until(state, *passing, seconds=LONGEST):
    """Wait until a function returns something true, and return that.

    Exceptions of the types `passing` say that it is not so yet.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            if value := state():
                return value
        except passing:
            if time.monotonic() > deadline:
                raise
        assert time.monotonic() < deadline, f"This never came to hold: {state.__doc__ or state}"
        time.sleep(AGAIN / 1000)


class Browser:
    """What both can do; a subclass opens, evaluates, acts and takes pictures in its own way."""

    def __init__(self):
        self.closing = contextlib.ExitStack()

    def started(self, *command, **options):
        """Start a process that ends with the browser."""
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, **options)
        self.closing.callback(process.wait, 20)
        self.closing.callback(process.terminate)
        return process

    def folder(self):
        return Path(self.closing.enter_context(tempfile.TemporaryDirectory()))

    def evaluate(self, expression, *values):
        """The value of an expression, or of a function of values, with what seen.js has."""
        if values:
            expression = f"({expression})(...{json.dumps(values)})"
        return json.loads(self.run(f"(async () => {{ {SEEN}\nreturn {expression}; }})()"))

    def see(self, expression, *values):
        """Wait until something is true in the page, and return it."""

        def is_seen():
            return self.evaluate(expression, *values)

        is_seen.__doc__ = f"{expression} {values or ''}"
        return until(is_seen, PageError)

    def point(self, x, y, *presses):
        move = {"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0}
        self.act("pointer", [move, *({"type": each, "button": 0} for each in presses)])

    def click(self, x, y):
        self.point(x, y, "pointerDown", "pointerUp")

    def press(self, *keys):
        """Press keys at once, each by its letter or its name."""
        keys = [KEYS.get(key, key) for key in keys]
        down = [{"type": "keyDown", "value": key} for key in keys]
        self.act("key", down + [{"type": "keyUp", "value": key} for key in reversed(keys)])

    def type(self, text):
        for letter in text:
            self.press(letter)

    def click_on(self, selector, words="", at=0):
        """Click in the middle of an element in sight, by its words, until a click reaches it.

        What stands before it may come late and move it, even right before a click.
        """
        before = None

        def is_at_rest():
            nonlocal before
            last, before = before, self.evaluate("placeOf", selector, words, at)
            return before and before == last

        def is_clicked():
            until(is_at_rest, PageError)
            self.evaluate("awaitClick", selector, words, at)
            self.click(*before)
            try:
                return self.evaluate("isClicked()")
            except PageError:  # the click has left the page
                return True

        is_at_rest.__doc__ = f"{selector} {words} keeps its place in sight"
        is_clicked.__doc__ = f"{selector} {words} is clicked"
        until(is_clicked, PageError)

    def turn_back_to(self, window):
        """Close all windows but this one."""
        for other in self.windows():
            if other != window:
                self.turn_to(other)
                self.close_window()
        self.turn_to(window)

    def fill(self, selector, text):
        """Replace what a box of text holds; the page may move it from under the pointer."""

        def has_focus():
            """The box of text has the focus."""
            self.click_on(selector)
            return self.evaluate("hasFocus", selector)

        until(has_focus, PageError)
        self.press("Control", "a")
        self.type(text)
