"""Visitors' trainings: a few at a time, the others in line, each with a time limit."""

from __future__ import annotations

import copy
import logging
import threading
import time
from functools import partial
from typing import Literal

import numpy as np

from model.job_queue import Job, JobQueue, QueueFullError, keep_in_the_background
from model.memory_layout import lay_out
from model.own_reader import OwnReader
from model.training.loop import learning_rate
from model.training.repeats import Lesion, small_model
from model.training.small_models import TrainingOptions
from model.training.snapshots import Snapshots
from model.training.state import POINTS, Status, TrainingState, thinned
from model.training.tasks import Task
from model.translator import reader_of

REST = 0.002  # seconds between two steps in which others come to turn


class TrainingJob:
    """One visitor's training; made by `Trainings.start`.

    It has a thread only while it trains. What it has written so far may be read at any time.
    """

    def __init__(self, trainings: Trainings, options: TrainingOptions) -> None:
        self.options = options
        self.status: Status = "paused"
        self.note = ""
        self.last_look = time.monotonic()
        self.wanted: Status | None = None  # what a visitor asked of the thread
        self.queued: Job[None] | None = None  # its latest stretch
        self.seconds = 0.0
        self.losses: list[float] = []
        self.matches: list[tuple[int, float]] = []
        self._trainings = trainings
        self._model = small_model(options)
        self._steps = self._model.train()
        self._weights = threading.Lock()  # held while a step changes them
        self._snapshots = self._model.snapshots()

    @property
    def task(self) -> Task:
        """What is being learned."""
        return self._model.task

    def look(self) -> TrainingState:
        """Return the state for a visitor who is there; without one a training is soon paused."""
        self.last_look = time.monotonic()
        return self.state

    @property
    def state(self) -> TrainingState:
        """What is known now, read without waiting for the step under way."""
        status, note, place = self._trainings.place(self)  # first: what follows is as new or newer
        losses, matches, seconds = self.losses[:], self.matches[:], self.seconds
        step, steps = len(losses), self.options.steps
        ends, means = thinned(np.array(losses), POINTS)
        settings = self.options.settings
        rates = [learning_rate(int(end), self.options.d_model, settings) for end in ends]
        return TrainingState(
            status=status,
            note=note,
            place=place,
            step=step,
            steps=steps,
            seconds=seconds,
            seconds_left=self._seconds_left(status, step, seconds),
            loss_steps=ends,
            losses=means,
            learning_rates=np.array(rates),
            match_steps=np.array([step for step, _ in matches], dtype=int),
            matches=np.array([share for _, share in matches]),
            snapshots=self._newest_snapshots(),
        )

    def pause(self) -> None:
        """Stop for now and give up the place; `resume` continues with the next step."""
        self._trainings.end(self, "paused")

    def resume(self) -> None:
        """Get back in line if paused; raises ValueError if too many wait."""
        self.last_look = time.monotonic()
        self._trainings.line_up(self)

    def stop(self) -> None:
        """Stop for good; when this returns, the training has no thread."""
        self._trainings.end(self, "stopped")

    def reader(self) -> OwnReader:
        """Return a copy of the model as it is now, which further steps do not change.

        Raises ValueError if training has ruined the weights.
        """
        with self._weights:
            model = copy.deepcopy(self._model.model)
        model.zero_grad()
        if not all(parameter.isfinite().all() for parameter in model.parameters()):
            raise ValueError(
                "Training diverged (the weights are not finite numbers). Lower the learning rate "
                "and train again."
            )
        return reader_of(lay_out(model), self._model.tokenizer)

    def lesion(self) -> Lesion | None:
        """Return what a decoder alone loses without its previous-token head; None for others."""
        with self._weights:
            return self._model.lesion()

    def run(self) -> tuple[Status, str]:
        """Train in this thread until something ends it; return the new status and why."""
        most = self._trainings.longest
        before, began = self.seconds, time.monotonic()
        while self.wanted is None:
            with self._weights:
                scored = next(self._steps, None)
            now = time.monotonic()
            self.seconds = before + now - began
            if scored is None:
                return "finished", ""
            self.losses.append(scored.step.loss)
            if scored.score is not None:
                self.matches.append((scored.step.number, scored.score))
            if self.seconds > most:
                return "stopped", f"Stopped after {most:.0f} seconds, the most a training may take."
            if self.is_abandoned():
                return "paused", self.why_abandoned()
            time.sleep(REST)
        return self.wanted, ""

    def is_abandoned(self) -> bool:
        """Return whether nobody has looked for too long."""
        return time.monotonic() - self.last_look > self._trainings.patience

    def why_abandoned(self) -> str:
        """Return why an abandoned training was paused."""
        seconds = self._trainings.patience
        return f"Paused: the Training page was not open for {seconds:.0f} seconds."

    def finish(self) -> None:
        """Let go of what only further steps would need, and keep the attention of the last one."""
        self._steps.close()
        self._model.keep_snapshot(len(self.losses))

    def _seconds_left(self, status: Status, step: int, seconds: float) -> float | None:
        if status in ("stopped", "finished", "failed"):
            return 0.0
        if not step:
            return None
        left = (self.options.steps - step) * seconds / step
        return max(0.0, min(left, self._trainings.longest - seconds))

    def _newest_snapshots(self) -> Snapshots:
        if len(self._model.shots) > len(self._snapshots.steps):
            self._snapshots = self._model.snapshots()
        return self._snapshots


class Trainings:
    """The trainings of all visitors, `at_once` of them training while the others wait in line.

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
        self.patience = patience
        self.longest = longest
        self._queue = JobQueue("training", at_once, waiting)
        self._lock = threading.Lock()  # of the statuses of all jobs
        self._queued: list[TrainingJob] = []  # that wait or train

    def start(self, options: TrainingOptions) -> TrainingJob:
        """Start a new training or put it in line; raises ValueError if too many wait."""
        job = TrainingJob(self, options)
        self.line_up(job)
        return job

    def line_up(self, job: TrainingJob) -> None:
        """Put a paused training at the end of the line, or let it begin if there is room."""
        with self._lock:
            if job.status != "paused":
                return
            self._pause_abandoned()
            job.wanted = None
            try:
                job.queued = self._queue.submit(partial(self._work, job))
            except QueueFullError as error:
                raise ValueError(
                    f"{error.waiting} trainings wait already: try again in a few minutes."
                ) from None
            job.status, job.note = "waiting", ""
            self._queued.append(job)

    def place(self, job: TrainingJob) -> tuple[Status, str, int]:
        """Return a training's status and note, and its place in line from 1, or 0."""
        with self._lock:
            self._pause_abandoned()
            if job.status != "waiting":
                return job.status, job.note, 0
            place = self._queue.place(job.queued)
            return "waiting" if place else "training", job.note, place

    def end(self, job: TrainingJob, status: Literal["paused", "stopped"]) -> None:
        """Pause or stop a training, and wait until its thread has ended."""
        training = False
        with self._lock:
            if job.status == "paused":
                job.status, job.note = status, ""
            elif job.status == "waiting" and not self._leave(job, status, ""):
                job.wanted, training = status, True
        if training:
            job.queued.join()
        elif job.status == "stopped":
            job.finish()

    def _leave(self, job: TrainingJob, status: Status, note: str) -> bool:
        """Take a training out of the line; False if it trains already."""
        if not job.queued.cancel():
            return False
        self._queued.remove(job)
        job.status, job.note = status, note
        return True

    def _pause_abandoned(self) -> None:
        for job in [job for job in self._queued if job.is_abandoned()]:
            self._leave(job, "paused", job.why_abandoned())

    def _work(self, job: TrainingJob) -> None:
        """Run one stretch of a training, in its own thread."""
        status, note = "failed", "The training failed."
        try:
            keep_in_the_background()
            status, note = job.run()
        except FloatingPointError as error:
            note = str(error)
        except Exception as error:  # shown to the visitor, and in full to who runs the server
            logging.getLogger(__name__).exception("A training failed.")
            note = f"The training failed: {error}"
        finally:
            if status != "paused":
                status, note = finished(job, status, note)
            with self._lock:
                self._queued.remove(job)
                job.status, job.note = status, note


def finished(job: TrainingJob, status: Status, note: str) -> tuple[Status, str]:
    """Let an ended training go of what it needs no more; return its status, and why it ended."""
    try:
        job.finish()
    except Exception as error:  # such as too little memory; others' trainings go on
        logging.getLogger(__name__).exception("A training failed in the end.")
        return "failed", f"The training failed: {error}"
    return status, note
