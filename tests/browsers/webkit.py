"""WebKit's own small browser, driven by WebDriver over HTTP, on a screen that nobody sees."""

import base64
import json
import os
import urllib.error
import urllib.request

from tests.browser.fixtures import _free_port as free_port
from tests.browser.rest import TIMEOUT_MS
from tests.browsers.driven import HEIGHT, QUIET, STARTING, WIDTH, Browser, PageError, until
from tests.browsers.install import minibrowser

GTK = "[Settings]\ngtk-overlay-scrolling=false\n"
# Errors that a page of WebKit tells from here on: its driver reports none.
LISTEN = """(() => {
  if (window.told) return;
  window.told = [];
  const tell = (...words) => told.push(words.map((word) => word?.stack ?? word).join(" "));
  console.error = tell;
  addEventListener("error", (event) => tell(event.message));
  addEventListener("unhandledrejection", (event) => tell(event.reason));
  addEventListener("securitypolicyviolation", (event) => tell(event.violatedDirective));
})()"""


class WebKit(Browser):
    name = "webkit"
    fills_screen = True

    def __init__(self):
        super().__init__()
        settings = self.folder() / "gtk-3.0" / "settings.ini"
        settings.parent.mkdir()
        settings.write_text(GTK)
        told, tells = os.pipe()
        size = f"{WIDTH + 100}x{HEIGHT + 200}x24"
        screen = ["Xvfb", "-displayfd", str(tells), "-nolisten", "tcp", "-screen", "0", size]
        self.started(*screen, pass_fds=[tells], **QUIET)
        os.close(tells)
        with open(told) as number:
            display = f":{number.readline().strip()}"
        port = free_port()
        own = {"DISPLAY": display, "XDG_CONFIG_HOME": str(settings.parents[1])}
        self.started("WebKitWebDriver", "-p", str(port), env=os.environ | own, **QUIET)
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
        answers = (
            "(value) => done([JSON.stringify(value ?? null)]), (error) => done([0, `${error}`])"
        )
        script = f"const done = arguments[0]; {promise}.then({answers});"
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
