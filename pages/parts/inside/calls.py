"""The model calls of the page Inside a head, for a weight's parts and for the residual stream."""

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
MOST_CLOSED = 64  # with more keys than this, their cells are not closed one by one


@model_call()
def taken_apart(weight: Weight) -> Anatomy:
    """Return every number on the way from a head's input to a weight, and on to its output."""
    return take_apart(weight)


def summed(weight: Weight, against: int | None) -> ScoreSum:
    """Return a score as a sum over pairs of parts that wrote the query and the key.

    With a key `against`, return the score minus that of this key, as the same kind of sum.
    """
    result = _summed(weight)
    return result if against is None else result.minus(_summed(replace(weight, key=against)))


@model_call("Adding up …")
def _summed(weight: Weight) -> ScoreSum:
    with errors_explained():
        return sum_score(weight)


def explained(weight: Weight) -> Explanation:
    """Return five measures of how much a weight's query draws on each key.

    With many keys there are only four: closing each key alone would take too many runs.
    """
    return _explained(replace(weight, key=0))  # one stored result serves all keys of the query


@model_call("Closing one cell after the other …")
def _explained(weight: Weight) -> Explanation:
    run = weight.run
    objective = run.reader.objective(run.tokens(), weight.site, weight.query)
    return explain(weight, objective, close=len(weight.row) <= MOST_CLOSED)


@model_call()
def head_projections(
    run: ModelRun, site: Site
) -> tuple[variants.Projections, variants.Projections, float]:
    """Return a block's projections head by head, as one product, and their largest difference."""
    block = attention_at(run.reader.model, site)
    return variants.separate_heads(block, *read_at(run.streamed(), site))


@model_call()
def stream_by_norm_order(
    run: ModelRun,
) -> dict[variants.NormOrder, dict[Side, list[tuple[str, Tensor]]]]:
    """Return the lengths of the residual stream's vectors in the pre-norm and post-norm order."""
    return variants.norm_orders(run.reader.model, run.streamed(), run.changes())


@model_call()
def inner_states(run: ModelRun, site: Site) -> Tensor:
    """Return the numbers (T, d_ff) before the activation of a layer's feed-forward network."""
    side = block_of(site).side
    return variants.pre_activations(run.reader.model, run.streamed(), side, site.layer)


@model_call()
def lens_table(run: ModelRun) -> LensTable:
    """Return, for each layer, the words that the decoder would write if it ended there."""
    return lens(run.reader, run.streamed())


@model_call()
def each_word(name: str, words: tuple[str, ...]) -> Similarity:
    """Return the similarities of words that are read one by one; ValueError for unknown words."""
    return word_similarity(translator(name), words)


@model_call()
def words_in_sentence(name: str, sentence: str) -> Similarity:
    """Return the similarities of a sentence's words; ValueError if there are too few words."""
    return in_sentence(translator(name), sentence)
