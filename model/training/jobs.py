"""Visitors' trainings: a few run, the others wait in a queue, and each has a time limit."""

from __future__ import annotations

import copy
import logging
import threading
import time
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from model.job_queue import Job, JobQueue, QueueFullError, keep_in_the_background
from model.memory_layout import lay_out
from model.own_reader import OwnReader
from model.training.loop import learning_rate, thinned
from model.training.repeats import Lesion, small_model
from model.training.small_models import TrainingOptions
from model.training.snapshots import Snapshots
from model.training.tasks import Task
from model.translator import reader_of

Status = Literal["waiting", "training", "paused", "stopped", "finished", "failed"]
POINTS = 300  # of the loss curve
REST = 0.002  # seconds between two steps in which others come to turn


@dataclass(frozen=True)
class TrainingState:
    """The state of a training at one moment.

    A point of the losses is their mean, in nats a token, over the steps since the previous point;
    the step and the learning rate are those of the last of them. `seconds` is the time spent
    training.
    """

    status: Status
    note: str  # why it has this status, if the visitor did not ask for it
    place: int  # in line, from 1; 0 if it is not waiting
    step: int
    steps: int
    seconds: float
    seconds_left: float | None  # None until there are steps to estimate it from
    loss_steps: np.ndarray  # (points,)
    losses: np.ndarray  # (points,)
    learning_rates: np.ndarray  # (points,)
    match_steps: np.ndarray  # (counts,)
    matches: np.ndarray  # (counts,) share of unseen examples without a mistake, or induction score
    snapshots: Snapshots


class TrainingJob:
    """One visitor's training; made by `Trainings.start`.

    It only has a thread while it trains. Its results so far can be read at any time.
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
        return self._model.task

    def look(self) -> TrainingState:
        """Return the state for a present visitor; without visitors a training is soon paused."""
        self.last_look = time.monotonic()
        return self.state

    @property
    def state(self) -> TrainingState:
        """The current state, read without waiting for the running step."""
        # Read first: later values are as new or newer.
        status, note, place = self._trainings.place(self)
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
        """Pause, and give up the place in the queue; `resume` continues with the next step."""
        self._trainings.end(self, "paused")

    def resume(self) -> None:
        """Queue again if paused; raises ValueError if too many wait."""
        self.last_look = time.monotonic()
        self._trainings.line_up(self)

    def stop(self) -> None:
        """Stop for good; when this returns, the training has no thread."""
        self._trainings.end(self, "stopped")

    def reader(self) -> OwnReader:
        """Return a copy of the current model, which further steps do not change.

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
        """Return what a model loses without its previous-token head; None with an encoder."""
        with self._weights:
            return self._model.lesion()

    def run(self) -> tuple[Status, str]:
        """Train in this thread until something ends it; return the new status and the reason."""
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
        """Return whether no visitor has looked for too long."""
        return time.monotonic() - self.last_look > self._trainings.patience

    def why_abandoned(self) -> str:
        return f"Paused: the Training page was not open for {self._trainings.patience:.0f} seconds."

    def finish(self) -> None:
        """Drop everything that only further steps need, and keep the attention of the last step."""
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
    """The trainings of all visitors: `at_once` of them run, the others wait in a queue.

    A training is paused if no visitor looks for `patience` seconds, and stopped after `longest`
    seconds of training. At most `waiting` may wait. Only its visitor holds a paused training, so
    that nothing of it is left once they are gone.
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
        """Start a new training or queue it; raises ValueError if too many wait."""
        job = TrainingJob(self, options)
        self.line_up(job)
        return job

    def line_up(self, job: TrainingJob) -> None:
        """Put a paused training at the end of the queue, or start it if there is room."""
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
        """Return a training's status and note, and its place in the queue from 1, or 0."""
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
        """Take a training out of the queue; returns False if it already trains."""
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
    """Let an ended training drop what it no longer needs; return its status and the reason."""
    try:
        job.finish()
    except Exception as error:  # such as too little memory; other trainings continue
        logging.getLogger(__name__).exception("A training failed in the end.")
        return "failed", f"The training failed: {error}"
    return status, note
