"""Models of the transformers library, loaded when a visitor asks and kept for all visitors."""

from __future__ import annotations

import re
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import dataclass, field
from itertools import count
from threading import Lock

import streamlit as st

from model.library.bert_reader import BertReader, load_bert
from model.library.hub import LoadingError, first_line, read_config
from model.library.transformers_model import TransformersModel, load_transformers_model
from pages.parts.bert.words import LOADING
from pages.shared.link import address
from pages.shared.runs import limits
from pages.shared.runs.recent import Recent
from pages.shared.state import edit_history, scene

MODELS_KEPT = limits.MODELS  # of all visitors together
SUGGESTIONS = (
    "google-bert/bert-base-uncased",
    "prajjwal1/bert-tiny",
    "google-bert/bert-base-multilingual-cased",
    "openai-community/gpt2",
    "google-t5/t5-small",
    "Helsinki-NLP/opus-mt-en-fr",
)
MOST_WAITING = 10  # models to be loaded
MOMENT = 1.0  # seconds that a click may take before a bar is shown
EVERY = 0.5  # seconds between two looks at how far a model is
numbers = count(1)


@dataclass(frozen=True)
class Loaded:
    """A model in memory; the `number` of its loading tells it from another of the same name."""

    name: str
    model: BertReader | TransformersModel
    number: int = field(default_factory=lambda: next(numbers))


def short(name: str) -> str:
    """A name as there is room for it: of a folder's path the end."""
    parts = [part for part in re.split(r"[/\\]", name) if part]
    return name if len(parts) <= 2 else f"…/{'/'.join(parts[-2:])}"


class Job:
    """A model being loaded: how far it is, and in the end the model or why there is none."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.share = 0.0  # of the bytes to download
        self.result: Future[Loaded]

    def progress(self, done: int, total: int) -> None:
        """Note how far the download is; called from several threads."""
        self.share = min(1.0, done / max(total, 1))

    def load(self) -> Loaded:
        """Load the model; raises LoadingError, whatever went wrong."""
        try:
            bert = read_config(self.name).model_type == "bert"
            return Loaded(
                self.name,
                (load_bert if bert else load_transformers_model)(self.name, self.progress),
            )
        except LoadingError:
            raise
        except Exception as error:  # such as too little memory
            raise LoadingError(f"{self.name} could not be loaded: {first_line(error)}") from error


class Shelf:
    """The models in memory, and those on their way; one is loaded at a time."""

    def __init__(self) -> None:
        self.loaded: Recent[Loaded] = Recent(MODELS_KEPT)
        self.jobs: dict[str, Job] = {}
        self.lock = Lock()
        self.worker = ThreadPoolExecutor(1, "loading")

    def ask(self, name: str) -> Job:
        """Have a model loaded; visitors who ask for the same one meanwhile share the job.

        Raises LoadingError where too many are asked for already.
        """
        with self.lock:
            if name not in self.jobs:
                if len(self.jobs) >= MOST_WAITING:
                    raise LoadingError(LOADING["many"].format(count=len(self.jobs)))
                job = self.jobs[name] = Job(name)
                job.result = self.worker.submit(self.fill, job)
            return self.jobs[name]

    def fill(self, job: Job) -> Loaded:
        """Load a model and keep it; what failed is not kept."""
        try:
            loaded = job.load()
            self.loaded.put(job.name, loaded)
            return loaded
        finally:
            with self.lock:
                del self.jobs[job.name]


@st.cache_resource(show_spinner=False)
def shelf() -> Shelf:
    """The shelf of this process."""
    return Shelf()


def model_box() -> Loaded | None:
    """The box that asks for a model and loads it; returns the one to show, if there is one."""
    st.session_state.setdefault("bert_wanted", st.session_state.bert_name)
    loaded = shelf().loaded.get(st.session_state.bert_name)
    if loaded:
        st.text(f"Shown: {loaded.name}")
    with st.expander("Another model") if loaded else st.container():
        form = st.form("load", border=False)
        row = form.container(horizontal=True, vertical_alignment="bottom")
        row.text_input(
            "Name on the Hugging Face Hub, or a folder on this computer",
            key="bert_wanted",
            persist_state="session",
            max_chars=scene.LONGEST_NAME,
            placeholder=SUGGESTIONS[0],
        )
        asked = row.form_submit_button("Load")
        st.pills(
            "Suggestions",
            SUGGESTIONS,
            key="bert_suggestion",
            on_change=_take_suggestion,
            label_visibility="collapsed",
        )
    if asked and (name := st.session_state.bert_wanted.strip()):
        _ask_for(name)
    if st.session_state.setdefault("bert_loading", None):
        address.fragment(_progress, run_every=EVERY)()
    if why := st.session_state.pop("bert_failed", None):
        st.error(LOADING["failed"])
        st.text(why)
    return loaded


def _ask_for(name: str) -> None:
    """Have a model loaded, and wait for it a moment; the page goes on with what was there."""
    if found := shelf().loaded.get(name):
        _take(found)
        st.rerun()
    try:
        job = st.session_state.bert_loading = shelf().ask(name)
    except LoadingError as error:
        st.session_state.bert_failed = str(error)
    else:
        wait_for([job.result], timeout=MOMENT)


def _progress() -> None:
    """A bar that tells how far the model is; in the end it is shown, or why there is none."""
    job = st.session_state.bert_loading
    if job is None:
        return
    if not job.result.done():
        stage = "begin" if not job.share else "download" if job.share < 1 else "reading"
        st.progress(job.share, LOADING[stage])
        return
    st.session_state.bert_loading = None
    try:
        _take(job.result.result())
    except LoadingError as error:
        st.session_state.bert_failed = str(error)
    st.rerun()


def _take(loaded: Loaded) -> None:
    """Show a model from now on."""
    others = [name for name in st.session_state.get("bert_names", ()) if name != loaded.name]
    st.session_state.bert_names = [*others, loaded.name]
    if loaded.name != st.session_state.bert_name:  # else it is the one that a link asks for
        edit_history.forget(edit_history.BERT)
        if isinstance(loaded.model, TransformersModel):
            st.session_state.bert_kind = loaded.model.kinds[-1]
        st.session_state.update(bert_name=loaded.name, bert_masked="", bert_edits="")


def mine() -> list[Loaded]:
    """The models that this visitor has asked for and that are in memory, the last one at the end.

    What others asked for is their own affair: it may be the name of a folder.
    """
    names = [*st.session_state.get("bert_names", ()), st.session_state.bert_name]
    found = map(shelf().loaded.get, dict.fromkeys(names))
    return [loaded for loaded in found if loaded]


def _take_suggestion() -> None:
    """Put the clicked name into the box, and let it be clicked again."""
    st.session_state.bert_wanted = st.session_state.bert_suggestion
    st.session_state.bert_suggestion = None
