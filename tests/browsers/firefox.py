"""Firefox, driven by WebDriver BiDi over a socket."""

import base64
import json

from websockets.sync.client import connect

from tests.browser.rest import TIMEOUT_MS
from tests.browsers.driven import HEIGHT, QUIET, STARTING, WIDTH, Browser, PageError, until

PREFERENCES = {
    "ui.primaryPointerCapabilities": 6,  # a mouse, which a browser without a screen lacks
    "ui.allPointerCapabilities": 6,
    "widget.gtk.overlay-scrollbars.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
}


class Firefox(Browser):
    name = "firefox"
    fills_screen = False  # without a screen it refuses any page that asks

    def __init__(self):
        super().__init__()
        profile = self.folder()
        lines = (
            f"user_pref({json.dumps(key)}, {json.dumps(PREFERENCES[key])});" for key in PREFERENCES
        )
        (profile / "user.js").write_text("\n".join(lines))
        flags = [
            "--headless",
            "--no-remote",
            "--remote-debugging-port=0",
            "--profile",
            str(profile),
        ]
        self.started("firefox-esr", *flags, "about:blank", **QUIET)
        told = profile / "WebDriverBiDiServer.json"
        address = until(lambda: json.loads(told.read_text()), OSError, ValueError, seconds=STARTING)
        url = f"ws://{address['ws_host']}:{address['ws_port']}/session"
        self.socket = self.closing.enter_context(connect(url, max_size=None))
        self.sent, self.told = 0, []
        self.version = self.call("session.new", capabilities={})["capabilities"]["browserVersion"]
        self.call("session.subscribe", events=["log.entryAdded"])
        (self.window,) = self.windows()
        self.call(
            "browsingContext.setViewport",
            context=self.window,
            viewport={"width": WIDTH, "height": HEIGHT},
        )

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
        return base64.b64decode(
            self.call("browsingContext.captureScreenshot", context=self.window)["data"]
        )

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
