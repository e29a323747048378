"""One weight of one head in one run, taken apart and explained."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from model.insight.activations import pre_activations
from model.insight.anatomy import Anatomy, block_of, read_at, take_apart
from model.insight.explain import Explanation, explain
from model.insight.focus import Focus
from model.insight.head_projections import Projections, separate_heads
from model.insight.lens import LensTable, lens
from model.insight.norm_orders import NormOrder, norm_orders
from model.insight.similarity import Similarity, in_sentence, word_similarity
from model.trace import Side, Site
from pages.shared.runs.arrays import tokens_of
from pages.shared.runs.door import model_call
from pages.shared.runs.library import BertRun
from pages.shared.runs.translator import TranslatorRun, translator

Run = TranslatorRun | BertRun


@dataclass(frozen=True)
class Weight:
    """One weight: what the page Inside a head is about. Everything counts from 0."""

    run: Run
    site: Site
    head: int
    query: int
    key: int

    @property
    def key_tokens(self) -> list[str]:
        """The texts of the tokens looked at."""
        return tokens_of(self.run.trace, self.site.kind)[1]


def focus_of(run: Run, site: Site, head: int, query: int) -> Focus:
    """Return one query of a head in a run, as the model's package looks into it."""
    return Focus(run.network, run.trace, site, head, query, run.changes)


@model_call()
def taken_apart(weight: Weight) -> Anatomy:
    """Return every number on the way to a weight, and from it into the residual stream."""
    return take_apart(focus_of(weight.run, weight.site, weight.head, weight.query), weight.key)


def explained(weight: Weight, close: bool) -> Explanation:
    """Return the five views of a weight's query; unless asked to `close` cells, four."""
    return _explained(weight.run, weight.site, weight.head, weight.query, close)


@model_call("Closing one cell after the other …")
def _explained(run: Run, site: Site, head: int, query: int, close: bool) -> Explanation:
    objective = run.objective(site, query)
    return explain(focus_of(run, site, head, query), objective, close=close)


@model_call()
def head_projections(run: Run, site: Site) -> tuple[Projections, Projections, float]:
    """Return the projections head by head and fused, and their largest difference."""
    return separate_heads(run.network, site, *read_at(run.trace, site))


@model_call()
def stream_by_norm_order(run: Run) -> dict[NormOrder, dict[Side, list[tuple[str, Tensor]]]]:
    """Return the lengths of the residual stream with either order of norms."""
    return norm_orders(run.network, run.trace, run.changes)


@model_call()
def inner_states(run: Run, site: Site) -> Tensor:
    """Return what a feed-forward network computes before its activation: (T, d_ff)."""
    return pre_activations(run.network, run.trace, block_of(site).side, site.layer)


@model_call()
def lens_table(run: TranslatorRun) -> LensTable:
    """Return what the decoder would already write after each layer."""
    return lens(run.network, run.trace, top=1)


@model_call()
def words_alone(name: str, words: tuple[str, ...]) -> Similarity:
    """Return how alike words are, each read alone; raise ValueError for unknown ones."""
    return word_similarity(translator(name), words)


@model_call()
def words_in_sentence(name: str, sentence: str) -> Similarity:
    """Return how alike the words of a sentence are; raise ValueError if they are too few."""
    return in_sentence(translator(name), sentence)
