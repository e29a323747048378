import pytest
import torch

from headlight.model.edits.attention import AttentionEdit
from headlight.model.transformer.trace import Site
from tests.model.insight.recording import SITES, record, weight_of

GATES = torch.tensor([1.0, 0.5, 0.0, 1.0])


@pytest.mark.parametrize("site", SITES, ids=str)
def test_a_weight_shows_its_own_row_of_the_trace(site, model, trace):
    weight = weight_of(model, trace, site, head=2, query=1)
    assert weight.record is trace.attention[site]
    assert torch.equal(weight.row, trace.attention[site].weights[0, 2, 1])
    assert weight.key_tokens == [token.text for token in trace.key_tokens(site)]
    assert weight.row.shape == (len(weight.key_tokens),)
    assert weight.gates.tolist() == [[1, 1, 1, 1]]


def test_the_gates_are_those_of_its_site(model):
    site = Site("cross", 1)
    edits = {site: AttentionEdit(gate=GATES)}
    trace = record(model, edits)
    weight = weight_of(model, trace, site, head=1, query=0, edits=edits)
    assert weight.gates.tolist() == [GATES.tolist()]
    assert weight.gate == 0.5
    assert weight.edit is edits[site]
    assert weight_of(model, trace, Site("cross", 0), 1, 0, edits).gate == 1
