"""A visitor's training: a job with a time limit, whose results can be read at any time."""

import copy
import logging
import threading
import time
from dataclasses import dataclass

import numpy as np

from headlight.model.jobs import EndedError, Job, JobQueue, Status, keep_in_the_background
from headlight.model.memory_layout import lay_out
from headlight.model.own_reader import OwnReader
from headlight.model.snapshots import Snapshots
from headlight.model.training.step import learning_rate
from headlight.model.translator import reader_of
from headlight.wings.training.repeats import Lesion, small_model
from headlight.wings.training.small_models import TrainingOptions
from headlight.wings.training.tasks import Task

POINTS = 300  # the most points of the loss curve
REST = 0.002  # seconds of sleep between two steps, so that other threads get their turn
FULL = "{count} trainings are already waiting: try again in a few minutes."
TOO_LONG = "Stopped after {seconds:.0f} seconds, the most a training may take."
NOT_OPEN = "Paused: the Training page was not open for {seconds:.0f} seconds."


@dataclass(frozen=True)
class TrainingState:
    """The state of a training at one moment.

    A point of the losses is their mean, in nats a token, over the steps since the previous point;
    the step and the learning rate are those of the last of these steps. `seconds` is the time spent
    training.
    """

    status: Status
    note: str  # why the training has this status, if its visitor did not choose it
    place: int  # place in the queue, from 1; 0 if it is not waiting
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


def training_queue(
    at_once: int = 1, *, patience: float = 120.0, longest: float = 600.0, waiting: int = 20
) -> JobQueue:
    """Return a queue for the trainings of all visitors.

    A training is paused if its visitor does not look for `patience` seconds, and stopped after
    `longest` seconds of training. Only the visitor's session refers to a paused training, so its
    memory is freed when the visitor leaves.
    """
    limits = {"longest": longest, "patience": patience}
    return JobQueue("training", at_once, waiting, full=FULL, **limits)


class TrainingJob(Job[None]):
    """One visitor's training."""

    def __init__(self, queue: JobQueue, options: TrainingOptions) -> None:
        super().__init__(queue)
        self.options = options
        self.total = options.steps
        self.last_look = time.monotonic()
        self.losses: list[float] = []
        self.matches: list[tuple[int, float]] = []
        self._model = small_model(options)
        self._steps = self._model.train()
        self._weights = threading.Lock()  # locked while a step changes the weights
        self._snapshots = self._model.snapshots()

    @property
    def task(self) -> Task:
        return self._model.task

    def look(self) -> TrainingState:
        """Return the progress, and note that the visitor is looking, so that training goes on."""
        self.last_look = time.monotonic()
        return self.progress()

    def progress(self) -> TrainingState:
        """Return the progress, without waiting for the running step."""
        state = self.state()  # read first, so that no other value is older
        losses, matches = self.losses[:], self.matches[:]
        ends, means = thinned(np.array(losses), POINTS)
        settings = self.options.settings
        rates = [learning_rate(int(end), self.options.d_model, settings) for end in ends]
        return TrainingState(
            **state._asdict(),
            step=len(losses),
            steps=self.total,
            seconds=self.seconds,
            seconds_left=self.seconds_left(),
            loss_steps=ends,
            losses=means,
            learning_rates=np.array(rates),
            match_steps=np.array([step for step, _ in matches], dtype=int),
            matches=np.array([share for _, share in matches]),
            snapshots=self._newest_snapshots(),
        )

    def resume(self) -> None:
        self.last_look = time.monotonic()
        super().resume()

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
        """Return what a decoder loses without its previous-token head; None with an encoder."""
        with self._weights:
            return self._model.lesion()

    def work(self) -> None:
        keep_in_the_background()
        self.check()
        while self.step():
            if self.seconds > self.queue.longest:
                raise EndedError("stopped", TOO_LONG.format(seconds=self.queue.longest))
            self.check()
            time.sleep(REST)

    def step(self) -> bool:
        """Train for one step; return False if there is none left."""
        with self._weights:
            scored = next(self._steps, None)
        if scored is None:
            return False
        self.losses.append(scored.loss)
        if scored.score is not None:
            self.matches.append((scored.number, scored.score))
        self.done = len(self.losses)
        return True

    def neglected(self) -> str:
        """Return why to pause the training, if the visitor has not looked for too long."""
        patience = self.queue.patience
        waited = time.monotonic() - self.last_look
        return NOT_OPEN.format(seconds=patience) if waited > patience else ""

    def close(self) -> None:
        """Drop everything that only further steps need, and keep the attention of the last step."""
        self._steps.close()
        self._model.keep_snapshot(len(self.losses))

    def explain(self, error: BaseException) -> str:
        """Return why a training failed, for the visitor; an unexpected error goes to the log."""
        if isinstance(error, FloatingPointError):
            return str(error)
        logging.getLogger(__name__).error("A training failed.", exc_info=error)
        return f"The training failed: {error}"

    def _newest_snapshots(self) -> Snapshots:
        if len(self._model.shots) > len(self._snapshots.steps):
            self._snapshots = self._model.snapshots()
        return self._snapshots


def thinned(values: np.ndarray, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends (from 1) and means of at most `points` equally long stretches of values."""
    if not len(values):
        return np.zeros(0, dtype=int), np.zeros(0)
    size = -(-len(values) // points)
    starts = np.arange(0, len(values), size)
    ends = np.append(starts[1:], len(values))
    return ends, np.add.reduceat(values, starts) / (ends - starts)
