"""A slow network: messages of the server that come late, all of them or for a while."""

import re

from tests.browser.rest import ends_run, until

DRAWN = "() => new Promise(requestAnimationFrame)"  # the page has taken in what came before


class Held:
    """The connection of a page, whose messages from the server can be held back."""

    def __init__(self, page):
        self.page = page
        self.late = []
        self.is_late = False
        page.route_web_socket(re.compile("/_stcore/stream"), self._connect)

    def _connect(self, browser_side):
        self._browser_side = browser_side
        browser_side.connect_to_server().on_message(self._pass_on)

    def _pass_on(self, data):
        if self.is_late:
            self.late.append(data)
        else:
            self._browser_side.send(data)

    def runs(self, count):
        """Wait until the server has ended so many runs of which the page knows nothing yet."""
        until(self.page, lambda: sum(map(ends_run, self.late)) >= count)

    def release(self):
        """Let all messages come, in their order."""
        while self.late:
            self._send_next()
        self.is_late = False

    def release_run(self):
        """Let the messages of one run come, and hold back the others."""
        while not self._send_next():
            pass

    def _send_next(self):
        """Let a message come; return whether it is the last one of a run."""
        data = self.late.pop(0)
        self._browser_side.send(data)
        self.page.evaluate(DRAWN)
        return ends_run(data)
