"""The models that a visitor can choose (shipped, loaded or their own), and the chosen model."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from secrets import token_urlsafe
from typing import Any
from uuid import uuid4
from weakref import WeakValueDictionary

import numpy as np
import streamlit as st

from headlight.model.own_reader import OwnReader

OWN = "own-"  # the keys of visitors' own models begin with this
LIBRARY = "transformers:"  # the keys of models of transformers begin with this
ONE_SIDE = "text"  # names source and target of a model that reads a single text
LONGEST_NAME = 300  # characters of a name on the hub, or of a folder
MOST = 4  # how many own models a visitor may keep; a further one replaces the oldest
SERVER = token_urlsafe(6)  # identifies this process
Curve = tuple[np.ndarray, np.ndarray]  # training steps, and a number (such as a loss) at each


@dataclass(frozen=True)
class CatalogEntry:
    """A model in a list: its key, title, example texts, and names of its source and target."""

    key: str  # unique among all models, also those of other visitors
    title: str
    examples: tuple[str, ...] = ()
    source: str = "English"
    target: str = "French"

    @property
    def asks_for(self) -> str:
        """What the model reads, with an article, such as “an English sentence”."""
        if self.is_own:
            return "an input"
        return "a text" if self.is_library else f"an {self.source} sentence"

    @property
    def is_own(self) -> bool:
        """True if the model is a visitor's own, which no other visitor has."""
        return self.key.startswith(OWN)

    @property
    def is_library(self) -> bool:
        """True for a model of the transformers library; its `name` is a hub name or a folder."""
        return self.key.startswith(LIBRARY)

    @property
    def name(self) -> str:
        return self.key.removeprefix(LIBRARY)


EXAMPLES = (
    "The dog ate the meat because it was hungry.",
    "The animal didn't cross the street because it was too tired.",
    "I love my cat.",
    "How do you feel today?",
    "The red car is faster than the blue car.",
    "Barack Obama met Angela Merkel at 7:45.",
    "Seven dwarfs live in the forest.",  # the shipped model mistranslates “dwarfs”
)
# Sentences that a beam of 4 translates rightly (as given here) and greedy decoding wrongly.
BEAM_EXAMPLES = {
    "I bought a lamp. It does not work.": "J'ai acheté une lampe. Cela ne fonctionne pas.",
    "I have a sister and a brother.": "J'ai une sœur et un frère.",
    "He accused the man of stealing.": "Il a accusé l'homme de vol.",
    "Tom is head over heels in love with Mary.": "Tom est fou amoureux de Mary.",
    "This year is going to be prosperous.": "Cette année va être prospère.",
}
# Pairs of words in the examples: a query, and the key that a good head looks at from there.
TELLING = (("it", "dog"), ("it", "animal"))
SHIPPED = {
    entry.key: entry
    for entry in (
        CatalogEntry("en-fr", "English to French", EXAMPLES),
        CatalogEntry("en-fr-learned", "Small English to French, learned positions", EXAMPLES),
    )
}
DEFAULT = next(iter(SHIPPED))


def library_entry(name: str, writes: bool = False) -> CatalogEntry:
    """Return the record of a transformers model for lists.

    `writes` is true if the model reads one text and writes another, as a translator does.
    """
    sides = ("source", "target") if writes else (ONE_SIDE, ONE_SIDE)
    return CatalogEntry(LIBRARY + name, short(name), EXAMPLES, *sides)


def short(name: str) -> str:
    """Return a short form of a model's name; of a folder's path, only the last two parts."""
    parts = [part for part in re.split(r"[/\\]", name) if part]
    return name if len(parts) <= 2 else f"…/{'/'.join(parts[-2:])}"


def choices() -> dict[str, CatalogEntry]:
    own = {key: entry for key, (entry, _) in workshop().models.items()}
    return SHIPPED | own | workshop().library


def chosen() -> CatalogEntry:
    """Return the model that this visitor has chosen; it may not be in memory."""
    return named(st.session_state.get("model", DEFAULT))


def named(key: str) -> CatalogEntry:
    """Return the model with this key, or the default model if it was an own model that is gone."""
    if key.startswith(LIBRARY):
        return workshop().library.get(key) or library_entry(key.removeprefix(LIBRARY))
    if key in SHIPPED:
        return SHIPPED[key]
    own = workshop().models.get(key)
    return own[0] if own else SHIPPED[DEFAULT]


def own_reader(key: str) -> OwnReader:
    """Return the visitor's own model with this key; raise KeyError if there is none."""
    return workshop().models[key][1]


def use_model(
    reader: OwnReader, title: str, examples: tuple[str, ...], source: str, target: str
) -> None:
    """Add a visitor's own model to their list and choose it.

    `source` and `target` are names, such as English and French, of what the model reads and writes.
    Call this in a callback, or before any widget is drawn.
    """
    before = chosen()
    entry = CatalogEntry(f"{OWN}{uuid4().hex[:12]}", title, examples, source, target)
    kept = dict(list(workshop().models.items())[-(MOST - 1) :])
    workshop().models = {**kept, entry.key: (entry, reader)}
    st.session_state.model = entry.key
    leave(before)


def look_at(entry: CatalogEntry) -> None:
    """Choose a model; one from transformers is also added to the visitor's list.

    Call this in a callback, or before any widget is drawn.
    """
    before = chosen()
    if entry.is_library:
        keep(entry)
    st.session_state.model = entry.key
    if before.key != entry.key:  # else the choices belong to this model already
        leave(before)


def keep(entry: CatalogEntry) -> None:
    workshop().library[entry.key] = entry


def forget(key: str) -> None:
    """Remove a model from the visitor's list; a callback."""
    before = chosen()
    workshop().library.pop(key, None)
    workshop().models.pop(key, None)
    if before.key == key:
        st.session_state.model = DEFAULT
        leave(before)


def leave(before: CatalogEntry) -> None:
    """Reset choices about the text of the previous model, `before`.

    If the new model has other examples, the text itself is replaced by the first of them.
    """
    st.session_state.target = st.session_state.masked = ""
    if before.examples != chosen().examples:
        st.session_state.sentence = chosen().examples[0]


def note_readable(texts: tuple[str, str]) -> None:
    """Store that the chosen model can read these two texts; the second may be empty."""
    st.session_state.readable = chosen().key, texts


def last_readable() -> tuple[str, str] | None:
    """Return the last two texts that the chosen model could read; None if there are none."""
    key, texts = st.session_state.get("readable", ("", None))
    return texts if key == chosen().key else None


@dataclass(frozen=True)
class Training:
    """A training of a visitor, with its name and a unique key."""

    name: str
    job: Any  # the `Job` that trains, of the wing Training
    key: str = field(default_factory=token_urlsafe)


def new_key() -> str:
    """Return a key that nobody can guess; it begins with the name of this server process."""
    return f"{SERVER}.{token_urlsafe()}"


def is_of_this_server(key: str) -> bool:
    return key.partition(".")[0] == SERVER


@dataclass(eq=False)
class Workshop:
    """A visitor's trainings and models. Only the visitor's browser tab knows its `key`."""

    key: str = field(default_factory=new_key)
    training: Training | None = None  # the training shown on the page Training
    count: int = 0  # how many trainings were begun
    # The curves of earlier trainings, by the training's name and the panel that draws the curve.
    earlier: dict[str, dict[str, Curve]] = field(default_factory=dict)
    models: dict[str, tuple[CatalogEntry, OwnReader]] = field(default_factory=dict)
    library: dict[str, CatalogEntry] = field(default_factory=dict)  # models of transformers
    used: str = ""  # the key of the trained model that the visitor used last
    refused: str = ""  # why an action was refused, until the page has shown it
    gone: bool = False  # true if the tab asked for an earlier workshop that no longer exists

    @property
    def is_empty(self) -> bool:
        return not (self.training or self.earlier or self.models or self.library)


@st.cache_resource
def workshops() -> WeakValueDictionary[str, Workshop]:
    """Return all workshops by their keys; a workshop stays as long as a session refers to it."""
    return WeakValueDictionary()


def workshop() -> Workshop:
    """Return the workshop of this session, a new one if it has none."""
    mine = st.session_state.get("workshop")
    if mine is None:
        mine = st.session_state.workshop = Workshop()
        workshops()[mine.key] = mine
    return mine


@contextmanager
def refusals() -> Iterator[None]:
    """Store the message of a ValueError raised in this block, for the page Training to show."""
    try:
        yield
    except ValueError as error:
        workshop().refused = str(error)


def come_back(key: str) -> bool:
    """Let this session use the workshop with this key; return whether the workshop still exists."""
    kept = workshops().get(key)
    if kept is not None:
        st.session_state.workshop = kept
    return kept is not None
