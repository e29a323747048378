"""A connection is closed in time unless its request is whole; long addresses are read."""

import asyncio

import pytest
from uvicorn import Config
from uvicorn.protocols.http import h11_impl
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from headlight.pages.streamlit_fixes import slow_requests
from headlight.pages.streamlit_fixes.slow_requests import (
    LONGEST_HEAD,
    SLOWEST_HEAD,
    STALLED,
    drop_slow_requests,
)

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
PUT = b"PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"


class Clock:
    """An event loop that only has a clock, which a test moves."""

    def __init__(self):
        self.now, self.timers = 0.0, []

    def call_later(self, seconds, function, *arguments):
        timer = Timer(self.now + seconds, function, arguments)
        self.timers.append(timer)
        return timer

    def create_task(self, running):
        running.close()
        return Timer(0, None, ())

    def move(self, seconds):
        self.now += seconds
        for timer in self.timers:
            if timer.time <= self.now and not timer.cancelled():
                timer.cancel()
                timer.function(*timer.arguments)


class Timer:
    def __init__(self, time, function, arguments):
        self.time, self.function, self.arguments, self.ended = time, function, arguments, False

    def cancel(self):
        self.ended = True

    def cancelled(self):
        return self.ended

    def add_done_callback(self, function):
        """A task ends in no time."""


class Transport:
    """The far end of a connection."""

    def __init__(self):
        self.is_open, self.written, self.protocol = True, b"", None

    def set_protocol(self, protocol):
        self.protocol = protocol

    def get_protocol(self):
        return self.protocol

    def close(self):
        self.is_open = False

    def is_closing(self):
        return not self.is_open

    def write(self, data):
        self.written += data

    def get_extra_info(self, name):
        return None

    def pause_reading(self):
        """Nothing comes by itself."""

    resume_reading = pause_reading


@pytest.fixture
def plain(monkeypatch):
    """Uvicorn as it comes; what a test does to it is put back."""
    for name in ("connection_made", "data_received"):
        method = getattr(H11Protocol, name)
        monkeypatch.setattr(H11Protocol, name, getattr(method, "__wrapped__", method))
    monkeypatch.setattr(h11_impl, "DEFAULT_MAX_INCOMPLETE_EVENT_SIZE", 64 * 1024)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)  # a WebSocket takes it from its thread
    yield
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    asyncio.set_event_loop(None)
    loop.close()


def connect():
    """A connection that was just opened, its far end, and the clock."""
    clock, transport = Clock(), Transport()
    connection = H11Protocol(Config(lambda: None, log_config=None), ServerState(), {}, _loop=clock)
    transport.set_protocol(connection)
    connection.connection_made(transport)
    return connection, transport, clock


@pytest.mark.parametrize("begun", [b"", b"G", GET[:-1], GET[:-4]])
def test_a_request_whose_head_does_not_come_is_dropped_however_slowly_it_drips(plain, begun):
    drop_slow_requests()
    connection, transport, clock = connect()
    for byte in begun:
        clock.move(SLOWEST_HEAD / 100)
        connection.data_received(bytes([byte]))
    assert transport.is_open
    clock.move(SLOWEST_HEAD)
    assert not transport.is_open


def test_a_body_may_come_slowly_but_not_stop(plain):
    drop_slow_requests()
    connection, transport, clock = connect()
    connection.data_received(PUT)
    for _ in range(900):
        clock.move(STALLED - 1)
        connection.data_received(b"x")
    assert transport.is_open
    clock.move(STALLED)
    assert not transport.is_open


@pytest.mark.parametrize("whole", [GET, PUT + bytes(1000)])
def test_a_request_that_is_whole_may_be_answered_at_leisure(plain, whole):
    drop_slow_requests()
    connection, transport, clock = connect()
    connection.data_received(whole[:20])
    connection.data_received(whole[20:])
    clock.move(3600)
    assert transport.is_open


@pytest.mark.parametrize("size", [len(UPGRADE), 10])
def test_a_websocket_may_be_silent(plain, size):
    drop_slow_requests()
    connection, transport, clock = connect()
    for start in range(0, len(UPGRADE), size):
        connection.data_received(UPGRADE[start : start + size])
    assert transport.get_protocol() is not connection
    clock.move(3600)
    assert transport.is_open


@pytest.mark.parametrize(("size", "is_read"), [(LONGEST_HEAD - 100, True), (LONGEST_HEAD, False)])
def test_an_address_is_read_up_to_a_bound(plain, size, is_read):
    drop_slow_requests()
    connection, transport, _ = connect()
    head = b"GET /?sentence=" + b"x" * size + b" HTTP/1.1\r\nHost: localhost\r\n"
    connection.data_received(head)
    assert (b"400 Bad Request" not in transport.written) == is_read


def test_uvicorn_still_keeps_half_a_request_for_good(plain):
    connection, transport, clock = connect()
    connection.data_received(GET[:-1])
    clock.move(3600)
    assert transport.is_open, "Uvicorn drops what does not come: delete slow_requests.py."


def test_uvicorn_reads_requests_by_the_class_that_is_mended():
    config = Config(lambda: None, log_config=None)
    config.load()
    assert config.http_protocol_class is H11Protocol, slow_requests.__doc__
