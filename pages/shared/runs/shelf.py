"""Models of the transformers library: loaded when a visitor asks, and kept for all visitors."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from threading import Lock
from typing import Literal
from weakref import WeakSet

import streamlit as st
from cachetools import LRUCache

from model.job_queue import JobQueue
from model.library.card import Card, read_card
from model.library.hub import LoadingError, first_line
from model.library.loading import fetch_model, load_from_library
from model.library.trial import StoppedError, Trials
from model.reader import Reader
from pages.shared.runs import housekeeping, limits
from pages.shared.runs.allowed import is_allowed, refusal
from pages.shared.runs.line import GoneError, Line
from pages.shared.state.choices import LONGEST_SENTENCE

Stage = Literal["begin", "download", "line", "trial", "reading"]
MOST_WAITING = 10  # models to be loaded, those under way included
MANY = "{count} models are being loaded already: try again in a few minutes."
GONE = "{name} is not in memory. Load it to go on."
STOPPED = "Nobody waited for {name} any more. Load it again."
_numbers = count(1)
_trials = Trials()
_tried, _read = Line(), Line()  # one model is tried at a time, and one read into this process


@dataclass(eq=False)
class Loaded:
    """A model in memory; the `number` of its loading tells it from another of the same name.

    It stays as long as it is `held_by` a visitor's list, and nothing newer needs its room.
    """

    name: str
    reader: Reader
    card: Card = Card()
    number: int = field(default_factory=lambda: next(_numbers))
    held_by: WeakSet[object] = field(default_factory=WeakSet)
    was_held: bool = False


class LoadJob:
    """A model being loaded: how far it is, and in the end the model or why there is none.

    It goes on as long as one of its visitors waits.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.stage: Stage = "begin"
        self.share = 0.0  # of the bytes to download
        self.result: Future[Loaded] = Future()
        self.visitors: WeakSet[object] = WeakSet()

    @property
    def before(self) -> int:
        """How many models are to be tried before this one."""
        return _tried.before(self)

    def is_stopped(self) -> bool:
        """Return whether nobody waits any more."""
        return not self.visitors

    def progress(self, done: int, total: int) -> None:
        """Note how far the download is; called from several threads, which it may stop."""
        if self.is_stopped():
            raise LoadingError(STOPPED.format(name=self.name))
        self.stage, self.share = "download", min(1.0, done / max(total, 1))

    def load(self) -> Loaded:
        """Load the model; raise LoadingError, whatever went wrong."""
        try:
            return self.tried_and_read()
        except LoadingError:
            raise
        except (StoppedError, GoneError):
            raise LoadingError(STOPPED.format(name=self.name)) from None
        except BaseException as error:  # such as too little memory, or a panic of Rust's
            raise LoadingError(f"{self.name} could not be loaded: {first_line(error)}") from error

    def tried_and_read(self) -> Loaded:
        """Load the model, once it went well in a process of its own."""
        folder = fetch_model(self.name, self.progress)
        self.stage = "line"
        with _tried.turn(self, self.is_stopped):
            self.stage = "trial"
            how = {"longest": LONGEST_SENTENCE, "seconds": limits.LOADING_SECONDS}
            _trials.run(self.name, folder, is_stopped=self.is_stopped, **how)
        with _read.turn(self, self.is_stopped):
            self.stage = "reading"
            # The folder that was tried: what is on the hub may be another model by now.
            found = load_from_library(str(folder))
        found.title = self.name
        return Loaded(self.name, found, read_card(self.name))


class Shelf:
    """The models in memory, and those on their way."""

    def __init__(self) -> None:
        self.loaded: LRUCache[str, Loaded] = LRUCache(limits.MODELS)  # of all visitors together
        self.jobs: dict[str, LoadJob] = {}
        self.lock = Lock()
        self.queue = JobQueue("loading", at_once=MOST_WAITING, waiting=MOST_WAITING)

    def get(self, name: str) -> Loaded | None:
        """Return a model that is in memory, or None."""
        with self.lock:
            return self.loaded.get(name)

    def ask(self, name: str, visitor: object | None = None) -> LoadJob:
        """Have a model loaded; visitors who ask for the same one meanwhile share the job.

        A visitor waits for one model, the last they asked for; without a visitor it is loaded in
        any case. Raise LoadingError if it is not allowed, or too many are asked for already.
        """
        if not is_allowed(name):
            raise LoadingError(refusal(name))
        with self.lock:
            job = self.jobs.get(name) or LoadJob(name)
            job.visitors.add(visitor or self)
            if name not in self.jobs:
                if len(self.jobs) >= MOST_WAITING:
                    raise LoadingError(MANY.format(count=len(self.jobs)))
                self.jobs[name] = job
                job.result = self.queue.submit(partial(self._fill, job))
            for other in self.jobs.values():
                if visitor and other is not job:
                    other.visitors.discard(visitor)
            return job

    def _fill(self, job: LoadJob) -> Loaded:
        """Load a model and keep it; what failed is not kept."""
        try:
            loaded = job.load()
            with self.lock:
                self.loaded[job.name] = loaded
            return loaded
        finally:
            with self.lock:
                del self.jobs[job.name]
            housekeeping.released()  # the model that made room, and what loading left behind

    def hold(self, name: str, visitor: object) -> None:
        """Note that a visitor has a model in their list."""
        if loaded := self.get(name):
            loaded.held_by.add(visitor)
            loaded.was_held = True

    def leave(self, name: str, visitor: object) -> None:
        """Note that a visitor has a model in their list no more, and let go of it if nobody has."""
        if loaded := self.get(name):
            loaded.held_by.discard(visitor)
        self.let_go()

    def let_go(self) -> None:
        """Let go of the models that visitors had in their lists, all of whom have left."""
        with self.lock:
            for name, loaded in list(self.loaded.items()):
                if loaded.was_held and not loaded.held_by:
                    del self.loaded[name]
                    housekeeping.released()


@st.cache_resource(show_spinner=False)
def shelf() -> Shelf:
    """Return the shelf of this process."""
    made = Shelf()
    housekeeping.LEFT.append(made.let_go)
    return made


def get_ready() -> None:
    """Have what a model is tried with ready, as somebody thinks of loading one."""
    _trials.get_ready()
