"""Closes connections whose requests are never completed, and accepts long addresses.

The server, uvicorn, keeps a connection open for ever if its request stops halfway. It also refuses
addresses of more than 64 kB, although the texts in a link can take more.

Upstream: https://github.com/Kludex/uvicorn/issues/157
Relies on: uvicorn's `H11Protocol`: its methods `connection_made` and `data_received`; its `conn`;
its `transport`, which gets another protocol for a WebSocket; and its module's default for the
longest head of a request.
"""

import asyncio
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import h11
from uvicorn.protocols.http import h11_impl
from uvicorn.protocols.http.h11_impl import H11Protocol

from headlight.pages.streamlit_fixes.replace import replace

LONGEST_HEAD = 160 * 1024  # bytes: three texts of 4,000 characters, at 12 bytes each in an address
SLOWEST_HEAD = 10.0  # the most seconds until a request's address and headers have arrived
STALLED = 30.0  # the most seconds between two parts of a request's body

_ends: WeakKeyDictionary[H11Protocol, asyncio.TimerHandle] = WeakKeyDictionary()


def drop_slow_requests() -> None:
    """Have the server close connections with incomplete requests, and accept long addresses."""
    module: Any = h11_impl
    module.DEFAULT_MAX_INCOMPLETE_EVENT_SIZE = LONGEST_HEAD
    replace(H11Protocol, "connection_made", _watch)
    replace(H11Protocol, "data_received", _watch)


def _watch(call: Callable[..., None], connection: H11Protocol, value: object) -> None:
    """Run a connection's method; close the connection later if its request is then incomplete."""
    call(connection, value)
    waits_for = connection.conn.their_state
    before = _ends.get(connection)
    if connection.transport.get_protocol() is not connection:
        waits_for = None  # the connection is now a WebSocket, which may be silent
    if waits_for is h11.IDLE and before and not before.cancelled():
        return  # a later part of the address and headers: the time runs since the first part
    if before:
        before.cancel()
    if waits_for in (h11.IDLE, h11.SEND_BODY):
        seconds = SLOWEST_HEAD if waits_for is h11.IDLE else STALLED
        _ends[connection] = connection.loop.call_later(seconds, connection.transport.close)
