"""The model that a visitor uses: a shipped one, one of their own, or a loaded one."""

from uuid import uuid4

import streamlit as st

from model.own_reader import OwnReader
from pages.shared.state.catalog import (
    DEFAULT,
    LIBRARY,
    OWN,
    SHIPPED,
    CatalogEntry,
    library_entry,
)
from pages.shared.state.workshop import workshop

MOST = 4  # models of their own that a visitor may keep; the oldest makes room


def choices() -> dict[str, CatalogEntry]:
    """Return every model that this visitor can choose, by its key."""
    own = {key: entry for key, (entry, _) in workshop().models.items()}
    return SHIPPED | own | workshop().library


def chosen() -> CatalogEntry:
    """Return the model that this visitor has chosen, in memory or not."""
    return named(st.session_state.get("model", DEFAULT))


def named(key: str) -> CatalogEntry:
    """Return the model of a key; a visitor's own model that is gone is replaced by the default."""
    if key.startswith(LIBRARY):
        return workshop().library.get(key) or library_entry(key.removeprefix(LIBRARY))
    return choices().get(key, SHIPPED[DEFAULT])


def own_reader(key: str) -> OwnReader:
    """Return a visitor's own model; raise KeyError if none has this key."""
    return workshop().models[key][1]


def use_model(
    reader: OwnReader, title: str, examples: tuple[str, ...], source: str, target: str
) -> None:
    """Choose a visitor's own model; call it in a callback, or before the widgets.

    `source` and `target` name the two sides, as English and French do.
    """
    before = chosen()
    entry = CatalogEntry(f"{OWN}{uuid4().hex[:12]}", title, examples, source, target)
    kept = dict(list(workshop().models.items())[-(MOST - 1) :])
    workshop().models = {**kept, entry.key: (entry, reader)}
    st.session_state.model = entry.key
    leave(before)


def look_at(entry: CatalogEntry) -> None:
    """Choose a model, and list it if it is of the transformers library; see `use_model`."""
    before = chosen()
    if entry.is_library:
        keep(entry)
    st.session_state.model = entry.key
    if before.key != entry.key:  # otherwise it is the model that a link asks for
        leave(before)


def keep(entry: CatalogEntry) -> None:
    """List a model of the transformers library as one of this visitor's."""
    workshop().library[entry.key] = entry


def forget(key: str) -> None:
    """Take a model off the visitor's list; a callback."""
    before = chosen()
    workshop().library.pop(key, None)
    workshop().models.pop(key, None)
    if before.key == key:
        st.session_state.model = DEFAULT
        leave(before)


def leave(before: CatalogEntry) -> None:
    """Drop choices about the previous model's text, and a text that the new model cannot read."""
    st.session_state.target = st.session_state.masked = ""
    if before.is_own or chosen().is_own:
        st.session_state.sentence = chosen().examples[0]


def note_readable(texts: tuple[str, str]) -> None:
    """Note that the chosen model can read these texts; the second one may be empty."""
    st.session_state.readable = chosen().key, texts


def last_readable() -> tuple[str, str] | None:
    """Return the last texts that the chosen model could read, or None."""
    key, texts = st.session_state.get("readable", ("", None))
    return texts if key == chosen().key else None
