"""What a visitor has trained or uploaded, which outlives a reload of the browser's tab."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from secrets import token_urlsafe
from weakref import WeakValueDictionary

import streamlit as st

from model.own_reader import OwnReader
from model.training.jobs import TrainingJob
from pages.shared.state.catalog import CatalogEntry

SERVER = token_urlsafe(6)  # tells this process from those before it and beside it
Line = tuple[Sequence[float], Sequence[float]]  # steps, and a number at each


@dataclass(frozen=True)
class Run:
    """A training under its name; no other has its key."""

    name: str
    job: TrainingJob
    key: str = field(default_factory=token_urlsafe)


def new_key() -> str:
    """Return a key that nobody can guess, with the server that it is of."""
    return f"{SERVER}.{token_urlsafe()}"


def is_of_this_server(key: str) -> bool:
    """Return whether a key was made by this process."""
    return key.partition(".")[0] == SERVER


@dataclass(eq=False)
class Workshop:
    """The trainings and the models of one visitor; `key` is known to their tab alone."""

    key: str = field(default_factory=new_key)
    run: Run | None = None  # the training that is watched
    count: int = 0  # of the trainings begun
    earlier: dict[str, dict[str, Line]] = field(default_factory=dict)  # curves by name and panel
    models: dict[str, tuple[CatalogEntry, OwnReader]] = field(default_factory=dict)
    library: dict[str, CatalogEntry] = field(default_factory=dict)  # loaded from transformers
    used: tuple[str, str] = ("", "")  # the model last put to use: its origin and its key
    refused: str = ""  # why something could not be done, until that was shown
    gone: bool = False  # whether the tab asked for another workshop, which is gone

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to come back to."""
        return not (self.run or self.earlier or self.models or self.library)


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
    """Keep the words of a ValueError in this block, so that the Training page shows them."""
    try:
        yield
    except ValueError as error:
        workshop().refused = str(error)


def come_back(key: object) -> bool:
    """Take the workshop of a key up again; return whether it is still there."""
    found = workshops().get(key)
    if found is not None:
        st.session_state.workshop = found
    return found is not None
