"""The atlas of the model in force: of the visitor's own text, or the shipped model's."""

from __future__ import annotations

from dataclasses import dataclass, field
from secrets import token_urlsafe
from typing import NamedTuple

import numpy as np
import streamlit as st

from model.atlas.about import digest_of
from model.atlas.counting import Count
from model.atlas.jobs import CountJob, Counts
from model.atlas.opening import Atlas, open_atlas
from model.atlas.own_text import as_windows
from model.trace import Kind
from model.translator import PRETRAINED
from pages.shared.runs import limits
from pages.shared.runs.readers import loading, reader, translator
from pages.shared.state import models
from pages.shared.state.catalog import DEFAULT

FOLDER = PRETRAINED / DEFAULT / "atlas"
SHIPPED_TEXT = "{count:,} sentences of Tatoeba's validation and training pairs"
OWN_TEXT = "your {count:,} lines"
ONE_LINE = "your one line"


class Usual(NamedTuple):
    """A score over the sentences of a corpus, in the mean, and its standard deviation."""

    mean: float
    deviation: float


@dataclass(frozen=True)
class OwnAtlas:
    """What was counted of a visitor's own text, with which loading of which model."""

    model: str
    loading: int
    job: CountJob
    key: str = field(default_factory=lambda: token_urlsafe(6))  # tells it from others

    @property
    def count(self) -> Count:
        """What was counted."""
        return self.job.count

    @property
    def atlas(self) -> Atlas:
        """What every head does over the text."""
        return self.job.atlas


class OwnText:
    """A session's own text: its newest count, and one under way; neither is ever in a link."""

    def __init__(self) -> None:
        self.newest: OwnAtlas | None = None
        self.next: OwnAtlas | None = None

    def settle(self) -> None:
        """Have a count that is finished take the place of the newest."""
        if self.next and self.next.job.status == "finished":
            self.newest, self.next = self.next, None

    def cancel(self) -> None:
        """Let go of a count that is under way, or has failed."""
        if self.next:
            self.next.job.cancel()
            self.next = None


@st.cache_resource
def counts() -> Counts:
    """Return the counts of all visitors."""
    return Counts(limits.COUNTS, longest=limits.COUNT_SECONDS)


@st.cache_resource(scope="session", show_spinner=False, on_release=OwnText.cancel)
def own_text() -> OwnText:
    """Return what this session counted, which ends with it."""
    return OwnText()


def start(data: bytes) -> None:
    """Start to count a text with the chosen model, in place of one that is under way.

    Raises ValueError with a sentence if there is nothing to count, or too many wait.
    """
    mine, model = own_text(), models.chosen()
    text = as_windows(data, limits.COUNT_LINES)
    mine.cancel()
    job = counts().start(reader(model.key), model.title, text)
    mine.next = OwnAtlas(model.key, loading(model.key), job)


def remove() -> None:
    """Forget what was counted, so that the shipped atlas is shown again; a callback."""
    own_text().newest = None


def atlas_of(model: str | None = None) -> Atlas | None:
    """Return the atlas of a model, by its key, or of the one that the visitor has chosen.

    It is that of the visitor's own text if they had one counted, else the shipped one, else None.
    """
    if own := own_atlas(model):
        return own.atlas
    return shipped_atlas() if key_of(model) == DEFAULT else None


def own_atlas(model: str | None = None) -> OwnAtlas | None:
    """Return what a visitor counted with a model, None if nothing or with another one."""
    own_text().settle()
    key, own = key_of(model), own_text().newest
    return own if own and (own.model, own.loading) == (key, loading(key)) else None


def key_of(model: str | None) -> str:
    """Return the key of a model, without one of the chosen one."""
    return models.chosen().key if model is None else model


@st.cache_resource(show_spinner=False)
def shipped_atlas() -> Atlas | None:
    """Return the shipped model's atlas; None if it is missing, or was made with other weights."""
    try:
        found = open_atlas(FOLDER)
    except ValueError:
        return None
    return found if found.about["weights"] == digest_of(translator(DEFAULT)) else None


def shown_text(model: str | None = None) -> str:
    """Return in words what the atlas of a model was counted over, such as "your 812 lines"."""
    atlas = atlas_of(model)
    if atlas is None:
        return ""
    count = atlas.lines["counted"]
    if own_atlas(model) is None:
        return SHIPPED_TEXT.format(count=count)
    return ONE_LINE if count == 1 else OWN_TEXT.format(count=count)


def usual(model: str, pattern: str, kind: Kind, layer: int, head: int) -> Usual | None:
    """Return what the badge of a pattern says of a head over the corpus; None if nothing does."""
    atlas = atlas_of(model)
    known = atlas and atlas.kinds.get(kind)
    figure = known and known.figures.get(pattern)
    if not figure or not np.isfinite(figure.of_sentences[layer, head]):
        return None
    return Usual(float(figure.of_sentences[layer, head]), float(figure.deviation[layer, head]))
