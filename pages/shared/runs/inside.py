"""One weight of one head in one run, taken apart and explained."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from model.insight.activations import pre_activations
from model.insight.anatomy import Anatomy, block_of, read_at, take_apart
from model.insight.explain import Explanation, explain
from model.insight.head_projections import Projections, separate_heads
from model.insight.lens import LensTable, lens
from model.insight.norm_orders import NormOrder, norm_orders
from model.insight.similarity import Similarity, in_sentence, word_similarity
from model.insight.weight import Weight
from model.trace import Side, Site
from pages.shared.runs.door import model_call
from pages.shared.runs.library import BertRun
from pages.shared.runs.translator import TranslatorRun, translator

Run = TranslatorRun | BertRun  # what the pages take weights from


@model_call()
def taken_apart(weight: Weight) -> Anatomy:
    """Return every number on the way to a weight, and from it into the residual stream."""
    return take_apart(weight)


def explained(weight: Weight, close: bool) -> Explanation:
    """Return the five views of a weight's query; unless asked to `close` cells, four."""
    return _explained(replace(weight, key=0), close)  # which are the same for every key


@model_call("Closing one cell after the other …")
def _explained(weight: Weight, close: bool) -> Explanation:
    return explain(weight, weight.run.objective(weight.site, weight.query), close=close)


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
