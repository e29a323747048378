"""What heads do by their weights only, against whole tables and against runs of the model."""

import math

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from headlight.model.stream import attention_at, output_maps
from headlight.model.tokens import END_ID, START_ID
from headlight.model.trace import Trace
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.trace import Run, Site
from headlight.model.transformer.transformer import Transformer
from headlight.wings.atlas import circuits
from headlight.wings.atlas.circuits import (
    Circuit,
    Maps,
    composition,
    compositions,
    dictionary,
    feeds,
    maps_of,
    query_keys,
    random_composition,
    value_outputs,
)

IDS = list(range(4, 20))
FIRST = [Site("encoder", 0), Site("decoder", 0)]


@pytest.fixture
def positionless(make_model):
    """A model of one layer, whose token vectors have no positions."""
    return make_model(seed=2, positions="none", encoder_layers=1, decoder_layers=1)


def recorded(model, ids=IDS):
    trace = Trace()
    with torch.no_grad():
        model(torch.tensor([ids]), torch.tensor([ids]), Run(trace=trace))
    return trace


@pytest.mark.parametrize("site", FIRST, ids=str)
def test_scores_of_a_first_layer_are_those_of_a_run_without_positions(positionless, site):
    scores = recorded(positionless).attention[site].scores[0]
    expected = scores - scores.mean(dim=-1, keepdim=True)
    for head, circuit in enumerate(query_keys(positionless, site, IDS)):
        assert_close(circuit.rows @ circuit.columns.T, expected[head], atol=1e-5, rtol=0)


def test_writing_of_a_first_layer_is_that_of_a_run_with_the_last_norms_scale_held(positionless):
    site, model = Site("decoder", 0), positionless
    attention, norm = attention_at(model, site), model.decoder.norm
    value = recorded(model).attention[site].value[0]  # (H, N, D)
    for head, circuit in enumerate(value_outputs(model, site, IDS)):
        added = value[head] @ output_maps(attention)[head]
        plain = (added - added.mean(dim=-1, keepdim=True)) * norm.weight
        logits = plain @ model.output.weight[IDS].T
        expected = logits - logits.mean(dim=0)
        assert_close(circuit.rows @ circuit.columns.T, expected, atol=1e-5, rtol=0)


def test_strongest_pairs_and_eigenvalues_are_those_of_the_whole_table(monkeypatch):
    monkeypatch.setattr(circuits, "AT_ONCE", 3)
    generator = torch.Generator().manual_seed(0)
    circuit = Circuit(*torch.randn(2, 10, 4, generator=generator))
    table = (circuit.rows @ circuit.columns.T).numpy()
    highest, lowest = circuit.strongest(3)
    by_row = sorted(range(10), key=lambda row: -table[row].max())[:3]
    assert [(pair.row, pair.column) for pair in highest] == [
        (row, table[row].argmax()) for row in by_row
    ]
    by_row = sorted(range(10), key=lambda row: table[row].min())[:3]
    assert [(pair.row, pair.column) for pair in lowest] == [
        (row, table[row].argmin()) for row in by_row
    ]
    assert [pair.value for pair in lowest] == pytest.approx([table[row].min() for row in by_row])
    assert circuit.best().tolist() == table.argmax(axis=1).tolist()
    assert [pair.column for pair in circuit.of_row(4, 2)] == (-table[4]).argsort()[:2].tolist()
    assert [pair.column for pair in circuit.transposed.of_row(4, 1)] == [table[:, 4].argmax()]
    values = np.linalg.eigvals(table.astype(np.float64))
    share = values.sum().real / np.abs(values).sum()
    assert circuit.positive_share() == pytest.approx(share, abs=1e-5)
    assert Circuit(circuit.rows, circuit.rows).positive_share() == pytest.approx(1)


def test_a_dictionary_is_of_the_first_tokens_of_the_model_and_of_each_head(make_model):
    model = make_model(seed=3)
    found = dictionary(model, [5, 6, 7], IDS)
    for n, word in enumerate((5, 6, 7)):
        with torch.inference_mode():
            memory = model.encode(torch.tensor([[word, END_ID]]))
            mask = model.source_mask(torch.tensor([[word, END_ID]]))
            logits = model.decode(torch.tensor([[START_ID]]), memory, mask)[0, 0]
        assert found.written[n] == IDS[int(logits[IDS].argmax())]
    assert found.encoded.shape == found.direct.shape == (2, 4, 3)
    assert {*found.encoded.flatten().tolist(), *found.direct.flatten().tolist()} <= {*IDS}


def test_composition_is_that_of_the_matrices_written_out(make_model):
    model = make_model(seed=1)
    for (earlier, later, way), numbers in compositions(model).items():
        first, second = maps_of(model, earlier), maps_of(model, later)
        for row in range(4):
            for column in range(4):
                writes = first.value[row].T @ first.output[row]  # (d_model, d_model), from the left
                scores = second.query[column].T @ second.key[column]
                reads = {
                    "query": scores,
                    "key": scores.T,
                    "value": second.value[column].T @ second.output[column],
                }[way]
                expected = (writes @ reads).norm() / writes.norm() / reads.norm()
                assert numbers[row, column].item() == pytest.approx(expected.item(), abs=1e-9)


def test_maps_read_through_a_norm_as_the_model_does(make_model):
    model, site = make_model(seed=1), Site("decoder", 1)
    maps, attention = maps_of(model, site), attention_at(model, site)
    norm = model.decoder.layers[1].self_residual.norm
    states = torch.randn(5, 16, generator=torch.Generator().manual_seed(0))
    scale = 1 / (states.var(dim=-1, unbiased=False, keepdim=True) + norm.eps).sqrt()
    with torch.inference_mode():
        full = attention.split(attention.key(norm(states))[None])[0]
        bias = attention.split(attention.key(norm.bias)[None, None])[0]
    expected = full - bias
    assert_close(scale * (states @ maps.key.float().mT), expected, atol=1e-4, rtol=0)


def test_a_head_feeds_only_those_that_come_after_it():
    assert feeds(Site("encoder", 0), Site("encoder", 1)) == ("query", "key", "value")
    assert feeds(Site("encoder", 1), Site("encoder", 1)) == ()
    assert feeds(Site("encoder", 4), Site("cross", 0)) == ("key", "value")
    assert feeds(Site("decoder", 0), Site("cross", 0)) == ("query",)
    assert feeds(Site("cross", 0), Site("decoder", 0)) == ()
    assert feeds(Site("cross", 0), Site("decoder", 1)) == ("query", "key", "value")
    assert feeds(Site("encoder", 0), Site("decoder", 1)) == ()


def test_random_heads_are_composed_as_random_matrices_are():
    found = random_composition(64, 4)
    assert found.mean == pytest.approx(1 / math.sqrt(64), rel=0.1)
    parts = torch.randn(8, 1, 4, 64, dtype=torch.float64).unbind()
    same = Maps(*parts[:4])
    aligned = composition(same, Maps(parts[4], same.output, parts[6], parts[7]), "key")
    assert aligned.item() > 2 * found.mean


def test_an_untrained_model_is_composed_as_random_heads_are():
    shape = {"d_model": 64, "heads": 4, "encoder_layers": 2, "decoder_layers": 2, "d_ff": 32}
    torch.manual_seed(0)
    numbers = compositions(Transformer(TransformerConfig(20, 20, **shape))).values()
    expected = random_composition(64, 4)
    assert float(torch.stack([*numbers]).mean()) == pytest.approx(expected.mean, rel=0.05)
