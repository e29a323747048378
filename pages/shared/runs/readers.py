"""The model behind a key: shipped, a visitor's own, or one of the transformers library."""

from __future__ import annotations

import streamlit as st
import torch

from model.library.hub import first_line
from model.own_reader import OwnReader
from model.reader import Reader
from model.translator import load
from pages.shared.runs import tuning
from pages.shared.runs.housekeeping import freeze
from pages.shared.runs.shelf import GONE, shelf
from pages.shared.state import models
from pages.shared.state.catalog import CatalogEntry, library_entry


def reader(key: str | None = None) -> Reader:
    """Return the model of a key, or without one the model that the visitor has chosen.

    Raise ValueError if it is not in memory.
    """
    entry = models.chosen() if key is None else models.named(key)
    if not entry.is_library:
        return translator(entry.key)
    if loaded := shelf().get(entry.name):
        return loaded.reader
    raise ValueError(GONE.format(name=entry.title))


def translator(key: str) -> OwnReader:
    """Return a model of this project's own, shipped or a visitor's."""
    return models.own_reader(key) if models.named(key).is_own else _shipped(key)


@st.cache_resource(show_spinner="Loading the model …", max_entries=3)
def _shipped(key: str) -> OwnReader:
    tuning.tune()
    with torch.inference_mode(False):  # the first call of a model may be in it; gradients cannot be
        loaded = load(key)
    freeze()
    return loaded


def loading(key: str) -> int:
    """Return the number of the loading of a model, which tells it from another of its name."""
    entry = models.named(key)
    loaded = shelf().get(entry.name) if entry.is_library else None
    return loaded.number if loaded else 0


def entry_of(name: str, loaded: Reader) -> CatalogEntry:
    """Return what to call a loaded model on screen."""
    return library_entry(name, writes="cross" in loaded.shape.kinds)


def explained(error: Exception) -> ValueError:
    """Return whatever a model of the library stumbled over as an error with a sentence."""
    if isinstance(error, ValueError):
        return error
    return ValueError(
        f"The transformers library could not run this model on the text: {first_line(error)} "
        "Change the text, or choose another model."
    )
