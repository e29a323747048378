"""Queues of jobs for many visitors: a few run at once, each in a thread, and the others wait."""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import torch
from torch.overrides import TorchFunctionMode

Result = TypeVar("Result")
Status = Literal["waiting", "running", "paused", "stopped", "finished", "failed"]
ACTIVE = ("waiting", "running")
# a thread with this niceness gets a third of the time of a normal thread on the same core
NICENESS = 5


class EndedError(Exception):
    """Ends a job before its work is done, with a status and a note that says why."""

    def __init__(self, status: Status, note: str = "") -> None:
        super().__init__(note)
        self.status: Status = status
        self.note = note


class JobState(NamedTuple):
    """The state of a job at one moment."""

    status: Status
    note: str  # why the job has this status; "" if a visitor asked for it
    place: int  # the job's place in the queue, from 1; 0 if it is not waiting


class JobQueue:
    """Runs at most `at_once` jobs; up to `waiting` others wait, first come, first served.

    Further jobs are refused with the sentence `full`. `longest` and `patience` are limits in
    seconds that the jobs themselves keep: how long a job may run, and how long it goes on after a
    visitor last asked for it. Threads have the queue's name, and are daemons: the process can end
    before they do.
    """

    def __init__(
        self,
        name: str,
        at_once: int,
        waiting: int,
        *,
        full: str = "{count} jobs are waiting already: try again in a few minutes.",
        longest: float = math.inf,
        patience: float = math.inf,
    ) -> None:
        self.name = name
        self.at_once = at_once
        self.waiting = waiting
        self.full = full
        self.longest = longest
        self.patience = patience
        self.jobs: list[Job] = []  # the jobs that wait or run
        self.left: set[Job] = set()  # jobs that `leave` gave up, while their threads still run
        self.lock = threading.Lock()  # held while the status of any job changes

    def add(self, job: Job) -> None:
        """Start a paused job if there is room, or let it wait.

        Raises ValueError if too many jobs wait already.
        """
        with self.lock:
            if job.status != "paused":
                return
            count = len(self._in_line())
            if count >= self.waiting:
                raise ValueError(self.full.format(count=count))
            job.begin_to_wait()
            self.jobs.append(job)
            self._start_next()

    def state(self, job: Job) -> JobState:
        with self.lock:
            line = self._in_line()
            return JobState(job.status, job.note, line.index(job) + 1 if job in line else 0)

    def end(self, job: Job, status: Status, note: str = "") -> None:
        """Record that a job's thread has ended, and start the next job."""
        with self.lock:
            if job in self.left:
                self.left.remove(job)
                return
            self.jobs.remove(job)
            job.end(status, note)
            self._start_next()

    def leave(self, job: Job, note: str) -> None:
        """Give up a job whose thread does not end: mark it as failed, and start the next job."""
        with self.lock:
            if job.status == "running":
                self.left.add(job)
                self.jobs.remove(job)
                job.end("failed", note)
                self._start_next()

    def ask_to_end(self, job: Job, status: Literal["paused", "stopped"]) -> bool:
        """End a job that waits, or ask a running one to end; return whether it was running."""
        with self.lock:
            if job.status == "running":
                job.wanted = status
                return True
            if job.status == "waiting":
                self.jobs.remove(job)
            if job.status in ("waiting", "paused"):
                job.end(status)
            return False

    def _in_line(self) -> list[Job]:
        """Pause the waiting jobs that no visitor wants any more, and return the others."""
        for job in [job for job in self.jobs if job.status == "waiting"]:
            if note := job.neglected():
                self.jobs.remove(job)
                job.end("paused", note)
        return [job for job in self.jobs if job.status == "waiting"]

    def _start_next(self) -> None:
        line = self._in_line()
        for job in line[: self.at_once - (len(self.jobs) - len(line))]:
            job.start()


class Job(Generic[Result]):
    """Work that waits in a queue, runs, and can be paused, resumed and stopped.

    A job starts with `resume`, and has a thread only while it runs. Each kind of job is a subclass
    with its `work`, which calls `check` between two steps. An error in it ends only this job.
    """

    def __init__(self, queue: JobQueue) -> None:
        self.queue = queue
        self.status: Status = "paused"
        self.note = ""
        self.result: Result | Any = None  # the result of the work; None until the work is finished
        self.done, self.total = 0, 0  # the number of finished steps, and the number of all steps
        self.wanted: Status | None = None  # the status that a visitor asked for while the job runs
        self._thread: threading.Thread | None = None
        self._idle = threading.Event()
        # The seconds that the job ran before its last pause, and the time when it last began to
        # run.
        self._seconds, self._began = 0.0, 0.0

    def work(self) -> Result:
        """Do the work, going on where it was paused, and return the result."""
        raise NotImplementedError

    def close(self) -> None:
        """Release what the work needed; called when the job has ended for good."""

    def explain(self, error: BaseException) -> str:
        """Return a sentence on why the job failed, from the error."""
        return str(error)

    def neglected(self) -> str:
        """Return why the job should pause although no visitor asked for it, or ""."""
        return ""

    def check(self) -> None:
        """Raise EndedError, which ends the work, if the job should end."""
        if self.wanted:
            raise EndedError(self.wanted)
        if note := self.neglected():
            raise EndedError("paused", note)

    def resume(self) -> None:
        """Start or continue the job when its turn comes; raises ValueError if too many wait."""
        self.queue.add(self)

    def pause(self) -> None:
        """Pause the job and take it out of the queue; `resume` goes on with the next step."""
        if self.queue.ask_to_end(self, "paused") and self._thread:
            self._thread.join()

    def stop(self, *, wait: bool = True) -> None:
        """Stop the job for good; with `wait`, return only after its thread has ended."""
        if self.queue.ask_to_end(self, "stopped"):
            if wait and self._thread:
                self._thread.join()
        elif self.status == "stopped":
            self.close()

    def join(self, timeout: float | None = None) -> Result | None:
        """Wait until the job neither waits nor runs, at most `timeout` seconds; return its result.

        The result is None if the job has not finished.
        """
        self._idle.wait(timeout)
        return self.result

    def state(self) -> JobState:
        return self.queue.state(self)

    @property
    def is_active(self) -> bool:
        """True if the job waits or runs."""
        return self.state().status in ACTIVE

    @property
    def seconds(self) -> float:
        """The number of seconds that the job has run, without pauses."""
        with self.queue.lock:
            running = time.monotonic() - self._began if self.status == "running" else 0.0
            return self._seconds + running

    def seconds_left(self) -> float | None:
        """Return how many seconds the job still needs at its speed so far.

        The result is None before the first step, and 0 if the job has ended.
        """
        if self.status in ("stopped", "finished", "failed"):
            return 0.0
        if not self.done:
            return None
        seconds = self.seconds
        left = seconds * (self.total - self.done) / self.done
        return max(0.0, min(left, self.queue.longest - seconds))

    # The queue calls these three methods while it holds its lock.

    def begin_to_wait(self) -> None:
        self.status, self.note, self.wanted = "waiting", "", None
        self._idle.clear()

    def start(self) -> None:
        self.status, self._began = "running", time.monotonic()
        self._thread = threading.Thread(target=self._run, name=self.queue.name, daemon=True)
        self._thread.start()

    def end(self, status: Status, note: str = "") -> None:
        if self.status == "running":
            self._seconds += time.monotonic() - self._began
        self.status, self.note = status, note
        self._idle.set()

    def _run(self) -> None:
        status: Status = "failed"
        note = ""
        try:
            status, note = self._attempt(self._work)
            if status != "paused":
                closed, why = self._attempt(self.close)
                if closed == "failed":
                    status, note = closed, why
        finally:  # also after an unexpected error, so that the next job starts
            self.queue.end(self, status, note)

    def _work(self) -> None:
        self.result = self.work()

    def _attempt(self, part: Callable[[], None]) -> tuple[Status, str]:
        try:
            part()
        except EndedError as error:
            return error.status, error.note
        # not only Exception, because a panic in Rust code is no Exception
        except BaseException as error:
            return "failed", self.explain(error)
        return "finished", ""


class Checked(TorchFunctionMode):
    """A context in which every call of torch first checks whether the job should end."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job

    def __torch_function__(
        self, function: Callable, types: object, args: tuple = (), kwargs: dict | None = None
    ) -> object:
        """Call a function of torch, unless the job should end."""
        self.job.check()
        return function(*args, **(kwargs or {}))


def keep_in_the_background() -> None:
    """Limit this thread to one core and a lower priority: visitors wait for other threads."""
    others = torch.get_num_threads()
    torch.set_num_threads(1)
    # torch gives this limit to all threads that start later; a short thread lifts it for them.
    restore = threading.Thread(target=torch.set_num_threads, args=(others,))
    restore.start()
    restore.join()
    # only Linux has priorities of single threads
    with contextlib.suppress(AttributeError, OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
