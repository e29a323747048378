import pytest
import torch

from model.insight.focus import Focus, attention_of
from model.trace import AttentionEdit, Site
from tests.model.insight.recording import SITES, record

GATES = torch.tensor([1.0, 0.5, 0.0, 1.0])


@pytest.mark.parametrize("site", SITES, ids=str)
def test_a_focus_shows_its_own_row_of_the_trace(site, model, trace):
    focus = Focus(model, trace, site, head=2, query=1)
    assert focus.record is trace.attention[site]
    assert torch.equal(focus.weights, trace.attention[site].weights[0, 2, 1])
    assert focus.weights.shape == (len(trace.key_tokens(site)),)
    assert focus.attention is attention_of(model, site)
    assert focus.gates.tolist() == [[1, 1, 1, 1]]


def test_the_gates_are_those_of_its_site(model):
    site = Site("cross", 1)
    edits = {site: AttentionEdit(gate=GATES)}
    trace = record(model, edits)
    focus = Focus(model, trace, site, head=1, query=0, edits=edits)
    assert focus.gates.tolist() == [GATES.tolist()]
    assert focus.gate == 0.5
    assert focus.edit is edits[site]
    assert Focus(model, trace, Site("cross", 0), 1, 0, edits).gate == 1


def test_every_site_has_its_own_module(model):
    modules = [attention_of(model, site) for site in SITES]
    assert len(set(modules)) == len(SITES)
