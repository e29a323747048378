"""The model calls of the page Inside a head: a weight taken apart, and the stream's numbers."""

from dataclasses import replace

from torch import Tensor

from headlight.model.insight import anatomy
from headlight.model.insight.anatomy import Anatomy, read_at, take_apart
from headlight.model.insight.attribution import ScoreSum, sum_score
from headlight.model.insight.explain import Explanation, explain
from headlight.model.insight.lens import LensTable, Similarity, in_sentence, lens, word_similarity
from headlight.model.stream import attention_at, block_of
from headlight.model.transformer.trace import Side, Site
from headlight.pages.parts.inside import variants
from headlight.pages.shared.runs.door import model_call
from headlight.pages.shared.runs.readers import errors_explained, translator
from headlight.pages.shared.runs.run import ModelRun

Weight = anatomy.Weight[ModelRun]
MOST_CLOSED = 64  # the most keys whose cells are closed one by one


@model_call()
def taken_apart(weight: Weight) -> Anatomy:
    """Return all numbers from the input to a weight, and from there to the residual stream."""
    return take_apart(weight)


def summed(weight: Weight, against: int | None) -> ScoreSum:
    """Return a score as a sum over pairs, or its difference from the score of key `against`."""
    result = _summed(weight)
    return result if against is None else result.minus(_summed(replace(weight, key=against)))


@model_call("Adding up …")
def _summed(weight: Weight) -> ScoreSum:
    with errors_explained():
        return sum_score(weight)


def explained(weight: Weight) -> Explanation:
    """Return the five views of a weight's query; four if closing all keys takes too many runs."""
    return _explained(replace(weight, key=0))  # the views are the same for every key


@model_call("Closing one cell after the other …")
def _explained(weight: Weight) -> Explanation:
    run = weight.run
    objective = run.reader.objective(run.tokens(), weight.site, weight.query)
    return explain(weight, objective, close=len(weight.row) <= MOST_CLOSED)


@model_call()
def head_projections(
    run: ModelRun, site: Site
) -> tuple[variants.Projections, variants.Projections, float]:
    """Return projections head by head, fused projections, and their largest difference."""
    block = attention_at(run.reader.model, site)
    return variants.separate_heads(block, *read_at(run.streamed(), site))


@model_call()
def stream_by_norm_order(
    run: ModelRun,
) -> dict[variants.NormOrder, dict[Side, list[tuple[str, Tensor]]]]:
    """Return the lengths of the residual stream with either order of norms."""
    return variants.norm_orders(run.reader.model, run.streamed(), run.changes())


@model_call()
def inner_states(run: ModelRun, site: Site) -> Tensor:
    """Return the input of a feed-forward network's activation: (T, d_ff)."""
    side = block_of(site).side
    return variants.pre_activations(run.reader.model, run.streamed(), side, site.layer)


@model_call()
def lens_table(run: ModelRun) -> LensTable:
    """Return the words that the decoder would write if it stopped after each layer."""
    return lens(run.reader, run.streamed())


@model_call()
def each_word(name: str, words: tuple[str, ...]) -> Similarity:
    """Return how similar words are, each read alone; raise ValueError for unknown words."""
    return word_similarity(translator(name), words)


@model_call()
def words_in_sentence(name: str, sentence: str) -> Similarity:
    """Return how similar the words of a sentence are; raise ValueError if they are too few."""
    return in_sentence(translator(name), sentence)
