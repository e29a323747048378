"""Models of the transformers library: loaded when a visitor asks, and kept for all visitors."""

from __future__ import annotations

import re
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from threading import Lock
from weakref import WeakValueDictionary

import streamlit as st
from cachetools import LRUCache

from model.job_queue import JobQueue, QueueFullError
from model.library.bert_reader import BertReader, load_bert
from model.library.hub import LoadingError, first_line, read_config
from model.library.transformers_model import TransformersModel, load_transformers_model
from pages.shared.runs import limits
from pages.shared.state.choices import chosen
from pages.shared.state.library_choices import BERT_NAME

MOST_WAITING = 10  # models to be loaded, the one under way included
LOADING = {
    "begin": "Looking for the model …",
    "download": "Downloading …",
    "reading": "Reading the weights …",
    "off": (
        "Loading other models is switched off on this server. Run Headlight on your own computer "
        "to look at them."
    ),
    "failed": "This model could not be loaded.",
    "many": "{count} models are being loaded already: try again in a few minutes.",
    "gone": (
        "This was made with the model named in the box of the page BERT and others, which is not "
        "in memory now. Press Load there to see it again."
    ),
}
_numbers = count(1)
_in_memory: WeakValueDictionary[int, Loaded] = WeakValueDictionary()


@dataclass(frozen=True)
class Loaded:
    """A model in memory; the `number` of its loading tells it from another of the same name."""

    name: str
    model: BertReader | TransformersModel
    number: int = field(default_factory=lambda: next(_numbers))

    def __post_init__(self) -> None:
        _in_memory[self.number] = self


def numbered(number: int) -> Loaded:
    """Return the model of a loading; raise ValueError if it is not in memory any more."""
    found = _in_memory.get(number)
    if found is None:
        raise ValueError(LOADING["gone"])
    return found


def short(name: str) -> str:
    """Shorten a name to what there is room for: of a folder's path the end."""
    parts = [part for part in re.split(r"[/\\]", name) if part]
    return name if len(parts) <= 2 else f"…/{'/'.join(parts[-2:])}"


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
            bert = read_config(self.name).model_type == "bert"
            model = (load_bert if bert else load_transformers_model)(self.name, self.progress)
            return Loaded(self.name, model)
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
                    raise LoadingError(LOADING["many"].format(count=len(self.jobs))) from None
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


def mine() -> list[Loaded]:
    """Return the models that this visitor asked for and that are in memory, the newest last.

    What others asked for is their own affair: it may be the name of a folder.
    """
    names = [*st.session_state.get("bert_names", ()), chosen(BERT_NAME)]
    found = map(shelf().get, dict.fromkeys(names))
    return [loaded for loaded in found if loaded]
