"""The atlas of the chosen model: one counted over the visitor's own text, or the shipped one."""

from dataclasses import dataclass, field
from secrets import token_urlsafe

import numpy as np
import streamlit as st

from headlight.model.corpus import CorpusLine, as_windows
from headlight.model.insight.linking import Linked
from headlight.model.jobs import JobQueue
from headlight.model.transformer.trace import Kind
from headlight.model.translator import PRETRAINED
from headlight.pages.shared.runs import limits
from headlight.pages.shared.runs.door import model_call
from headlight.pages.shared.runs.readers import errors_explained, loading, reader, translator
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.state import models
from headlight.pages.shared.state.models import DEFAULT
from headlight.pages.shared.state.wings import Usual
from headlight.wings.atlas.counting import Count, numbers_of
from headlight.wings.atlas.figures import Figures, figures_of
from headlight.wings.atlas.files import Atlas, digest_of, open_atlas
from headlight.wings.atlas.jobs import MOST_NUMBERS, CountJob, count_queue
from headlight.wings.atlas.looking import Looked, search
from headlight.wings.atlas.pronouns import PRONOUN

TOO_LONG = "This text is too long for a model with so many heads: shorten it to see its figures."
FOLDER = PRETRAINED / DEFAULT / "atlas"
SHIPPED_TEXT = "{count:,} sentences of Tatoeba's validation and training pairs"
OWN_TEXT = "your {count:,} lines"
ONE_LINE = "your one line"


@dataclass(frozen=True)
class OwnAtlas:
    """The count of a visitor's own text.

    `model` is the key of the model whose heads were counted, and `loading` identifies it among
    models that were loaded under this key.
    """

    model: str
    loading: int
    job: CountJob
    key: str = field(default_factory=lambda: token_urlsafe(6))  # identifies this count in links

    @property
    def count(self) -> Count:
        return self.job.result.count

    @property
    def atlas(self) -> Atlas:
        return self.job.result.atlas


class OwnText:
    """A session's counts of its own text: the newest that is finished, and the one under way.

    No link contains the text or its counts.
    """

    def __init__(self) -> None:
        self.newest: OwnAtlas | None = None
        self.next: OwnAtlas | None = None

    def settle(self) -> None:
        if self.next and self.next.job.status == "finished":
            self.newest, self.next = self.next, None

    def cancel(self) -> None:
        """Cancel the count under way, or drop one that failed."""
        if self.next:
            self.next.job.stop(wait=False)
            self.next = None


@st.cache_resource
def counts() -> JobQueue:
    return count_queue(limits.COUNTS, longest=limits.COUNT_SECONDS)


@st.cache_resource(scope="session", show_spinner=False, on_release=OwnText.cancel)
def own_text() -> OwnText:
    """Return the counts of this session's own text; they are dropped when the session ends."""
    return OwnText()


def start(data: bytes) -> None:
    """Start to count a text with the chosen model; a count under way is replaced.

    Raises ValueError with a sentence if there is nothing to count, or too many texts wait to be
    counted.
    """
    mine, model = own_text(), models.chosen()
    text = as_windows(data, limits.COUNT_LINES)
    mine.cancel()
    job = CountJob(counts(), reader(model.key), model.title, text)
    job.resume()
    mine.next = OwnAtlas(model.key, loading(model.key), job)


def remove() -> None:
    """Remove the count, so that the shipped atlas is shown again; a callback."""
    own_text().newest = None


def atlas_of(model: str | None = None) -> Atlas | None:
    """Return the atlas of the model with this key, or of the chosen model.

    If the visitor counted a text with this model, it is that atlas, else the shipped one; None if
    there is neither.
    """
    if own := own_atlas(model):
        return own.atlas
    return shipped_atlas() if key_of(model) == DEFAULT else None


def own_atlas(model: str | None = None) -> OwnAtlas | None:
    """Return the count of the visitor's own text by a model, or None if this model made none."""
    own_text().settle()
    key, own = key_of(model), own_text().newest
    return own if own and (own.model, own.loading) == (key, loading(key)) else None


def key_of(model: str | None) -> str:
    """Return `model`; if it is None, the key of the chosen model."""
    return models.chosen().key if model is None else model


@st.cache_resource(show_spinner=False)
def shipped_atlas() -> Atlas | None:
    """Return the shipped model's atlas; None if it is missing, or was made with other weights."""
    try:
        atlas = open_atlas(FOLDER)
    except ValueError:
        return None
    return atlas if atlas.about["weights"] == digest_of(translator(DEFAULT)) else None


def pronouns_linked(model: str) -> Linked | None:
    """Return how often each head of a model links a pronoun to its noun; None if not counted."""
    atlas = shipped_atlas() if key_of(model) == DEFAULT else None
    figure = atlas and atlas.kinds["encoder"].figures.get(PRONOUN.name)
    if not (atlas and figure):
        return None
    sentences, chance = atlas.about["pronouns"].values()
    return Linked(sentences, np.rint(sentences * figure.mean).astype(int), chance)


def shown_text(model: str | None = None) -> str:
    """Return the text that a model's atlas was counted over, in words: "your 812 lines"."""
    atlas = atlas_of(model)
    if atlas is None:
        return ""
    count = atlas.lines["counted"]
    if own_atlas(model) is None:
        return SHIPPED_TEXT.format(count=count)
    return ONE_LINE if count == 1 else OWN_TEXT.format(count=count)


def usual(model: str, pattern: str, kind: Kind, layer: int, head: int) -> Usual | None:
    """Return a head's usual score for a pattern over the corpus; None if the atlas has none."""
    atlas = atlas_of(model)
    known = atlas and atlas.kinds.get(kind)
    figure = known and known.figures.get(pattern)
    if not figure or not np.isfinite(figure.of_sentences[layer, head]):
        return None
    mean, deviation = (float(of[layer, head]) for of in (figure.of_sentences, figure.deviation))
    return Usual(mean, deviation, shown_text(model))


@model_call("Reading …")
def sentence_figures(run: ModelRun) -> Figures:
    """Return the figures of all heads on a run's text, by the model as trained.

    Raises ValueError if the model has no figures, or the text is too long for so many heads.
    """
    if numbers_of(run.reader, 1, (CorpusLine(0, ""), run.tokens())) > MOST_NUMBERS:
        raise ValueError(TOO_LONG)
    with errors_explained():
        return figures_of(run.reader, run.tokens())


def lines_kept(model: str) -> tuple[CorpusLine, ...]:
    """Return the lines that can be searched: a sample of the visitor's text, or the examples."""
    if own := own_atlas(model):
        return tuple(own.count.sampled)
    atlas = atlas_of(model)
    return tuple(CorpusLine(*example["line"]) for example in atlas.examples) if atlas else ()


@model_call("Looking …")
def looked_from(
    name: str, loading: int, lines: tuple[CorpusLine, ...], word: str
) -> tuple[list[Looked], list[CorpusLine]]:
    """Return where each head looks from a token, and the lines with the token; see `search`.

    `loading` identifies the model among those loaded under this name. Raises ValueError if no line
    has the token.
    """
    with errors_explained():
        return search(reader(name), lines, word, MOST_NUMBERS)
