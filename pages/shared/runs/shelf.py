"""Models of the transformers library: loaded when a visitor asks, and kept for all visitors."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from threading import Lock

import streamlit as st
from cachetools import LRUCache

from model.job_queue import JobQueue, QueueFullError
from model.library.card import Card, read_card
from model.library.hub import LoadingError, first_line
from model.library.loading import load_from_library
from model.reader import Reader
from pages.shared.runs import limits

MOST_WAITING = 10  # models to be loaded, the one under way included
MANY = "{count} models are being loaded already: try again in a few minutes."
GONE = "{name} is not in memory. Load it to go on."
_numbers = count(1)


@dataclass(frozen=True)
class Loaded:
    """A model in memory; the `number` of its loading tells it from another of the same name."""

    name: str
    reader: Reader
    card: Card = Card()
    number: int = field(default_factory=lambda: next(_numbers))


class LoadJob:
    """A model being loaded: how far it is, and in the end the model or why there is none."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.share = 0.0  # of the bytes to download
        self.result: Future[Loaded] = Future()

    def progress(self, done: int, total: int) -> None:
        """Note how far the download is; called from several threads."""
        self.share = min(1.0, done / max(total, 1))

    def load(self) -> Loaded:
        """Load the model; raise LoadingError, whatever went wrong."""
        try:
            found = load_from_library(self.name, self.progress)
            return Loaded(self.name, found, read_card(self.name))
        except LoadingError:
            raise
        except Exception as error:  # such as too little memory
            raise LoadingError(f"{self.name} could not be loaded: {first_line(error)}") from error


class Shelf:
    """The models in memory, and those on their way; one is loaded at a time."""

    def __init__(self) -> None:
        self.loaded: LRUCache[str, Loaded] = LRUCache(limits.MODELS)  # of all visitors together
        self.jobs: dict[str, LoadJob] = {}
        self.lock = Lock()
        self.queue = JobQueue("loading", at_once=1, waiting=MOST_WAITING - 1)

    def get(self, name: str) -> Loaded | None:
        """Return a model that is in memory, or None."""
        with self.lock:
            return self.loaded.get(name)

    def ask(self, name: str) -> LoadJob:
        """Have a model loaded; visitors who ask for the same one meanwhile share the job.

        Raise LoadingError if too many are asked for already.
        """
        with self.lock:
            if name not in self.jobs:
                job = LoadJob(name)
                try:
                    job.result = self.queue.submit(partial(self._fill, job))
                except QueueFullError:
                    raise LoadingError(MANY.format(count=len(self.jobs))) from None
                self.jobs[name] = job
            return self.jobs[name]

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


@st.cache_resource(show_spinner=False)
def shelf() -> Shelf:
    """Return the shelf of this process."""
    return Shelf()
