"""Work for many visitors: a few jobs at once, each in its own thread, the others in a queue."""

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
NICENESS = 5  # a third of the time of another thread that wants the same core


class EndedError(Exception):
    """A job ends before its work is done, with this status and for this reason."""

    def __init__(self, status: Status, note: str = "") -> None:
        super().__init__(note)
        self.status: Status = status
        self.note = note


class JobState(NamedTuple):
    """The state of a job at one moment."""

    status: Status
    note: str  # why it has this status, if no visitor asked for it
    place: int  # in the queue, from 1; 0 if it is not waiting


class JobQueue:
    """Runs at most `at_once` jobs; up to `waiting` others wait, first come, first served.

    Further jobs are refused with the sentence `full`. A job may run for `longest` seconds, and is
    dropped if no visitor asks for it within `patience` seconds; both limits are optional. The
    threads are daemons, so that the process can end before them, and have the queue's name.
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
        self.jobs: list[Job] = []  # that wait or run
        self.left: set[Job] = set()  # dropped jobs whose threads have not ended
        self.lock = threading.Lock()  # held while the status of a job changes

    def add(self, job: Job) -> None:
        """Queue a paused job, or start it if there is room.

        Raises ValueError if too many jobs wait.
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
        """Note that a job has ended, and start the next."""
        with self.lock:
            if job in self.left:
                self.left.remove(job)
                return
            self.jobs.remove(job)
            job.end(status, note)
            self._start_next()

    def leave(self, job: Job, note: str) -> None:
        """Mark a job whose thread does not end as failed, and start the next."""
        with self.lock:
            if job.status == "running":
                self.left.add(job)
                self.jobs.remove(job)
                job.end("failed", note)
                self._start_next()

    def ask_to_end(self, job: Job, status: Literal["paused", "stopped"]) -> bool:
        """End a job that does not run; return whether it runs and was asked to end."""
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
        """Return the waiting jobs; pauses those that no visitor wants any more."""
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

    It starts with `resume`, and has a thread only while it runs. Each kind of job defines its
    `work`, and calls `check` between two steps. An error ends its own job only.
    """

    def __init__(self, queue: JobQueue) -> None:
        self.queue = queue
        self.status: Status = "paused"
        self.note = ""
        self.result: Result | Any = None  # None until it is finished
        self.done, self.total = 0, 0  # steps of the work
        self.wanted: Status | None = None  # what a visitor asked of the thread
        self._thread: threading.Thread | None = None
        self._idle = threading.Event()
        self._seconds, self._began = 0.0, 0.0  # of earlier stretches, of this one

    def work(self) -> Result:
        """Do the work, from where it was paused."""
        raise NotImplementedError

    def close(self) -> None:
        """Release what only further work needs, once the job has ended for good."""

    def explain(self, error: BaseException) -> str:
        """Return the note of a job that failed."""
        return str(error)

    def neglected(self) -> str:
        """Return why the job should end although no visitor paused or stopped it, or ""."""
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
        """Pause, and give up the place in the queue; `resume` continues with the next step."""
        if self.queue.ask_to_end(self, "paused") and self._thread:
            self._thread.join()

    def stop(self, *, wait: bool = True) -> None:
        """Stop for good; with `wait`, return only after the job's thread has ended."""
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
        """Whether the job waits or runs."""
        return self.state().status in ACTIVE

    @property
    def seconds(self) -> float:
        """The seconds for which the job has run."""
        with self.queue.lock:
            running = time.monotonic() - self._began if self.status == "running" else 0.0
            return self._seconds + running

    def seconds_left(self) -> float | None:
        """Return the seconds left at the speed so far; None if not known, 0 if it has ended."""
        if self.status in ("stopped", "finished", "failed"):
            return 0.0
        if not self.done:
            return None
        seconds = self.seconds
        left = seconds * (self.total - self.done) / self.done
        return max(0.0, min(left, self.queue.longest - seconds))

    # The queue calls these three, with its lock held.

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
        finally:  # whatever happens, the next job begins
            self.queue.end(self, status, note)

    def _work(self) -> None:
        self.result = self.work()

    def _attempt(self, part: Callable[[], None]) -> tuple[Status, str]:
        try:
            part()
        except EndedError as error:
            return error.status, error.note
        except BaseException as error:  # such as too little memory, or a panic in Rust code
            return "failed", self.explain(error)
        return "finished", ""


class Checked(TorchFunctionMode):
    """Ends the work of a job at its next call of torch if the job should not go on."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job

    def __torch_function__(
        self, function: Callable, types: object, args: tuple = (), kwargs: dict | None = None
    ) -> object:
        """Call a function of torch."""
        self.job.check()
        return function(*args, **(kwargs or {}))


def keep_in_the_background() -> None:
    """Limit this thread to one core, at a lower priority than threads that a visitor waits for."""
    others = torch.get_num_threads()
    torch.set_num_threads(1)
    # torch applies that to this thread and to every later one, so restore it for later ones.
    restore = threading.Thread(target=torch.set_num_threads, args=(others,))
    restore.start()
    restore.join()
    with contextlib.suppress(AttributeError, OSError):  # only Linux lets one thread be nicer
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
