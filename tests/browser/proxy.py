"""A way to the server that can be cut, as a wireless network's is."""

import contextlib
import socket
import threading


class Proxy:
    """Hands on what a browser and a server send each other, until `cut` or while it `refuses`."""

    def __init__(self, host, port):
        self.server = host, port
        self.refuses = False  # whether new connections end at once, as if the server were gone
        self.swallows = False  # whether what the browser sends is lost on the way
        self.heard = threading.Event()  # that the browser sent something
        self.ends = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):  # closed
            while True:
                browser, _ = self.listener.accept()
                if self.refuses:
                    close(browser)
                    continue
                server = socket.create_connection(self.server)
                self.ends += [browser, server]
                for ends in ((browser, server), (server, browser)):
                    threading.Thread(target=self.hand_on, args=ends, daemon=True).start()

    def hand_on(self, sender, receiver):
        from_browser = receiver.getpeername() == self.server
        with contextlib.suppress(OSError):
            while data := sender.recv(1 << 16):
                if from_browser:
                    self.heard.set()
                if not (from_browser and self.swallows):
                    receiver.sendall(data)
        close(sender, receiver)

    def cut(self):
        """End all connections; new ones are handed on."""
        ends, self.ends, self.swallows = self.ends, [], False
        close(*ends)

    def close(self):
        self.listener.close()
        self.cut()


def close(*ends):
    for end in ends:
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()
