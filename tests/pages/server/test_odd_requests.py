"""Requests that no browser sends, to a server with all that stands before its pages."""

import random
import socket
from urllib.parse import quote_from_bytes, urlsplit

import pytest

from tests.browser.fixtures import running_server

HEADERS = (
    "Origin", "Host", "Referer", "Cookie", "Accept-Encoding", "Content-Length", "Range",
    "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "If-None-Match", "Upgrade",
    "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Protocol",
    "Content-Type", "Authorization", "Expect", "Transfer-Encoding", "X-Xsrftoken",
)  # fmt: skip
PATHS = (
    "/", "/masks", "/_stcore/health", "/_stcore/stream", "/_stcore/upload_file/a/b", "/media/x",
    "/_stcore/metrics", "/_stcore/host-config", "/component/x/y", "/static/x", "/attention",
)  # fmt: skip
PARTS = (
    b"http://[", b"http://", b"//[::1", b"[", b"]", b"%", b"%00", b"%ff%fe", b"%ed%a0%80", b"null",
    b"localhost", b":99999", b":x", b"\xff", b"\xed\xa0\x80", b"\xe2\x82\xac", b"=", b";",
    b"headlight_door=", b"token=", b"_streamlit_xsrf=", b'"', b"\\", b"..", b"/", b"\t", b"@", b"#",
    b"websocket", b"upgrade", b"chunked", b"bytes=0-", b"gzip", b"-1", b"1", b"&", b"?", b"\x01",
)  # fmt: skip


@pytest.fixture(scope="module", params=["", "correct horse battery"])
def served(request, tmp_path_factory):
    """A server, open to all or with a token, and the file that holds what it said."""
    file = tmp_path_factory.mktemp("server") / "log"
    with (
        file.open("w+") as log,
        running_server(log=log, HEADLIGHT_TOKEN=request.param) as address,
    ):
        yield urlsplit(address), file


def text(dice):
    """Bytes of a header: parts that have a meaning somewhere, among any others."""
    parts = dice.choices([*PARTS, dice.randbytes(3)], k=dice.randrange(6))
    return b"".join(parts).replace(b"\r", b"").replace(b"\n", b"")


def request(dice, host):
    """A request that is whole, however odd; its path is as long as h11 reads it."""
    path = dice.choice(PATHS).encode()
    if dice.random() < 0.5:
        path += quote_from_bytes(text(dice), safe="/%?&=[]").encode()
    if dice.random() < 0.5:
        path += b"?" + quote_from_bytes(text(dice), safe="/%&=[]").encode()
    headers = {"Host": host.encode(), "Connection": b"close"}
    headers |= {name: text(dice) for name in dice.sample(HEADERS, dice.randrange(4))}
    lines = [f"{name}: ".encode() + value for name, value in headers.items()]
    method = dice.choice((b"GET", b"GET", b"HEAD", b"PUT", b"POST", b"DELETE", b"OPTIONS"))
    return b"\r\n".join((method + b" " + path + b" HTTP/1.1", *lines, b"", b""))


def status(address, sent):
    """The status that a server answers with; None if it closes the connection without one."""
    with socket.create_connection((address.hostname, address.port), 60) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        head = connection.recv(1 << 16)
    return int(head.split()[1]) if head else None


def test_whatever_a_header_holds_the_answer_is_no_fault_of_the_server(served):
    address, log = served
    dice = random.Random(0)
    requests = [
        f"GET / HTTP/1.1\r\nHost: {address.netloc}\r\nOrigin: http://[\r\n\r\n".encode(),
        *(request(dice, address.netloc) for _ in range(1000)),
    ]
    faults = {sent: code for sent in requests if (code := status(address, sent)) and code >= 500}
    assert not faults
    assert "Traceback" not in log.read_text()
