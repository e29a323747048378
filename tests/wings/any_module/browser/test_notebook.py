"""The page that the address of a model in memory opens, and its frame in a notebook."""

import contextlib
import os
import re
import socket
import subprocess
from threading import Thread

import pytest

from tests.browser.rest import settled
from tests.matrix import first_of
from tests.wings.any_module.test_notebook import NOTEBOOK, start


@pytest.mark.matrix
def test_its_heads_are_on_the_page_that_the_address_opens(page):
    with start(NOTEBOOK + "sys.stdin.read()", stdin=subprocess.PIPE) as notebook:
        address = notebook.stdout.readline().strip().rpartition(": ")[2]
        page.goto(address)
        settled(page)
        page.get_by_text("What the model reads: 6 tokens.").wait_for()
        notebook.stdin.close()
    assert notebook.returncode == 0


def answered(connection, app, prefix, page):
    """Pass a request under a prefix on to the app, and answer any other one with a page."""
    head = b""
    while b"\r\n\r\n" not in head:
        head += connection.recv(65536) or b"\r\n\r\n"
    method, _, rest = head.partition(b" ")
    if not rest.startswith(prefix):
        text = page().encode()
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n")
        connection.sendall(b"content-length: %d\r\nconnection: close\r\n\r\n" % len(text) + text)
        connection.close()
        return
    if b"\r\nupgrade: websocket" not in head.lower():
        rest = re.sub(rb"\r\n[Cc]onnection: [^\r]*", b"\r\nconnection: close", rest)
    with contextlib.suppress(ConnectionRefusedError):  # the notebook has ended
        behind = socket.create_connection(("127.0.0.1", app))
        behind.sendall(method + b" /" + rest.removeprefix(prefix))
        Thread(target=passed_on, args=(connection, behind), daemon=True).start()
        passed_on(behind, connection)


def passed_on(source, target):
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@pytest.fixture
def notebook_server():
    """A function that serves a page, and an app's port under a prefix; it returns the port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(page, app=0, prefix=b"/no prefix"):
        def accept():
            with contextlib.suppress(OSError):
                while True:
                    each, _ = listener.accept()
                    Thread(target=answered, args=(each, app, prefix, page), daemon=True).start()

        Thread(target=accept, daemon=True).start()
        return listener.getsockname()[1]

    yield serve
    listener.close()


@pytest.mark.parametrize(
    ("host", "prefix"),
    [("127.0.0.1", ""), *first_of([("localhost", ""), ("127.0.0.1", "/user/ada/")], 0)],
)
def test_the_frame_shows_the_app_by_the_notebooks_own_host(page, notebook_server, host, prefix):
    code = NOTEBOOK + "print(shown._repr_html_().replace('\\n', ' '), flush=True); sys.stdin.read()"
    environment = {**os.environ, **({"JUPYTERHUB_SERVICE_PREFIX": prefix} if prefix else {})}
    with start(code, stdin=subprocess.PIPE, env=environment) as notebook:
        lines = [notebook.stdout.readline() for _ in range(3)]
        app = int(re.search(r'"port": (\d+)', lines[2])[1])
        way = f"{prefix}proxy/{app}/".encode() if prefix else b"/no prefix"
        port = notebook_server(lambda: f"<!doctype html><body>{lines[2]}", app, way)
        page.goto(f"http://{host}:{port}/notebook")
        page.frame_locator("iframe").get_by_text("What the model reads: 6 tokens.").wait_for()
        expected = (
            f"http://{host}:{port}{prefix}proxy/{app}/" if prefix else f"http://{host}:{app}/"
        )
        assert page.locator("p a").get_attribute("href").startswith(f"{expected}?token=")
        assert any(
            frame.url.startswith(expected) and "token" not in frame.url for frame in page.frames
        )
        notebook.stdin.close()
