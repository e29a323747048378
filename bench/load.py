"""python -m bench.load: many visitors at once, compared with one alone.

Visitors are websocket clients that speak Streamlit's protocol to a server that this bench starts on
this machine, as `make serve` does: one process for each core behind one address, also for the lone
visitor (`--workers 1` is one process without a proxy, as `make run` starts it). Each visitor has
its own sentences; every two seconds it enters the next, or switches to another head, in turns. A
rerun is timed from sending the action until the server reports that it is over; a visitor waits for
that before acting again. Afterwards every answer (tokens, translation, weights of the enlarged
head) is compared with what the model computes without a server.

- `N sessions median`, `N sessions p95`: the rerun times of N visitors against the lone visitor's.
- `N sessions sentence ...`, `N sessions head ...`: the same for only one kind of action.
- `N sessions generator`, `N sessions server`: the CPU seconds that these visitors and the server
  used, against the CPU seconds of all cores; other processes used the rest, or it was idle.
- `N sessions memory`: what a session adds to the server's memory, against the server's memory
  before these visitors came.
- `N sessions left`: the server's memory after all have left, against before they came. The server
  keeps a session for a while after its visitor has left, so that a lost connection can be restored:
  here for `--keep` seconds, in Streamlit for 120 by default.
- `N rush`: N visitors open the same link within ten seconds, with a sentence that is new to the
  server: the longest time that any of them waited for the first picture, and the 95th percentile,
  against a lone visitor who opens another link.
- `N phones`: N phones of a room guess within five seconds: how long after the last guess the
  lecturer's page has counted all of them, against the same for a lone phone.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from statistics import median, quantiles

import numpy as np
import torch

from bench.crowd import Clock, Served, Work, serving
from bench.performance import meaning, page_options, publish
from bench.phones import guess_together
from bench.report import Case
from bench.visitors import Rerun, Visitor
from headlight.model.transformer.trace import Site
from headlight.model.translator import load_translator
from headlight.pages.shared.runs.limits import RUNS

SESSIONS = (10, 25, 50, 100)
RUSH = (100,)
PHONES = (100,)
GUESSING = 5.0  # seconds within which all phones of a room guess
WITHIN = 10.0  # seconds within which all visitors of a rush arrive
EVERY = 2.0  # seconds between a visitor's actions
TOLERANCE = 1e-5  # a right weight differs from the model's by this at most
SUBJECTS = ("My brother", "The teacher", "Her sister", "Our neighbour", "The old man", "The girl")
VERBS = ("bought", "sold", "found", "lost", "painted", "repaired", "forgot", "liked", "saw")
OBJECTS = ("a bicycle", "the red car", "two books", "a small house", "the letter", "my shoes")
SITE = Site("cross", 1)  # the attention layer that visitors look at
HEADS = 8
MB = 1e6


def sentence_of(visitor: int, number: int) -> str:
    """Return a visitor's sentence with this number; no two visitors share a sentence."""
    order = visitor * 7 + number  # so that successive visitors' sentences begin differently
    subject, verb = SUBJECTS[order % len(SUBJECTS)], VERBS[order % len(VERBS)]
    return f"{subject} {verb} {OBJECTS[number % len(OBJECTS)]} in {1900 + visitor * 40 + number}."


async def visit(
    address: str, number: int, seconds: float, together: asyncio.Barrier
) -> list[Rerun]:
    """Act as one visitor for some seconds, leave together with all others; return the answers."""
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
            if (turn + number) % 2:  # half of the visitors begin by choosing a head
                answers.append(await visitor.edit(sentence_of(number, turn)))
            else:
                answers.append(await visitor.switch(turn // 2 % HEADS + 1))
            due = max(due + EVERY, time.monotonic())
        await together.wait()  # wait until all visitors have acted
        await together.wait()  # wait until the server's memory was read
    return answers


async def crowd(
    served: Served, numbers: Sequence[int], seconds: float
) -> tuple[list[Rerun], int, Work]:
    """Let these visitors act; return all answers, the server's memory and the CPU seconds."""
    together = asyncio.Barrier(len(numbers) + 1)
    async with asyncio.TaskGroup() as group:
        visits = [
            group.create_task(visit(served.address, number, seconds, together))
            for number in numbers
        ]
        await together.wait()
        clock = Clock(served)
        await together.wait()
        work, held = clock.taken(), served.memory
        await together.wait()
    return [answer for task in visits for answer in task.result()], held, work


async def fill(served: Served) -> None:
    """Let one visitor for each worker make it load the model and fill its caches."""
    together = asyncio.Barrier(served.workers)

    async def enter(number: int) -> None:
        async with Visitor(served.address) as visitor:
            await visitor.arrive()
            await together.wait()  # all connect first, so that each gets a different worker
            for turn in range(RUNS + 2):
                await visitor.edit(sentence_of(number, turn))

    async with asyncio.TaskGroup() as group:
        for number in range(served.workers):
            group.create_task(enter(number))


async def emptied(served: Served, keep: int) -> int:
    """Open new sessions so that the server drops old ones; return its memory afterwards."""
    await asyncio.sleep(keep + 1)
    for _ in range(2):
        await fill(served)
        await asyncio.sleep(keep + 1)
    return served.memory


async def rush(served: Served, sentence: str, visitors: int) -> list[Rerun]:
    """Let visitors open the same link one after the other, and stay; return their answers.

    They arrive within WITHIN seconds. The seconds of an answer count from the moment when its
    visitor begins to connect.
    """
    together = asyncio.Barrier(visitors)

    async def come(after: float) -> Rerun:
        await asyncio.sleep(after)
        begin = time.perf_counter()
        async with Visitor(served.address) as visitor:
            answer = await visitor.follow(sentence)
            answer = replace(answer, seconds=time.perf_counter() - begin)
            await together.wait()
        return answer

    async with asyncio.TaskGroup() as group:
        coming = [group.create_task(come(WITHIN * number / visitors)) for number in range(visitors)]
    return [task.result() for task in coming]


def wrong(answers: Sequence[Rerun]) -> int:
    """Return how many answers differ from what the model computes without a server."""
    torch.set_num_threads(1)  # several threads would wait for each other and take ten times as long
    translator, traces = load_translator("en-fr"), {}
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
    """Return the milliseconds that reruns took, for one kind of action or for all."""
    return [1000 * answer.seconds for answer in answers if kind in ("", answer.action)]


def p95(numbers: Sequence[float]) -> float:
    return quantiles(numbers, n=20, method="inclusive")[-1]


def cases_of(
    visitors: int, answers: Sequence[Rerun], lone: Sequence[Rerun], notes: str
) -> list[Case]:
    """Return cases of the rerun times of many visitors, compared with a lone visitor's."""
    cases = []
    for name, kind in (("", ""), ("sentence ", "sentence"), ("head ", "head")):
        for word, typical in (("median", median), ("p95", p95)):
            ours, peer = typical(times(answers, kind)), typical(times(lone, kind))
            case = f"{visitors} sessions {name}{word}"
            cases.append(Case(case, ours, peer, "ms", ours / peer, notes))
    return cases


def rush_cases(answers: Sequence[Rerun], lone: Sequence[Rerun]) -> list[Case]:
    """Compare how long visitors of one link and lone visitors wait for the first picture."""
    peer = median(times(lone))
    figures = [("", max(times(answers))), (" p95", p95(times(answers)))]
    return [
        Case(f"{len(answers)} rush{name}", ours, peer, "ms", ours / peer) for name, ours in figures
    ]


async def phone_case(served: Served, phones: int) -> Case:
    """Return how late a room's guesses are counted; raises RuntimeError if one is not counted."""
    lone, all_of_them = [
        await guess_together(served, size, GUESSING if size > 1 else 0.0) for size in (1, phones)
    ]
    if all_of_them.guesses != phones:
        raise RuntimeError(f"{all_of_them.guesses} of {phones} guesses were counted.")
    ours, peer = 1000 * all_of_them.late, 1000 * lone.late
    return Case(f"{phones} phones", ours, peer, "ms", ours / peer)


async def measure(options: argparse.Namespace) -> list[Case]:
    """Return all cases; raises RuntimeError if an answer is wrong or the app shows an error."""
    cases, everything, keep = [], [], options.keep
    with serving(options.workers, "--server.disconnectedSessionTTL", str(keep)) as served:
        await fill(served)
        lone, _, _ = await crowd(served, [0], options.seconds)
        everything += lone
        first = 1
        for size in options.sessions:
            before = await emptied(served, keep)
            answers, held, work = await crowd(served, range(first, first + size), options.seconds)
            after = await emptied(served, keep)
            everything += answers
            first += size
            cases += cases_of(size, answers, lone, f"{len(answers)} reruns")
            for name, seconds in (("generator", work.visitors), ("server", work.server)):
                share = seconds / work.cores
                cases.append(Case(f"{size} sessions {name}", seconds, work.cores, "s", share))
            session = (held - before) / size
            cases.append(
                Case(f"{size} sessions memory", session / MB, before / MB, "MB", session / before)
            )
            cases.append(
                Case(f"{size} sessions left", after / MB, before / MB, "MB", after / before)
            )
            print(f"{size} sessions measured", file=sys.stderr)
        for size in options.rush:
            alone = [(await rush(served, sentence_of(first, turn), 1))[0] for turn in range(5)]
            answers = await rush(served, sentence_of(first, 5), size)
            everything += [*alone, *answers]
            first += 1
            cases += rush_cases(answers, alone)
        for size in options.phones:
            cases.append(await phone_case(served, size))
    if mistakes := wrong(everything):
        raise RuntimeError(f"{mistakes} of {len(everything)} answers are wrong.")
    print(f"All {len(everything)} answers are right.", file=sys.stderr)
    return cases


def main() -> None:
    """Measure and report."""
    parser = page_options()
    parser.add_argument(
        "--workers",
        type=int,
        default=os.cpu_count(),
        help="processes of the server (default: one for each core)",
    )
    parser.add_argument("--sessions", type=int, nargs="*", default=SESSIONS, metavar="N")
    parser.add_argument("--rush", type=int, nargs="*", default=RUSH, metavar="N")
    parser.add_argument("--phones", type=int, nargs="*", default=PHONES, metavar="N")
    parser.add_argument("--seconds", type=float, default=60, help="how long visitors act")
    parser.add_argument(
        "--keep",
        type=int,
        default=10,
        help="seconds that the server keeps a session after its visitor has left",
    )
    options = parser.parse_args()
    cases = asyncio.run(measure(options))
    title = "Many visitors" if options.workers > 1 else "Many visitors of one process"
    publish(cases, options, title, meaning(__doc__))


if __name__ == "__main__":
    main()
