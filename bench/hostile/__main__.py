"""python -m bench.hostile: what the app does with what no honest visitor sends.

Each kind of input is made from a seed, so that a failure can be repeated.

- `addresses`: pages opened with choices that make no sense, each in a session of its own.
- `messages`: sessions that get messages that no browser sends. They may end in an error on their
  own page, or in the end of their connection; another visitor's page must be drawn as ever.
- `talks`, `models`: files as they are uploaded, good ones with something changed, and some that
  are made to take time or memory.

- `folders`: folders of models, those that are made to do harm and a small BERT with something
  changed, tried as the app tries them: each must be taken or refused with a sentence, or break down
  where it is tried.

A failure is an error page, an answer that does not come, or an exception that is no ValueError:
those are the sentences with which files are refused. The command ends with 1 if there is one.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.browser import server
from bench.crowd import resident
from bench.hostile import archives, talks
from bench.hostile.addresses import address
from bench.hostile.damaged import damaged, damaged_text
from bench.hostile.damaging import RAN, mutated, save_bert
from bench.hostile.forked_trials import ForkedTrials
from bench.hostile.messages import message
from bench.hostile.model_folders import BOMBS, DAMAGES, SLY
from bench.hostile.strangers import Stranger
from bench.hostile.tally import Tally, table, try_all
from model.archive import unpack_checkpoint
from pages.shared.frame.talk import TALKS
from pages.shared.link.talk_file import read_talk

FAULTS = (RuntimeError, TimeoutError, OSError)
BROKE_DOWN = (signal.SIGABRT, signal.SIGSEGV)  # where Rust or C++ got no memory
A_SESSION = 10  # messages that one of them gets
COUNTS = {"addresses": 300, "messages": 300, "talks": 1_000, "models": 500, "folders": 100}


async def open_addresses(url: str, count: int, chance: random.Random) -> Tally:
    """Open so many addresses, each in a session of its own."""
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
    """Send so many messages, some a session; after each, another visitor's page must be drawn."""
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
    """Yield talk files: those that take time, and the ready one with something changed."""
    yield from (talks.many_parameters(22_000), talks.many_pictures(22_000))
    good = (TALKS / "attention.json").read_bytes()
    for _ in range(count):
        yield damaged_text(good, chance)


def model_files(count: int, chance: random.Random) -> Iterator[bytes]:
    """Yield zip files: those that take time or memory, and a small model with something changed."""
    yield from (archives.many_dimensions(500_000), archives.many_tensors(20_000), archives.zeros())
    files = archives.small()
    good = archives.pack(files)
    for _ in range(count):
        name = chance.choice([*files])
        change = damaged_text if name.endswith(".json") and chance.random() < 0.7 else damaged
        yield (
            damaged(good, chance)
            if chance.random() < 0.3
            else archives.pack(files | {name: change(files[name], chance)})
        )


def run_model(data: bytes) -> None:
    """Read an uploaded model, and have it write."""
    unpack_checkpoint(data).write("123")


def try_folders(count: int, chance: random.Random) -> Tally:
    """Try folders of models, each in a process of its own; count the most memory that one takes."""
    tally, trial = Tally("folders"), ForkedTrials()
    makers = [*BOMBS.values(), *DAMAGES.values(), *SLY.values()]
    makers += [mutated(chance.randrange(10**9)) for _ in range(count)]
    with tempfile.TemporaryDirectory() as place:
        save_bert(good := Path(place, "good"))
        for number, make in enumerate(makers):
            folder = shutil.copytree(good, Path(place, "hostile"))
            make(folder)
            begin = time.perf_counter()
            why, ended_by, taken = trial(folder)
            told = why is None or why.endswith((".", "!"))
            harmless = told and not (folder / RAN).exists() and ended_by in (0, *BROKE_DOWN)
            failure = None if harmless else RuntimeError(f"folder {number}: {why}, {ended_by}")
            tally.note(time.perf_counter() - begin, failure)
            tally.grown = max(tally.grown, taken)
            shutil.rmtree(folder)
    trial.end()
    return tally


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
    logging.disable(logging.WARNING)  # Streamlit warns of what is called outside of a session
    chance, own = random.Random(options.seed), partial(resident, os.getpid())
    print(f"Seed {options.seed}", file=sys.stderr)
    tallies = asyncio.run(against_server(options, options.seed))
    tallies.append(try_all("talks", talk_files(options.talks, chance), read_talk, own))
    tallies.append(try_all("models", model_files(options.models, chance), run_model, own))
    tallies.append(try_folders(options.folders, chance))
    print(table(tallies))
    sys.exit(any(tally.failures for tally in tallies))


if __name__ == "__main__":
    main()
