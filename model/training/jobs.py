"""Trainings for many visitors: a few at once, the others in line, and none for ever."""

from __future__ import annotations

import contextlib
import copy
import logging
import os
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from model.memory_layout import lay_out
from model.training.history import History
from model.training.loop import learning_rate
from model.training.small_models import Toy, ToyOptions
from model.training.tasks import Task
from model.translator import Translator

Name = Literal["waiting", "training", "paused", "stopped", "finished", "failed"]

POINTS = 300  # of the loss curve
REST = 0.002  # seconds between two steps in which others come to turn
NICENESS = 5  # a third of the time of another thread that wants the same core


@dataclass(frozen=True)
class JobState:
    """What is known of a training at one moment.

    A point of the losses is their mean, in nats a token, over the steps since the point before; it
    stands at the last of them, and so does its learning rate. `seconds` are those spent training.
    """

    name: Name
    note: str  # why it is in this state, where the visitor did not ask for it
    place: int  # in line, from 1; 0 where it does not wait
    step: int
    steps: int
    seconds: float
    seconds_left: float | None  # None where nothing is known yet
    loss_steps: np.ndarray  # (points,)
    losses: np.ndarray  # (points,)
    learning_rates: np.ndarray  # (points,)
    match_steps: np.ndarray  # (counts,)
    matches: np.ndarray  # (counts,) share of unseen examples without a mistake
    history: History


class Job:
    """One visitor's training; made by `Trainings.start`.

    Only while it trains does it have a thread. What it has written so far may be read at any time.
    """

    def __init__(self, trainings: Trainings, options: ToyOptions) -> None:
        self.options = options
        self.name: Name = "waiting"
        self.note = ""
        self.last_look = time.monotonic()
        self.wanted: Name | None = None  # what a visitor asked of the thread
        self.thread: threading.Thread | None = None
        self.seconds = 0.0
        self.losses: list[float] = []
        self.matches: list[tuple[int, float]] = []
        self._trainings = trainings
        self._toy = Toy(options)
        self._progress = self._toy.train()
        self._weights = threading.Lock()  # held while a step changes them
        self._history = self._toy.history()

    @property
    def task(self) -> Task:
        """What is being learned."""
        return self._toy.task

    def look(self) -> JobState:
        """The state, for a visitor who is there: what nobody looks at is paused after a while."""
        self.last_look = time.monotonic()
        return self.state

    @property
    def state(self) -> JobState:
        """What is known now, read without waiting for the step under way."""
        name, note, place = self._trainings.place(self)  # first: what follows is as new or newer
        losses, matches, seconds = self.losses[:], self.matches[:], self.seconds
        step, steps = len(losses), self.options.steps
        ends, means = thinned(np.array(losses), POINTS)
        settings = self.options.settings
        rates = [learning_rate(int(end), self.options.d_model, settings) for end in ends]
        return JobState(
            name=name,
            note=note,
            place=place,
            step=step,
            steps=steps,
            seconds=seconds,
            seconds_left=self._seconds_left(name, step, seconds),
            loss_steps=ends,
            losses=means,
            learning_rates=np.array(rates),
            match_steps=np.array([step for step, _ in matches], dtype=int),
            matches=np.array([share for _, share in matches]),
            history=self._newest_history(),
        )

    def pause(self) -> None:
        """Stop for now and give the place up; `go_on` goes on with the next step."""
        self._trainings.end(self, "paused")

    def go_on(self) -> None:
        """Get back in line, where it was paused; raises ValueError where the line is too long."""
        self.last_look = time.monotonic()
        self._trainings.line_up(self)

    def stop(self) -> None:
        """Stop for good; when this returns, the training has no thread any more."""
        self._trainings.end(self, "stopped")

    def translator(self) -> Translator:
        """A copy of the model as it is now, which further steps do not change.

        Raises ValueError where training has ruined the weights.
        """
        with self._weights:
            model = copy.deepcopy(self._toy.model)
        model.zero_grad()
        if not all(parameter.isfinite().all() for parameter in model.parameters()):
            raise ValueError("The weights are no numbers any more: train again, more slowly.")
        return Translator(lay_out(model), self._toy.tokenizer)

    def run(self) -> tuple[Name, str]:
        """Train in this thread until something ends it; what to call that, and why it was."""
        most = self._trainings.longest
        before, began = self.seconds, time.monotonic()
        while self.wanted is None:
            with self._weights:
                progress = next(self._progress, None)
            now = time.monotonic()
            self.seconds = before + now - began
            if progress is None:
                return "finished", ""
            self.losses.append(progress.step.loss)
            if progress.exact_match is not None:
                self.matches.append((progress.step.number, progress.exact_match))
            if self.seconds > most:
                return "stopped", f"Stopped after {most:.0f} seconds, the most a training may take."
            if self.abandoned():
                return "paused", self.nobody_looked()
            time.sleep(REST)
        return self.wanted, ""

    def abandoned(self) -> bool:
        """Whether nobody has looked for too long."""
        return time.monotonic() - self.last_look > self._trainings.patience

    def nobody_looked(self) -> str:
        """Why an abandoned training was paused."""
        return f"Paused because nobody looked for {self._trainings.patience:.0f} seconds."

    def finish(self) -> None:
        """Let go of what only further steps would need, and keep the attention of the last one."""
        self._progress.close()
        self._toy.snapshot(len(self.losses))

    def _seconds_left(self, name: Name, step: int, seconds: float) -> float | None:
        if name in ("stopped", "finished", "failed"):
            return 0.0
        if not step:
            return None
        left = (self.options.steps - step) * seconds / step
        return max(0.0, min(left, self._trainings.longest - seconds))

    def _newest_history(self) -> History:
        if len(self._toy.snapshots) > len(self._history.steps):
            self._history = self._toy.history()
        return self._history


class Trainings:
    """The trainings of all visitors: `at_once` of them train, the others wait in line.

    One that nobody has looked at for `patience` seconds is paused, and one that has trained for
    `longest` seconds is stopped. At most `waiting` may wait. A paused one is held by its visitor
    alone, so that nothing of it is left once they are gone.
    """

    def __init__(
        self,
        at_once: int = 1,
        *,
        patience: float = 120.0,
        longest: float = 600.0,
        waiting: int = 20,
    ) -> None:
        self.at_once = at_once
        self.patience = patience
        self.longest = longest
        self.waiting = waiting
        self._lock = threading.Lock()  # of the line, and of the names of all jobs
        self._line: deque[Job] = deque()
        self._running: set[Job] = set()

    def start(self, options: ToyOptions) -> Job:
        """Line a new training up; raises ValueError where too many wait already."""
        job = Job(self, options)
        job.name = "paused"
        self.line_up(job)
        return job

    def line_up(self, job: Job) -> None:
        """Put a paused training at the end of the line, or let it begin where there is room."""
        with self._lock:
            if job.name != "paused":
                return
            self._fill()
            if len(self._line) >= self.waiting:
                raise ValueError(
                    f"{len(self._line)} trainings wait already: try again in a few minutes."
                )
            job.name, job.note, job.wanted = "waiting", "", None
            self._line.append(job)
            self._fill()

    def place(self, job: Job) -> tuple[Name, str, int]:
        """A training's name and note, and its place in line from 1, or 0."""
        with self._lock:
            self._fill()
            return job.name, job.note, self._line.index(job) + 1 if job in self._line else 0

    def end(self, job: Job, name: Literal["paused", "stopped"]) -> None:
        """Pause or stop a training, and wait until its thread has ended."""
        with self._lock:
            if job.name == "waiting":
                self._line.remove(job)
            if job.name in ("waiting", "paused"):
                job.name, job.note = name, ""
            elif job.name == "training":
                job.wanted = name
            thread = job.thread
        if thread is not None:
            thread.join()
        elif job.name == "stopped":
            job.finish()

    def _fill(self) -> None:
        """Let the next ones begin, and those go that nobody waits for; the lock is held."""
        for job in [job for job in self._line if job.abandoned()]:
            self._line.remove(job)
            job.name, job.note = "paused", job.nobody_looked()
        while self._line and len(self._running) < self.at_once:
            job = self._line.popleft()
            job.name = "training"
            self._running.add(job)
            job.thread = threading.Thread(
                target=self._work, args=(job,), name="training", daemon=True
            )
            job.thread.start()

    def _work(self, job: Job) -> None:
        """One stretch of a training, in its own thread."""
        name, note = "failed", "The training failed."
        try:
            keep_in_the_background()
            name, note = job.run()
        except FloatingPointError as error:
            note = str(error)
        except Exception as error:  # told to the visitor, and whole to who runs the server
            logging.getLogger(__name__).exception("A training failed.")
            note = f"The training failed: {error}"
        finally:
            if name != "paused":
                name, note = finished(job, name, note)
            with self._lock:
                self._running.discard(job)
                job.name, job.note, job.thread = name, note, None
                self._fill()


def finished(job: Job, name: Name, note: str) -> tuple[Name, str]:
    """Let a training that is over go of what it needs no more; its name, and why it ended."""
    try:
        job.finish()
    except Exception as error:  # such as too little memory; others' trainings go on
        logging.getLogger(__name__).exception("A training failed in the end.")
        return "failed", f"The training failed: {error}"
    return name, note


def keep_in_the_background() -> None:
    """Give this thread one core at most, and less of it than threads that a visitor waits for."""
    others = torch.get_num_threads()
    torch.set_num_threads(1)
    # torch keeps that for this thread, but also for every thread to come: take the latter back.
    restore = threading.Thread(target=torch.set_num_threads, args=(others,))
    restore.start()
    restore.join()
    with contextlib.suppress(AttributeError, OSError):  # only Linux lets one thread be nicer
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


def thinned(values: np.ndarray, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Means over stretches of equal length, at most `points` of them: where each ends, from 1."""
    if not len(values):
        return np.zeros(0, dtype=int), np.zeros(0)
    size = -(-len(values) // points)
    starts = np.arange(0, len(values), size)
    ends = np.append(starts[1:], len(values))
    return ends, np.add.reduceat(values, starts) / (ends - starts)
