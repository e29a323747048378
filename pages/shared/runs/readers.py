"""Find a model by its key (shipped, a visitor's own, or from transformers), and facts about it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Condition
from typing import NamedTuple

import streamlit as st
import torch
from cachetools import LRUCache, cached

from headlight.model.library.hub import Card, first_line
from headlight.model.library.measuring import Parity
from headlight.model.own_reader import OwnReader
from headlight.model.reader import Reader
from headlight.model.translator import Translator, load
from headlight.pages.shared.runs import limits
from headlight.pages.shared.runs.housekeeping import freeze, keep_freed_memory, session_ended
from headlight.pages.shared.runs.shelf import GONE, shelf
from headlight.pages.shared.state import models
from headlight.pages.shared.state.models import CatalogEntry, library_entry
from headlight.pages.shared.state.wings import WINGS
from headlight.pages.streamlit_fixes import ended_sessions

# Each operation of a model releases Python's lock (the GIL), and gets it back only when another
# thread's turn ends. If turns were long, a call would mostly wait when there are many visitors.
TURN = 0.0005  # seconds that a thread keeps the lock while others wait; Python's default is 0.005


def reader(key: str | None = None) -> Reader:
    """Return the model with this key; without a key the model that the visitor has chosen.

    Raise ValueError if the model is not in memory.
    """
    entry = models.chosen() if key is None else models.named(key)
    if entry.is_own:
        return models.own_reader(entry.key)
    if not entry.is_library:
        return _shipped(entry.key)
    if loaded := shelf().get(entry.name):
        return loaded.reader
    raise ValueError(GONE.format(name=entry.title))


def own_model(key: str) -> OwnReader:
    """Return a model built from this project's layers: a shipped one or a visitor's own."""
    return models.own_reader(key) if models.named(key).is_own else _shipped(key)


def translator(key: str) -> Translator:
    """Return a model built from this project's layers; ValueError if it is not a translator."""
    model = own_model(key)
    if not isinstance(model, Translator):
        raise ValueError("This model only continues texts: choose another, such as a shipped one.")
    return model


def tune() -> None:
    """Set up this process for many sessions, unless it belongs to a program such as a notebook.

    Call this before the first model call.
    """
    if not limits.GUEST:
        torch.set_num_threads(limits.THREADS)
        keep_freed_memory()
        sys.setswitchinterval(TURN)
    ended_sessions.watch(session_ended)


# A page calls this some 35 times. With st.cache_resource these calls would take a tenth of the time
# that the page needs.
@cached(LRUCache(3), condition=Condition())
def _shipped(key: str) -> OwnReader:
    tune()
    # The first call may come in inference mode; gradients need weights that were made outside it.
    with st.spinner("Loading the model …"), torch.inference_mode(False):
        loaded = load(key)
    freeze()
    return loaded


def loading(key: str) -> int:
    """Return a number that tells apart models loaded under the same name; 0 if not loaded."""
    entry = models.named(key)
    loaded = shelf().get(entry.name) if entry.is_library else None
    return loaded.number if loaded else 0


def entry_of(name: str, loaded: Reader) -> CatalogEntry:
    """Return the record of a loaded model for the list of models, with examples it can read."""
    entry = library_entry(name, writes="cross" in loaded.shape.kinds)
    if not isinstance(loaded, OwnReader) or can_read(loaded, entry.examples[0]):
        return entry
    texts = dict.fromkeys(text for wing in WINGS for text in wing.examples)
    known = tuple(text for text in texts if can_read(loaded, text))
    return replace(entry, examples=known or entry.examples)


def can_read(reader: OwnReader, text: str) -> bool:
    return not any(token.is_unknown for token in reader.tokenizer.encode(text))


@contextmanager
def errors_explained() -> Iterator[None]:
    """Turn any error raised in this block into a ValueError that a visitor can act on."""
    try:
        yield
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(
            f"This model could not be run on the text: {first_line(error)} Change the text, or "
            "choose another model."
        ) from error


class Size(NamedTuple):
    """How many parameters a model has, and how many bytes of memory they take."""

    parameters: int
    bytes: int


def size_of(key: str) -> Size:
    """Return the size of a model; raise ValueError if the model is not in memory."""
    weights = list(reader(key).model.parameters())
    return Size(
        sum(weight.numel() for weight in weights),
        sum(weight.numel() * weight.element_size() for weight in weights),
    )


def card_of(key: str) -> Card:
    """Return a model's card (licence and page on the hub); an empty one if there is none."""
    entry = models.named(key)
    loaded = shelf().get(entry.name) if entry.is_library else None
    return loaded.card if loaded else Card()


def parity_at_loading(key: str) -> Parity | None:
    """Return how far a model's numbers were from the transformers library's at its loading.

    Return None if this was not measured.
    """
    model = reader(key)
    return model.attached.parity if "own layers" in model.missing else None
