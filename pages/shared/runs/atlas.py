"""The atlas of the model in force: of the visitor's own text, or the shipped model's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import streamlit as st

from model.atlas.counting import Count, digest_of
from model.atlas.opening import Atlas, open_atlas
from model.trace import Kind
from model.translator import PRETRAINED
from pages.shared.runs.readers import loading, translator
from pages.shared.state import models
from pages.shared.state.catalog import DEFAULT

FOLDER = PRETRAINED / DEFAULT / "atlas"
SHIPPED_TEXT = "{count:,} sentences of Tatoeba's validation pairs"
OWN_TEXT = "your {count:,} lines"
ONE_LINE = "your one line"


class Usual(NamedTuple):
    """A score over the sentences of a corpus, in the mean, and its standard deviation."""

    mean: float
    deviation: float


@dataclass(frozen=True)
class OwnAtlas:
    """What was counted of a visitor's own text, and of which loading of which model."""

    model: str
    loading: int
    count: Count
    atlas: Atlas


class OwnText:
    """The newest count of a session; it is never in a link or a file of the server."""

    newest: OwnAtlas | None = None


@st.cache_resource(scope="session", show_spinner=False)
def own_text() -> OwnText:
    """Return what this session counted, which ends with it."""
    return OwnText()


def atlas_of(model: str | None = None) -> Atlas | None:
    """Return the atlas of a model, by its key, or of the one that the visitor has chosen.

    It is that of the visitor's own text if they had one counted, else the shipped one, else None.
    """
    if own := own_atlas(model):
        return own.atlas
    return shipped_atlas() if key_of(model) == DEFAULT else None


def own_atlas(model: str | None = None) -> OwnAtlas | None:
    """Return what a visitor counted with a model, None if nothing or with another one."""
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
