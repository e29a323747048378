"""Firefox and WebKit, driven by their own protocols: WebDriver BiDi, and WebDriver over HTTP.

Both run without a screen, in a window of 1280 by 720 with scroll bars that take room and with a
mouse, as most people have them.
"""

import base64
import contextlib
import json
import os
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from websockets.sync.client import connect

from tests.browser.conftest import _free_port as free_port
from tests.browser.rest import AGAIN, TIMEOUT_MS
from tests.browsers.install import minibrowser

WIDTH, HEIGHT = 1280, 720
STARTING = 60  # seconds
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
PREFERENCES = {
    "ui.primaryPointerCapabilities": 6,  # a mouse, which a browser without a screen lacks
    "ui.allPointerCapabilities": 6,
    "widget.gtk.overlay-scrollbars.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
}
GTK = "[Settings]\ngtk-overlay-scrolling=false\n"
SEEN = Path(__file__).with_name("seen.js").read_text(encoding="utf-8")
# Errors that a page of WebKit tells from here on: its driver reports none.
LISTEN = """(() => {
  if (window.told) return;
  window.told = [];
  const tell = (...words) => told.push(words.map((word) => word?.stack ?? word).join(" "));
  console.error = tell;
  addEventListener("error", (event) => tell(event.message));
  addEventListener("unhandledrejection", (event) => tell(event.reason));
  addEventListener("securitypolicyviolation", (event) => tell(event.violatedDirective, event.blockedURI));
})()"""


class PageError(Exception):
    """What is evaluated in a page failed there."""


def until(state, *passing, seconds=TIMEOUT_MS / 1000):
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
        """Click in the middle of an element in sight, by its words, once it keeps its place."""
        before = None

        def is_at_rest():
            nonlocal before
            last, before = before, self.evaluate("placeOf", selector, words, at)
            return before and before == last

        is_at_rest.__doc__ = f"{selector} {words} keeps its place in sight"
        until(is_at_rest, PageError)
        self.click(*before)

    def turn_back_to(self, window):
        """Close all windows but this one."""
        for other in self.windows():
            if other != window:
                self.turn_to(other)
                self.close_window()
        self.turn_to(window)

    def fill(self, selector, text):
        """Replace what a box of text holds."""
        self.click_on(selector)
        self.press("Control", "a")
        self.type(text)


class Firefox(Browser):
    name = "firefox"

    def __init__(self):
        super().__init__()
        profile = self.folder()
        lines = (f"user_pref({json.dumps(key)}, {json.dumps(PREFERENCES[key])});" for key in PREFERENCES)
        (profile / "user.js").write_text("\n".join(lines))
        flags = ["--headless", "--no-remote", "--remote-debugging-port=0", "--profile", str(profile)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.started("firefox-esr", *flags, "about:blank", **quiet)
        told = profile / "WebDriverBiDiServer.json"
        address = until(lambda: json.loads(told.read_text()), OSError, ValueError, seconds=STARTING)
        url = f"ws://{address['ws_host']}:{address['ws_port']}/session"
        self.socket = self.closing.enter_context(connect(url, max_size=None))
        self.sent, self.told = 0, []
        self.version = self.call("session.new", capabilities={})["capabilities"]["browserVersion"]
        self.call("session.subscribe", events=["log.entryAdded"])
        (self.window,) = self.windows()
        self.call("browsingContext.setViewport", context=self.window, viewport={"width": WIDTH, "height": HEIGHT})

    def call(self, method, **parameters):
        self.sent += 1
        self.socket.send(json.dumps({"id": self.sent, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv(TIMEOUT_MS / 1000))
            if message["type"] == "event":
                entry = message["params"]
                if entry["level"] == "error":
                    self.told.append(entry["text"])
            elif message["id"] == self.sent:
                if message["type"] == "error":
                    raise PageError(message["message"])
                return message["result"]

    def open(self, url):
        self.call("browsingContext.navigate", context=self.window, url=url, wait="complete")

    def run(self, promise):
        result = self.call(
            "script.evaluate",
            expression=f"{promise}.then((value) => JSON.stringify(value ?? null))",
            target={"context": self.window},
            awaitPromise=True,
        )
        if result["type"] == "exception":
            raise PageError(result["exceptionDetails"]["text"])
        return result["result"]["value"]

    def act(self, kind, actions):
        source = {"type": kind, "id": kind, "actions": actions}
        self.call("input.performActions", context=self.window, actions=[source])

    def screenshot(self):
        return base64.b64decode(self.call("browsingContext.captureScreenshot", context=self.window)["data"])

    def windows(self):
        tree = self.call("browsingContext.getTree", maxDepth=0)
        return [each["context"] for each in tree["contexts"]]

    def turn_to(self, window):
        self.window = window

    def close_window(self):
        self.call("browsingContext.close", context=self.window)

    def errors(self):
        """The errors in the console since the last time."""
        told, self.told = self.told, []
        return told


class WebKit(Browser):
    name = "webkit"

    def __init__(self):
        super().__init__()
        settings = self.folder() / "gtk-3.0" / "settings.ini"
        settings.parent.mkdir()
        settings.write_text(GTK)
        told, tells = os.pipe()
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        size = f"{WIDTH + 100}x{HEIGHT + 200}x24"
        screen = ["Xvfb", "-displayfd", str(tells), "-nolisten", "tcp", "-screen", "0", size]
        self.started(*screen, pass_fds=[tells], **quiet)
        os.close(tells)
        with open(told) as number:
            display = f":{number.readline().strip()}"
        port = free_port()
        own = {"DISPLAY": display, "XDG_CONFIG_HOME": str(settings.parents[1])}
        self.started("WebKitWebDriver", "-p", str(port), env=os.environ | own, **quiet)
        options = {"binary": minibrowser(), "args": ["--automation"]}
        wanted = {"alwaysMatch": {"webkitgtk:browserOptions": options}}
        self.path = f"http://127.0.0.1:{port}/session"
        begun = until(lambda: self.call("", capabilities=wanted), OSError, seconds=STARTING)
        self.path += f"/{begun['sessionId']}"
        self.version = begun["capabilities"]["browserVersion"]
        self.closing.callback(lambda: self.call("", "DELETE"))
        self.call("/window/rect", x=0, y=0, width=WIDTH, height=HEIGHT)
        bar = HEIGHT - self.evaluate("innerHeight")
        self.call("/window/rect", width=WIDTH, height=HEIGHT + bar)
        self.see(f"innerWidth === {WIDTH} && innerHeight === {HEIGHT}")

    def call(self, path, method="POST", **body):
        data = None if method != "POST" else json.dumps(body).encode()
        request = urllib.request.Request(self.path + path, data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_MS / 1000) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise PageError(json.load(error)["value"]["message"]) from None

    def open(self, url):
        self.call("/url", url=url)
        self.run(f"(async () => {LISTEN})()")

    def run(self, promise):
        script = f"""const done = arguments[0];
          {promise}.then((value) => done([JSON.stringify(value ?? null)]), (error) => done([null, String(error)]));"""
        value, *failed = self.call("/execute/async", script=script, args=[])
        if failed:
            raise PageError(failed[0])
        return value

    def act(self, kind, actions):
        self.call("/actions", actions=[{"type": kind, "id": kind, "actions": actions}])

    def screenshot(self):
        return base64.b64decode(self.call("/screenshot", "GET"))

    def windows(self):
        return self.call("/window/handles", "GET")

    def turn_to(self, window):
        self.call("/window", handle=window)

    def close_window(self):
        self.call("/window", "DELETE")

    def errors(self):
        """The errors in the console since the page has loaded."""
        return self.evaluate("(window.told ?? []).splice(0)")
