"""Models that visitors load by name: which names are allowed, and the models in memory."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import count
from threading import Lock
from typing import Literal
from weakref import WeakSet

import streamlit as st
from cachetools import LRUCache

from headlight.model.jobs import Checked, EndedError, Job, JobQueue
from headlight.model.library.hub import (
    ON_THE_HUB,
    Card,
    LoadingError,
    as_folder,
    first_line,
    read_card,
)
from headlight.model.library.loading import fetch_model, load_model
from headlight.model.reader import Reader
from headlight.pages.shared.runs import housekeeping, limits

LOOK = 0.1  # seconds between two checks whether a visitor still waits for the model
GRACE = 5.0  # seconds in which an unwanted reading may still end by itself
LONGEST = 600.0  # the most seconds that reading a model may take
MOST_LEFT = 3  # with this many readings that did not stop, no further model is read
NONE = (
    "This server is shared, and its operator allows no other models. Run Headlight on your own "
    "computer to open any model."
)
NAMED = "Only models that the operator of this server allows can be opened here{names}."
WILD = re.compile(r"[*?\[]")

Stage = Literal["begin", "download", "line", "reading"]
MOST_WAITING = 10  # the most models that may wait to be loaded or be loading
MANY = "{count} models are being loaded already: try again in a few minutes."
GONE = "{name} is not in memory. Load it to go on."
STOPPED = "Loading {name} was stopped, since nobody waited for it. Load it again."
TOO_LONG = "{name} was not read within {minutes:.0f} minutes. Choose another model."
STUCK = (
    "No model can be loaded now: {count} models that nobody waits for are still being read. Try "
    "again later, or restart Headlight."
)
_numbers = count(1)
_reading = JobQueue("reading", at_once=1, waiting=MOST_WAITING)  # reads one model at a time


@dataclass(eq=False)
class Loaded:
    """A model in memory; `number` tells it from models loaded earlier under the same name.

    The model stays in memory while a visitor has it in their list (`held_by`), unless a newer model
    takes its place.
    """

    name: str
    reader: Reader
    card: Card = Card()
    number: int = field(default_factory=lambda: next(_numbers))
    held_by: WeakSet[object] = field(default_factory=WeakSet)
    was_held: bool = False


class LoadJob(Job[Loaded]):
    """The job that loads a model; it goes on as long as a visitor waits for the model."""

    def __init__(self, shelf: Shelf, name: str) -> None:
        super().__init__(shelf.queue)
        self.shelf = shelf
        self.name = name
        self.stage: Stage = "begin"
        self.share = 0.0  # how much of the download is done, 0 to 1
        self.reading: ReadJob | None = None  # reads the downloaded model
        self.visitors: WeakSet[object] = WeakSet()

    @property
    def before(self) -> int:
        """The number of models to be read before this one."""
        reading = self.reading
        return reading.state().place if reading else 0

    def neglected(self) -> str:
        return "" if self.visitors else STOPPED.format(name=self.name)

    def progress(self, done: int, total: int) -> None:
        """Store how far the download is; raise LoadingError if no visitor waits for the model."""
        if why := self.neglected():
            raise LoadingError(why)
        self.stage, self.share = "download", min(1.0, done / max(total, 1))

    def work(self) -> Loaded:
        """Load the model and add it to the models in memory; remove this job even if it fails."""
        try:
            loaded = self.load()
            self.shelf.put(loaded)
            return loaded
        finally:
            self.shelf.forget(self)

    def load(self) -> Loaded:
        """Download the model if this is needed, wait for its turn, and return it once it is read.

        A reading that does not end in time is abandoned, so that other models can be read.
        """
        folder = fetch_model(self.name, self.progress)
        if len(_reading.left) >= MOST_LEFT:
            raise LoadingError(STUCK.format(count=MOST_LEFT))
        self.stage = "line"
        reading = self.reading = ReadJob(self, str(folder))
        reading.resume()
        while reading.is_active:
            reading.join(LOOK)
            why = reading.overdue()
            if why and reading.is_active:
                reading.join(GRACE)
                _reading.leave(reading, why)
        self.reading = None  # breaks the reference cycle with this job
        if reading.result is None:
            raise LoadingError(reading.note)
        reader = reading.result
        reader.title = self.name
        return Loaded(self.name, reader, read_card(self.name))

    def explain(self, error: BaseException) -> str:
        if isinstance(error, LoadingError):
            return str(error)
        return f"{self.name} could not be loaded: {first_line(error)}"


class ReadJob(Job[Reader]):
    """The job that reads a downloaded model into memory."""

    def __init__(self, loading: LoadJob, folder: str) -> None:
        super().__init__(_reading)
        self.loading = loading
        self.folder = folder

    def neglected(self) -> str:
        return self.loading.neglected()

    def explain(self, error: BaseException) -> str:
        return self.loading.explain(error)

    def overdue(self) -> str:
        """Return why the reading should be stopped; empty if it should go on."""
        if self.seconds > LONGEST:
            return TOO_LONG.format(name=self.loading.name, minutes=LONGEST / 60)
        return self.neglected()

    def check(self) -> None:
        if why := self.overdue():
            raise EndedError("failed", why)

    def work(self) -> Reader:
        self.loading.stage = "reading"
        with Checked(self):
            return load_model(self.folder)


class Shelf:
    """The models in memory, and those being loaded."""

    def __init__(self) -> None:
        self.loaded: LRUCache[str, Loaded] = LRUCache(limits.MODELS)  # opened by visitors
        self.shown: dict[str, Loaded] = {}  # given by the program that the app runs in
        self.jobs: dict[str, LoadJob] = {}
        self.lock = Lock()
        self.queue = JobQueue("loading", at_once=MOST_WAITING, waiting=MOST_WAITING)

    def get(self, name: str) -> Loaded | None:
        with self.lock:
            return self.shown.get(name) or self.loaded.get(name)

    def show(self, reader: Reader) -> str:
        """Offer a model of the surrounding program until `hide` is called; return its name."""
        with self.lock:
            numbers = (f" {number}" if number > 1 else "" for number in count(1))
            names = (f"{reader.title}{number}, in memory" for number in numbers)
            name = next(name for name in names if name not in self.shown)
            self.shown[name] = Loaded(name, reader)
        return name

    def hide(self, name: str) -> None:
        with self.lock:
            self.shown.pop(name, None)
        housekeeping.released()

    def ask(self, name: str, visitor: object | None = None) -> LoadJob:
        """Start to load a model, or join the job that already loads it; return the job.

        A visitor waits only for the model that they asked for last. Without a visitor the model is
        loaded in any case. Raise LoadingError if the model is not allowed, or if too many models
        wait to be loaded.
        """
        if not is_allowed(name):
            raise LoadingError(f"{name} cannot be opened. {rule()}")
        with self.lock:
            if name not in self.jobs and len(self.jobs) >= MOST_WAITING:
                raise LoadingError(MANY.format(count=len(self.jobs)))
            job = self.jobs[name] = self.jobs.get(name) or LoadJob(self, name)
            job.visitors.add(visitor or self)
            job.resume()
            for other in self.jobs.values():
                if visitor and other is not job:
                    other.visitors.discard(visitor)
            return job

    def put(self, loaded: Loaded) -> None:
        with self.lock:
            self.loaded[loaded.name] = loaded

    def forget(self, job: LoadJob) -> None:
        with self.lock:
            del self.jobs[job.name]
        housekeeping.released()  # the memory of loading, and of a model that was replaced

    def hold(self, name: str, visitor: object) -> None:
        if loaded := self.get(name):
            loaded.held_by.add(visitor)
            loaded.was_held = True

    def leave(self, name: str, visitor: object) -> None:
        """Record that a visitor removed a model from their list; drop it if no list has it now."""
        if loaded := self.get(name):
            loaded.held_by.discard(visitor)
        self.let_go()

    def let_go(self) -> None:
        """Drop the models that were in visitors' lists and are in no list any more."""
        with self.lock:
            for name, loaded in list(self.loaded.items()):
                if loaded.was_held and not loaded.held_by:
                    del self.loaded[name]
                    housekeeping.released()


@st.cache_resource(show_spinner=False)
def shelf() -> Shelf:
    models = Shelf()
    housekeeping.LEFT.append(models.let_go)
    return models


def any_is_allowed() -> bool:
    return bool(limits.MODELS_ALLOWED) or not limits.is_shared()


def is_allowed(name: str) -> bool:
    """Return whether a model may be opened; `name` is its name on the hub or its folder.

    Files outside the allowed folders are not looked at, so that the answer never reveals whether
    one exists.
    """
    if not limits.MODELS_ALLOWED:
        return not limits.is_shared()
    if ON_THE_HUB.fullmatch(name):
        return fits(name, hub_patterns()) and not as_folder(name)
    folders = [pattern for pattern in limits.MODELS_ALLOWED if os.path.isabs(pattern)]
    plain = os.path.normpath(name) if os.path.isabs(name) else ""
    with suppress(ValueError):  # the name has a character that no path can have
        return fits(plain, folders) and fits(
            os.path.realpath(plain), [real(folder) for folder in folders]
        )
    return False


def hub_patterns() -> list[str]:
    return [pattern for pattern in limits.MODELS_ALLOWED if not os.path.isabs(pattern)]


def rule() -> str:
    """Return a sentence on which models may be opened, without folders; empty if all may be."""
    if not limits.MODELS_ALLOWED:
        return NONE if limits.is_shared() else ""
    return NAMED.format(names=": " + ", ".join(hub_patterns()) if hub_patterns() else "")


def fits(text: str, patterns: list[str]) -> bool:
    """Return whether a text matches one of the patterns, in which * matches any text."""
    return any(fnmatchcase(text, pattern) for pattern in patterns)


def real(pattern: str) -> str:
    """Return a pattern of folders with symbolic links resolved up to its first wild card (*?[)."""
    wild = WILD.search(pattern)
    if wild is None:
        return os.path.realpath(pattern)
    above, sign, name = pattern[: wild.start()].rpartition(os.sep)
    return os.path.realpath(above or sign).rstrip(os.sep) + sign + name + pattern[wild.start() :]
