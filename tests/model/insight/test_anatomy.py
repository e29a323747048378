import pytest
import torch
from torch.testing import assert_close

from headlight.model.edits import CellEdit, Edits
from headlight.model.edits.attention import AttentionEdit
from headlight.model.insight.anatomy import take_apart
from headlight.model.shape import shape_of
from headlight.model.stream import attention_at
from headlight.model.trace import Trace
from headlight.model.transformer.trace import KINDS, Block, Run, Site
from tests.model.insight.recording import weight_of

SOURCES = torch.tensor([[4, 5, 6, 7, 8, 3]])
TARGETS = torch.tensor([[2, 14, 15, 16, 17]])
EDITS = Edits(
    masks={("window", "encoder"): (2,)},
    cells=(CellEdit("cross", 2, 1, opened=False),),
    gates={("cross", 1, 2): 0.5, ("decoder", 0, 2): 0.0},
)


def close(found, expected):
    assert_close(found, expected, atol=1e-5, rtol=0)


@pytest.fixture(params=["pre", "post"])
def run(request, make_model):
    """A model and its trace, with edits in force."""
    model, trace = make_model(norm=request.param, seed=3), Trace()
    edits = EDITS.at_sites(shape_of(model.config), 8)
    with torch.inference_mode():
        model(SOURCES, TARGETS, Run(edits, trace))
    return model, trace, edits


@torch.inference_mode()
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize(("query", "key"), [(0, 0), (2, 1), (4, 3)])
def test_every_part_sums_to_the_whole(kind, layer, query, key, run):
    model, trace, edits = run
    site, head = Site(kind, layer), 2
    record = trace.attention[site]
    part = take_apart(weight_of(model, trace, site, head, query, edits, key=key))
    attention = attention_at(model, site)
    rows = slice(4 * head, 4 * head + 4)
    for name, states in (
        ("query", part.query_input),
        ("key", part.key_input),
        ("value", part.key_input),
    ):
        linear = getattr(attention, name)
        projected = states @ linear.weight[rows].T + linear.bias[rows]
        close(getattr(part, name), projected)
    close(part.products.sum() * part.scale, record.scores[0, head, query, key])
    close(part.scores.masked_fill(part.masked_scores.isneginf(), -torch.inf), part.masked_scores)
    close(part.masked_scores.softmax(-1), part.weights)
    close(part.exponentials / part.exponentials.sum(), part.weights)
    close(part.weighted_values[key], part.weights[key] * part.value)
    close(part.weighted_values.sum(0) * part.gate, part.head)
    close(part.heads[head], part.head)
    residual = part.residual
    close(part.contributions.sum(0) + part.bias, residual.change[0, query])
    summed = residual.states[0, query] + residual.change[0, query]
    if model.config.norm == "pre":
        close(summed, residual.outputs[0, query])


def test_a_place_that_is_not_there_is_refused(run):
    model, trace, _ = run
    with pytest.raises(IndexError):
        take_apart(weight_of(model, trace, Site("cross", 0), 2, 5, key=0))


@torch.inference_mode()
@pytest.mark.parametrize("layer", [0, 2])
@pytest.mark.parametrize(("query", "key"), [(0, 0), (3, 7)])
def test_every_part_sums_to_the_whole_in_a_bert(layer, query, key, bert):
    site, head = Site("encoder", layer), 1
    edits = {site: AttentionEdit(gate=torch.tensor([1.0, 0.5, 0.0, 1.0]))}
    reading = bert.trace("the cat was playing.", second="it sat!", masked=[3], edits=edits)
    record = reading.attention[site]
    part = take_apart(weight_of(bert, reading, site, head, query, edits, key=key))
    attention = bert.model.layers[layer].attention
    rows = slice(6 * head, 6 * head + 6)
    close(
        part.query, part.query_input @ attention.query.weight[rows].T + attention.query.bias[rows]
    )
    close(part.products.sum() * part.scale, record.scores[0, head, query, key])
    close(part.masked_scores.softmax(-1), part.weights)
    close(part.weighted_values.sum(0) * part.gate, part.head)
    close(part.contributions.sum(0) + part.bias, part.residual.change[0, query])
    norm = bert.model.layers[layer].attention_residual.norm
    summed = part.residual.states[0, query] + part.residual.change[0, query]
    close(norm(summed), part.residual.outputs[0, query])
    embedding = reading.embedding["encoder"]
    summed = embedding.tokens + embedding.segments + embedding.positions
    close(bert.model.norm(summed), embedding.states)
    close(embedding.states, reading.residual[Block("encoder", 0, "self")].states)
