"""Readings of where a decoder looked, each against plain loops over torch's own gradients."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from headlight.model.edits.attention import AttentionEdit
from headlight.model.insight.scoring import log_probabilities
from headlight.model.stream import attention_at
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run, Site
from headlight.wings.cause.knockout import edges_of
from headlight.wings.cause.over_lines import agreement
from headlight.wings.cause.readings import readings
from tests.model.insight.recording import record

GATES = {
    Site("cross", 1): AttentionEdit(gate=torch.tensor([0.25, 1.0, 0.0, 1.0])),
    Site("decoder", 0): AttentionEdit(gate=torch.tensor([1.0, 0.5, 1.0, 1.0])),
}
EDITS = pytest.mark.parametrize("edits", [{}, GATES], ids=["as trained", "gates"])


class Kept(Trace):
    """Weights that stay in torch's graph, each a leaf of no other."""

    def record(self, site, record):
        record.weights.retain_grad()
        super().record(site, record)


def by_autograd(reader, trace, edges, edits):
    """The weights of every site, and torch's gradients of each written token for them."""
    kept = Kept()
    scores = log_probabilities(reader.rerun(trace, Run(edits, kept)), edges.written)[0]
    sites = list(kept.attention)
    tensors = [kept.attention[site].weights for site in sites]
    slopes = [
        dict(zip(sites, torch.autograd.grad(score, tensors, retain_graph=True), strict=True))
        for score in scores
    ]
    weights = {site: tensor[0].detach() for site, tensor in zip(sites, tensors, strict=True)}
    return weights, [{site: slope[0] for site, slope in one.items()} for one in slopes], kept


@EDITS
@pytest.mark.parametrize("layers", [None, range(1, 2)])
def test_weights_and_gradients_are_torchs_own(reader, trace, edits, layers):
    edges = edges_of(trace, reader, layers)
    weights, slopes, _ = by_autograd(reader, trace, edges, edits)
    found = readings(reader, trace, edges, edits)
    for n, row in enumerate(edges.written.rows):
        for w, word in enumerate(edges.words):
            looks = product = 0.0
            for site in edges.sites:
                for head in range(4):
                    for key in word.keys:
                        weight = weights[site][head, row, key].item()
                        looks += weight / 4 / len(edges.sites)
                        product += weight * slopes[n][site][head, row, key].item()
            assert found["weight"][n, w].item() == pytest.approx(looks, abs=1e-6)
            assert found["gradient"][n, w].item() == pytest.approx(product, abs=1e-5)


@EDITS
def test_lengths_are_of_what_the_heads_add_and_all_words_add_up_to_the_block(reader, trace, edits):
    edges = edges_of(trace, reader, range(1, 2))
    changed = record(reader.model, edits)
    site = Site("cross", 1)
    attention, kept = attention_at(reader.model, site), changed.attention[site]
    output, gate = attention.output.weight, edits.get(site, AttentionEdit()).gate
    found = readings(reader, trace, edges, edits)["length"]
    for n, row in enumerate(edges.written.rows):
        whole = torch.zeros(output.size(0))
        for w, word in enumerate(edges.words):
            added = torch.zeros(output.size(0))
            for head in range(4):
                factor = 1.0 if gate is None else gate[head].item()
                for key in word.keys:
                    joined = torch.zeros(4, output.size(1) // 4)
                    joined[head] = kept.weights[0, head, row, key] * kept.value[0, head, key]
                    added = added + factor * (output @ joined.flatten())
            assert found[n, w].item() == pytest.approx(added.norm().item(), abs=1e-5)
            whole = whole + added
        expected = attention.output(attention.join(kept.heads))[0, row] - attention.output.bias
        assert_close(whole, expected, atol=1e-5, rtol=0)


@EDITS
def test_rollout_follows_every_path_by_hand(reader, trace, edits):
    """A vector of shares for every token of both sides, mixed block by block."""
    edges = edges_of(trace, reader)
    changed = record(reader.model, edits)
    mean = {site: kept.weights[0].mean(dim=0).tolist() for site, kept in changed.attention.items()}
    size, length = len(trace.source_tokens), len(trace.target_tokens)

    def mixed(vectors, own, looks, others):
        return [
            [
                0.5 * own[row][at] + 0.5 * sum(looks[row][key] * others[key][at] for key in others)
                for at in range(size + length)
            ]
            for row in range(len(vectors))
        ]

    def unit(at):
        return [float(index == at) for index in range(size + length)]

    source, target = [unit(at) for at in range(size)], [unit(size + at) for at in range(length)]
    for layer in (0, 1):
        source = mixed(source, source, mean[Site("encoder", layer)], dict(enumerate(source)))
    for layer in (0, 1):
        target = mixed(target, target, mean[Site("decoder", layer)], dict(enumerate(target)))
        target = mixed(target, target, mean[Site("cross", layer)], dict(enumerate(source)))
    found = readings(reader, trace, edges, edits)["rollout"]
    for n, row in enumerate(edges.written.rows):
        assert sum(target[row]) == pytest.approx(1)
        for w, word in enumerate(edges.words):
            expected = sum(target[row][key] for key in word.keys)
            assert found[n, w].item() == pytest.approx(expected, abs=1e-6)


@EDITS
def test_relevance_follows_the_equations_over_torchs_own_gradients(reader, trace, edits):
    edges = edges_of(trace, reader)
    weights, slopes, _ = by_autograd(reader, trace, edges, edits)
    found = readings(reader, trace, edges, edits)["relevance"]
    for n, row in enumerate(edges.written.rows):
        positive = {}
        for site, of_site in weights.items():
            product = (of_site * slopes[n][site]).numpy()
            positive[site] = np.maximum(product, 0).sum(axis=0) / 4
        source = np.eye(len(trace.source_tokens))
        target = np.eye(len(trace.target_tokens))
        across = np.zeros((len(target), len(source)))
        for layer in (0, 1):
            source = source + positive["encoder", layer] @ source
        for layer in (0, 1):
            across = across + positive["decoder", layer] @ across
            target = target + positive["decoder", layer] @ target
            across = across + normed(target).T @ positive["cross", layer] @ normed(source)
        for w, word in enumerate(edges.words):
            expected = sum(across[row, key] for key in word.keys)
            assert found[n, w].item() == pytest.approx(expected, abs=1e-6)


def normed(relevances):
    result = np.eye(len(relevances))
    for row in range(len(relevances)):
        others = relevances[row] - np.eye(len(relevances))[row]
        if others.sum() > 0:
            result[row] += others / others.sum()
    return result


def test_ranks_are_of_losses_and_count_the_words_missed_most():
    changes = np.array([[-2.0, -1.0, 0.5], [0.0, -3.0, -1.0]])
    found = {"same": -changes, "against": changes}
    result = agreement(found, changes)
    assert result.correlations == {"same": pytest.approx(1), "against": pytest.approx(-1)}
    assert result.agreed == {"same": 2, "against": 0}
    assert result.written == 2
