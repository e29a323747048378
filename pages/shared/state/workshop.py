"""A visitor's trainings and models, which survive a reload of the browser's tab."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from secrets import token_urlsafe
from weakref import WeakValueDictionary

import streamlit as st

from model.own_reader import OwnReader
from model.training.jobs import TrainingJob
from pages.shared.state.catalog import CatalogEntry

SERVER = token_urlsafe(6)  # identifies this process
Curve = tuple[Sequence[float], Sequence[float]]  # steps, and a number at each


@dataclass(frozen=True)
class Training:
    """A training under its name; its key is unique."""

    name: str
    job: TrainingJob
    key: str = field(default_factory=token_urlsafe)


def new_key() -> str:
    """Return a key that nobody can guess, beginning with the name of this server."""
    return f"{SERVER}.{token_urlsafe()}"


def is_of_this_server(key: str) -> bool:
    return key.partition(".")[0] == SERVER


@dataclass(eq=False)
class Workshop:
    """The trainings and the models of a visitor; only their tab knows the `key`."""

    key: str = field(default_factory=new_key)
    training: Training | None = None  # the training that is watched
    count: int = 0  # of the trainings begun
    earlier: dict[str, dict[str, Curve]] = field(default_factory=dict)  # curves by name and panel
    models: dict[str, tuple[CatalogEntry, OwnReader]] = field(default_factory=dict)
    library: dict[str, CatalogEntry] = field(default_factory=dict)  # loaded from transformers
    used: tuple[str, str] = ("", "")  # the model last put to use: its origin and its key
    refused: str = ""  # why something could not be done, until that is shown
    gone: bool = False  # whether the tab asked for another workshop, which is gone

    @property
    def is_empty(self) -> bool:
        return not (self.training or self.earlier or self.models or self.library)


@st.cache_resource
def workshops() -> WeakValueDictionary[str, Workshop]:
    """Return every visitor's workshop by its key, as long as a session holds it."""
    return WeakValueDictionary()


def workshop() -> Workshop:
    """Return the workshop of this session."""
    mine = st.session_state.get("workshop")
    if mine is None:
        mine = st.session_state.workshop = Workshop()
        workshops()[mine.key] = mine
    return mine


@contextmanager
def refusals() -> Iterator[None]:
    """Keep the message of a ValueError in this block, for the Training page to show."""
    try:
        yield
    except ValueError as error:
        workshop().refused = str(error)


def come_back(key: object) -> bool:
    """Take up the workshop of a key again; return whether it is still there."""
    found = workshops().get(key)
    if found is not None:
        st.session_state.workshop = found
    return found is not None
