"""Another host than the app's, which answers what a test gives it."""

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer


@contextlib.contextmanager
def listening(page=b""):
    """A server that answers everything with one page; yields its address and what it was asked."""
    asked = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.requestline)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page)

        do_CONNECT = do_POST = do_GET

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
