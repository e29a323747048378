"""python -m bench.hostile: what the app does with what no honest visitor sends.

Each kind of input is made from a seed, so that a failure can be repeated.

- `addresses`: pages opened with choices that make no sense, each in a session of its own.
- `messages`: sessions that get messages that no browser sends. They may end in an error on their
  own page, or in the end of their connection; another visitor's page must be drawn as ever.
- `talks`: files as they are uploaded, a good one with something changed, and some that are made to
  take time.

A failure is an error page, a missing answer, or any exception but a ValueError, which carries the
sentence that refuses a file. The command ends with 1 if there is one.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import random
import sys
import time
from collections.abc import Iterator
from functools import partial

from bench.browser import server
from bench.crowd import resident
from bench.hostile import talks
from bench.hostile.addresses import address
from bench.hostile.damaged import damaged_text
from bench.hostile.messages import message
from bench.hostile.strangers import Stranger
from bench.hostile.tally import Tally, table, try_all
from headlight.pages.talks.talk import TALKS
from headlight.pages.talks.talk_file import read_talk

FAULTS = (RuntimeError, TimeoutError, OSError)
A_SESSION = 10  # messages to one of them
COUNTS = {"addresses": 300, "messages": 300, "talks": 1_000}


async def open_addresses(url: str, count: int, chance: random.Random) -> Tally:
    """Open `count` addresses, each in a session of its own."""
    tally = Tally("addresses")
    for _ in range(count):
        page, query = address(chance)
        seconds, failure = 0.0, None
        async with Stranger(url) as stranger:
            try:
                seconds = await stranger.open(page, query)
            except FAULTS as error:
                failure = RuntimeError(f"{error} at {page}?{query[:200]}")
        tally.note(seconds, failure)
    return tally


async def send_messages(url: str, count: int, chance: random.Random) -> Tally:
    """Send `count` messages; another visitor's page must be drawn after each session of them."""
    tally = Tally("messages")
    async with Stranger(url) as other:
        for first in range(0, count, A_SESSION):
            async with Stranger(url) as stranger:
                await stranger.open("", "")
                for number in range(first, min(first + A_SESSION, count)):
                    await stranger.send(message(chance, stranger.ids))
                    seconds, failure = 0.0, None
                    try:
                        seconds = await other.open("", "")
                    except FAULTS as error:
                        failure = RuntimeError(f"{error} after message {number}")
                    tally.note(seconds, failure)
    return tally


def talk_files(count: int, chance: random.Random) -> Iterator[bytes]:
    """Yield talk files: some that take time, and damaged copies of the ready one."""
    yield from (talks.many_parameters(22_000), talks.many_pictures(22_000))
    good = (TALKS / "attention.json").read_bytes()
    for _ in range(count):
        yield damaged_text(good, chance)


async def against_server(counts: argparse.Namespace, seed: int) -> list[Tally]:
    """Try addresses and messages on a server of its own."""
    tallies = []
    with server("app.py", "--server.disconnectedSessionTTL", "1") as (url, process):
        async with Stranger(url) as first:  # loads the model
            await first.open("", "")
        for attack, count in ((open_addresses, counts.addresses), (send_messages, counts.messages)):
            before = resident(process)
            tally = await attack(url, count, random.Random(seed))
            tally.grown = resident(process) - before
            tallies.append(tally)
    return tallies


def main() -> None:
    """Try everything, and report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for kind, count in COUNTS.items():
        parser.add_argument(f"--{kind}", type=int, default=count, metavar="N")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # Streamlit warns of calls outside of a session
    chance, own = random.Random(options.seed), partial(resident, os.getpid())
    print(f"Seed {options.seed}", file=sys.stderr)
    tallies = asyncio.run(against_server(options, options.seed))
    tallies.append(try_all("talks", talk_files(options.talks, chance), read_talk, own))
    print(table(tallies))
    sys.exit(any(tally.failures for tally in tallies))


if __name__ == "__main__":
    main()
