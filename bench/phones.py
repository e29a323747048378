"""Simulate phones that guess in a lecturer's room, by the requests that their pages send."""

from __future__ import annotations

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import requests

from bench.crowd import Served
from bench.visitors import Visitor, header_of

ASKS = "guess=on&kind=encoder&layer=5&head=6"  # the address of a page with a question to guess
POLL = 1.0  # seconds between two requests of a phone's page
COUNT = 0.5  # seconds between two requests of the lecturer's page
PATIENCE = 60  # seconds


@dataclass(frozen=True)
class Count:
    """How many guesses the lecturer's page counted, and how long after the last one was sent."""

    guesses: int
    phones: int
    late: float  # seconds


async def open_room(lecturer: Visitor) -> dict[str, Any]:
    """Open a room on a page that asks a question; return the header of the room's panel."""
    await lecturer.rerun({}, "", ASKS)
    await lecturer.press("open-room")
    await lecturer.press("begin-room")
    await lecturer.rerun({}, "", ASKS)
    return header_of(lecturer.elements["room-panel"].bidi_component)


def phone(address: str, path: str, option: int, at: float, until: float) -> float:
    """Act as a phone with a room's page: guess at the time `at`, and return when it was sent."""
    with requests.Session() as session:
        session.get(address + path, timeout=PATIENCE).raise_for_status()
        sent = 0.0
        while time.monotonic() < until:
            state = session.get(f"{address}{path}/now", timeout=PATIENCE).json()
            if not sent and time.monotonic() >= at:
                sent = time.monotonic()
                guess = {"number": state["number"], "option": option % len(state["options"])}
                session.post(
                    f"{address}{path}/guess", json=guess, timeout=PATIENCE
                ).raise_for_status()
            wait = min(POLL, at - time.monotonic()) if not sent else POLL
            time.sleep(max(0.0, wait))
    return sent


def counted(address: str, panel: dict[str, Any], phones: int, until: float) -> tuple[int, float]:
    """Poll the number of guesses as a lecturer's page does; return it and when it was read."""
    connection = HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE)
    guesses = 0
    while guesses < phones and time.monotonic() < until:
        connection.request("GET", f"{panel['path']}/count", headers={"x-room-key": panel["key"]})
        guesses = json.loads(connection.getresponse().read())["guesses"]
        complete = time.monotonic()
        time.sleep(COUNT if guesses < phones else 0)
    connection.close()
    return guesses, complete


async def guess_together(served: Served, phones: int, within: float) -> Count:
    """Let phones open a room and guess, spread evenly over `within` seconds."""
    async with Visitor(served.address) as lecturer:
        panel = await open_room(lecturer)
        begin = time.monotonic() + 5.0  # by then, all phones have opened the page
        until = begin + within + 5.0
        with ThreadPoolExecutor(phones + 1) as threads:
            watching = threads.submit(counted, served.address, panel, phones, until)
            guessing = [
                threads.submit(
                    phone,
                    served.address,
                    panel["path"],
                    number,
                    begin + within * number / phones,
                    until,
                )
                for number in range(phones)
            ]
            guesses, complete = await asyncio.to_thread(watching.result)
            last = max(each.result() for each in guessing)
    return Count(guesses, phones, complete - last)
