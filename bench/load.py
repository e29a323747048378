"""python -m bench.load: many visitors at once, beside a lone one.

Visitors are websocket clients that speak Streamlit's protocol to a server which this starts itself
on this machine, with the app's configuration. Each has sentences of its own; every two seconds it
enters the next, or switches to another head, in turns. A rerun is timed from sending the action to
the server's word that it is over; a visitor waits for it before acting again. Afterwards every
answer (tokens, translation, weights of the head in large) is compared with the model called alone.

- `N sessions median`, `N sessions p95`: the rerun times of N visitors against a lone one's.
- `N sessions sentence p95`, `N sessions head p95`: the same of either action alone.
- `N sessions memory`: what a session adds to the server's memory, against what the server held
  after the lone visitor.
- `N sessions left`: the server's memory after all have left, against before they came. Sessions
  are kept for a while after they leave, so that a lost connection can be taken up again: for
  `--keep` seconds here, 120 by default.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from statistics import median, quantiles

import numpy as np

from bench.browser import server
from bench.performance import meaning, page_options, publish
from bench.report import Case
from bench.visitors import Rerun, Visitor
from model import Site, load
from pages.shared.runs.limits import RUNS

SESSIONS = (10, 25, 50)
EVERY = 2.0  # seconds between a visitor's actions
TOLERANCE = 1e-5  # of weights
SUBJECTS = ("My brother", "The teacher", "Her sister", "Our neighbour", "The old man", "The girl")
VERBS = ("bought", "sold", "found", "lost", "painted", "repaired", "forgot", "liked", "saw")
OBJECTS = ("a bicycle", "the red car", "two books", "a small house", "the letter", "my shoes")
SITE = Site("cross", 1)  # what the visitors look at
HEADS = 8
MB = 1e6


def sentence_of(visitor: int, number: int) -> str:
    """The sentence that a visitor enters as its given one; no two have one in common."""
    order = visitor * 7 + number  # neighbours begin differently
    subject, verb = SUBJECTS[order % len(SUBJECTS)], VERBS[order % len(VERBS)]
    return f"{subject} {verb} {OBJECTS[number % len(OBJECTS)]} in {1900 + visitor * 40 + number}."


async def visit(
    address: str, number: int, seconds: float, together: asyncio.Barrier
) -> list[Rerun]:
    """One visitor; its answers. It acts while all others do, and leaves with them."""
    answers = []
    async with Visitor(address) as visitor:
        await visitor.arrive()
        await visitor.edit(sentence_of(number, 0))
        await together.wait()
        begin = time.monotonic()
        due = begin + EVERY * random.Random(number).random()
        for turn in count(1):
            await asyncio.sleep(due - time.monotonic())
            if time.monotonic() - begin > seconds:
                break
            if (turn + number) % 2:  # half of them begin with a head
                answers.append(await visitor.edit(sentence_of(number, turn)))
            else:
                answers.append(await visitor.switch(turn // 2 % HEADS + 1))
            due = max(due + EVERY, time.monotonic())
        await together.wait()  # all have acted
        await together.wait()  # and the memory was read
    return answers


async def crowd(
    address: str, process: int, numbers: Sequence[int], seconds: float
) -> tuple[list[Rerun], int]:
    """Visitors with these numbers at once: all answers, and the server's memory at the end."""
    together = asyncio.Barrier(len(numbers) + 1)
    async with asyncio.TaskGroup() as group:
        visits = [
            group.create_task(visit(address, number, seconds, together)) for number in numbers
        ]
        await together.wait()
        await together.wait()
        held = memory(process)
        await together.wait()
    return [answer for task in visits for answer in task.result()], held


async def fill(address: str) -> None:
    """Have the model loaded and as many results kept as ever are, by the visitor 0."""
    async with Visitor(address) as visitor:
        await visitor.arrive()
        for number in range(RUNS + 2):
            await visitor.edit(sentence_of(0, number))


async def emptied(address: str, process: int, keep: int) -> int:
    """The server's memory once sessions that were left are given up, which the next one causes."""
    await asyncio.sleep(keep + 1)
    for _ in range(2):
        async with Visitor(address) as visitor:
            await visitor.arrive()
        await asyncio.sleep(keep + 1)
    return memory(process)


def memory(process: int) -> int:
    """The bytes of a process that are in memory, read from Linux's /proc."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def wrong(answers: Sequence[Rerun]) -> int:
    """How many answers are not what the model says of the sentence alone."""
    translator, traces = load("en-fr"), {}
    mistakes = 0
    for answer in answers:
        if answer.sentence not in traces:
            translation = translator.translate(answer.sentence)
            traces[answer.sentence] = translator.trace(answer.sentence, translation), translation
        trace, translation = traces[answer.sentence]
        weights = trace.attention[SITE].weights[0, answer.head - 1].numpy()
        mistakes += not (
            answer.tokens == [token.text for token in trace.source_tokens]
            and answer.translation == translation.text
            and answer.weights.shape == weights.shape
            and np.allclose(answer.weights, weights, atol=TOLERANCE)
        )
    return mistakes


def times(answers: Sequence[Rerun], kind: str = "") -> list[float]:
    """How long the reruns of a kind of action took, or all, in milliseconds."""
    return [1000 * answer.seconds for answer in answers if kind in ("", answer.action)]


def p95(numbers: Sequence[float]) -> float:
    """The 95th percentile."""
    return quantiles(numbers, n=20, method="inclusive")[-1]


def cases_of(
    visitors: int, answers: Sequence[Rerun], lone: Sequence[Rerun], notes: str
) -> list[Case]:
    """The rerun times of many visitors against a lone one's."""
    made = []
    for name, kind in (("", ""), ("sentence ", "sentence"), ("head ", "head")):
        for word, typical in (("median", median), ("p95", p95)):
            ours, peer = typical(times(answers, kind)), typical(times(lone, kind))
            case = f"{visitors} sessions {name}{word}"
            made.append(Case(case, ours, peer, "ms", ours / peer, notes))
    return made


async def measure(sizes: Sequence[int], seconds: float, keep: int) -> list[Case]:
    """All cases; raises RuntimeError where an answer is wrong or the app shows an error."""
    cases, everything = [], []
    options = ("--server.disconnectedSessionTTL", str(keep))
    with server("app.py", *options) as (address, process):
        await fill(address)
        lone, _ = await crowd(address, process, [1], seconds)
        everything += lone
        first = 2
        for size in sizes:
            before = await emptied(address, process, keep)
            answers, held = await crowd(address, process, range(first, first + size), seconds)
            after = await emptied(address, process, keep)
            everything += answers
            first += size
            cases += cases_of(size, answers, lone, f"{len(answers)} reruns")
            session = (held - before) / size
            cases.append(
                Case(f"{size} sessions memory", session / MB, before / MB, "MB", session / before)
            )
            cases.append(
                Case(f"{size} sessions left", after / MB, before / MB, "MB", after / before)
            )
            print(f"{size} sessions measured", file=sys.stderr)
    if mistakes := wrong(everything):
        raise RuntimeError(f"{mistakes} of {len(everything)} answers are wrong.")
    print(f"All {len(everything)} answers are right.", file=sys.stderr)
    return cases


def main() -> None:
    """Measure and report."""
    parser = page_options()
    parser.add_argument("--sessions", type=int, nargs="+", default=SESSIONS, metavar="N")
    parser.add_argument("--seconds", type=float, default=60, help="how long each crowd acts")
    parser.add_argument("--keep", type=int, default=10, help="seconds a left session is kept")
    options = parser.parse_args()
    cases = asyncio.run(measure(options.sessions, options.seconds, options.keep))
    publish(cases, options, "Many visitors", meaning(__doc__))


if __name__ == "__main__":
    main()
