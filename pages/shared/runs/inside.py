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
from pages.shared.runs.readers import translator
from pages.shared.runs.run import ModelRun

MOST_CLOSED = 64  # keys whose cells are closed one after the other


@model_call()
def taken_apart(weight: Weight) -> Anatomy:
    """Return every number on the way to a weight, and from it into the residual stream."""
    return take_apart(weight)


def explained(weight: Weight) -> Explanation:
    """Return the five views of a weight's query; of many keys four, as closing takes a run each."""
    return _explained(replace(weight, key=0))  # which are the same for every key


@model_call("Closing one cell after the other …")
def _explained(weight: Weight) -> Explanation:
    run = weight.run
    objective = run.reader.objective(run.tokens, weight.site, weight.query)
    return explain(weight, objective, close=len(weight.row) <= MOST_CLOSED)


@model_call()
def head_projections(run: ModelRun, site: Site) -> tuple[Projections, Projections, float]:
    """Return the projections head by head and fused, and their largest difference."""
    return separate_heads(run.reader.model, site, *read_at(run.trace, site))


@model_call()
def stream_by_norm_order(run: ModelRun) -> dict[NormOrder, dict[Side, list[tuple[str, Tensor]]]]:
    """Return the lengths of the residual stream with either order of norms."""
    return norm_orders(run.reader.model, run.trace, run.changes)


@model_call()
def inner_states(run: ModelRun, site: Site) -> Tensor:
    """Return what a feed-forward network computes before its activation: (T, d_ff)."""
    return pre_activations(run.reader.model, run.trace, block_of(site).side, site.layer)


@model_call()
def lens_table(run: ModelRun) -> LensTable:
    """Return what the decoder would already write after each layer."""
    return lens(run.reader.model, run.trace, top=1)


@model_call()
def words_alone(name: str, words: tuple[str, ...]) -> Similarity:
    """Return how alike words are, each read alone; raise ValueError for unknown ones."""
    return word_similarity(translator(name), words)


@model_call()
def words_in_sentence(name: str, sentence: str) -> Similarity:
    """Return how alike the words of a sentence are; raise ValueError if they are too few."""
    return in_sentence(translator(name), sentence)
