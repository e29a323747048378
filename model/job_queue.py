"""Work for many visitors: a few jobs at once, each in its own thread, the others in a queue."""

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TypeVar

import torch

Result = TypeVar("Result")
NICENESS = 5  # a third of the time of another thread that wants the same core


class QueueFullError(ValueError):
    """Too many jobs are waiting; `waiting` is their number."""

    def __init__(self, waiting: int) -> None:
        super().__init__(f"{waiting} jobs are waiting already: try again in a few minutes.")
        self.waiting = waiting


class Job(Future[Result]):
    """A job in a queue; like every future, it can be cancelled while it waits."""

    def __init__(self, work: Callable[[], Result]) -> None:
        super().__init__()
        self.work: Callable[[], Result] | None = work  # None once it is done
        self.thread: threading.Thread | None = None

    def join(self) -> None:
        """Wait until a running job has left its thread."""
        if self.thread is not None:
            self.thread.join()


class JobQueue:
    """Runs at most `at_once` jobs; up to `waiting` others wait, first come, first served.

    An error stays in its job and stops no other. The threads are daemons, so that a process can end
    before they do; their name is that of the queue.
    """

    def __init__(self, name: str, at_once: int, waiting: int) -> None:
        self.name = name
        self.at_once = at_once
        self.waiting = waiting
        self._lock = threading.Lock()
        self._line: deque[Job] = deque()
        self._running = 0

    def submit(self, work: Callable[[], Result]) -> Job[Result]:
        """Put work at the end of the queue, or start it if there is room.

        Raises QueueFullError if too many jobs wait.
        """
        with self._lock:
            self._drop_cancelled()
            if len(self._line) >= self.waiting:
                raise QueueFullError(len(self._line))
            job = Job(work)
            self._line.append(job)
            self._start_next()
            return job

    def place(self, job: Job) -> int:
        """Return a job's place in the queue, from 1; 0 if it is not waiting."""
        with self._lock:
            self._drop_cancelled()
            return self._line.index(job) + 1 if job in self._line else 0

    def _drop_cancelled(self) -> None:
        self._line = deque(job for job in self._line if not job.cancelled())

    def _start_next(self) -> None:
        while self._line and self._running < self.at_once:
            job = self._line.popleft()
            if job.set_running_or_notify_cancel():
                self._running += 1
                job.thread = threading.Thread(
                    target=self._run, args=(job,), name=self.name, daemon=True
                )
                job.thread.start()

    def _run(self, job: Job) -> None:
        try:
            report = partial(job.set_result, job.work())
        except BaseException as error:
            report = partial(job.set_exception, error)
        job.work = None
        with self._lock:
            self._running -= 1
            self._start_next()
        report()


def keep_in_the_background() -> None:
    """Limit this thread to one core, at a lower priority than threads that a visitor waits for."""
    others = torch.get_num_threads()
    torch.set_num_threads(1)
    # torch applies that to this thread and to every later one: take the latter back.
    restore = threading.Thread(target=torch.set_num_threads, args=(others,))
    restore.start()
    restore.join()
    with contextlib.suppress(AttributeError, OSError):  # only Linux lets one thread be nicer
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
