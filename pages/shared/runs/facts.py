"""What is known of a model besides its runs: its size, and how exactly it is followed here."""

from __future__ import annotations

from typing import NamedTuple

from model.library.card import Card
from model.library.parity import Parity
from pages.shared.runs.door import model_call
from pages.shared.runs.readers import reader
from pages.shared.runs.run import ModelRun
from pages.shared.runs.shelf import shelf
from pages.shared.state import models


class Size(NamedTuple):
    """How large a model is."""

    parameters: int
    bytes: int


def size_of(key: str) -> Size:
    """Return the size of a model; raise ValueError if it is not in memory."""
    weights = list(reader(key).model.parameters())
    return Size(
        sum(weight.numel() for weight in weights),
        sum(weight.numel() * weight.element_size() for weight in weights),
    )


def card_of(key: str) -> Card:
    """Return what the card of a model says; nothing for a model without one."""
    entry = models.named(key)
    loaded = shelf().get(entry.name) if entry.is_library else None
    return loaded.card if loaded else Card()


def parity_at_loading(key: str) -> Parity | None:
    """Return what was measured when a model of the library was loaded, if it was."""
    model = reader(key)
    return model.parity if "own layers" in model.missing else None


@model_call("Running transformers' own BertModel …")
def measured_parity(run: ModelRun) -> Parity:
    """Return how far the numbers of a BERT in layers of this project are from the library's."""
    return run.reader.parity(run.sentence, run.second or None)
