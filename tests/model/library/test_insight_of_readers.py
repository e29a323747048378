"""What insight makes of models of the transformers library, only by their readers."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch.testing import assert_close

from headlight.model.edits.attention import AttentionEdit
from headlight.model.insight.ablation import head_removals
from headlight.model.insight.anatomy import Weight, take_apart
from headlight.model.insight.explain import contributions, explain, gradient_times_attention
from headlight.model.insight.scoring import log_probability
from headlight.model.transformer.trace import Run, Site
from headlight.pages.parts.inside.variants import rescaled
from tests.model.insight.recording import Recorded
from tests.model.library.families import traced

TEXT, TARGET = "I love my cat.", "J'aime mon chat."
# T5 adds a bias of relative positions to its scores; heads of Llama share keys, which are rotated.
SITES = {
    "BART": Site("cross", 1),
    "T5": Site("decoder", 0),
    "Llama": Site("decoder", 1),
    "RoBERTa": Site("encoder", 1),
    "classes": Site("encoder", 0),
}
EVERY = pytest.mark.parametrize("name", SITES)
HEAD, QUERY, KEY = 1, 2, 1


@pytest.fixture
def weight_in(load):
    """A function from the name of a model to a weight in a run of it, with its head faded."""

    def get(name):
        reader, site = load(name), SITES[name]
        gate = torch.ones(reader.shape.heads(site.kind))
        gate[HEAD] = 0.5
        edits = {site: AttentionEdit(gate=gate)}
        target = TARGET if name in ("BART", "T5") else None
        masked = [2] if name == "RoBERTa" else []
        trace = reader.trace(TEXT, target, masked=masked, edits=edits)
        return Weight(Recorded(reader, trace, edits), site, HEAD, QUERY, KEY)

    return get


@EVERY
def test_every_part_sums_to_the_whole(name, weight_in):
    weight = weight_in(name)
    part = take_apart(weight)
    score = part.products.sum() * part.scale
    if part.score_bias is not None:
        score = score + part.score_bias[KEY]
    assert (part.score_bias is not None) == (name == "T5")
    assert_close(score, part.scores[KEY], atol=1e-5, rtol=1e-5)
    assert_close(part.exponentials / part.total, part.weights, atol=1e-6, rtol=0)
    assert_close(part.weighted_values.sum(0) * part.gate, part.head, atol=1e-6, rtol=0)
    assert part.gate == 0.5
    assert_close(contributions(weight).sum(0), part.contributions[HEAD], atol=1e-6, rtol=0)
    assert part.residual is part.query_input is part.bias is None
    assert (part.rotated, part.key_heads) == ((True, 2) if name == "Llama" else (False, None))


def test_a_sink_takes_its_part_of_the_softmax(weight_in):
    part = take_apart(weight_in("Llama"))
    for sink in (0.3, 9.0):
        whole = torch.cat([part.masked_scores, torch.tensor([sink])]).softmax(-1)
        with_sink = replace(part, sink=sink, weights=whole[:-1])
        assert_close(with_sink.exponentials / with_sink.total, with_sink.weights)


@pytest.mark.parametrize(
    ("name", "site"),
    [("T5", Site("encoder", 1)), ("Gemma 2", Site("decoder", 1)), ("GPT-OSS", Site("decoder", 1))],
)
def test_bias_softcap_and_sink_are_not_scaled(name, site, attached):
    reader = SimpleNamespace(missing={"own layers": ""}, heads_to_stream=lambda _: None)
    _, trace = traced(name, attached)
    part = take_apart(Weight(Recorded(reader, trace, {}), site, 2, 5, 3))
    _, edited = traced(name, attached, {site: AttentionEdit(scale=0.3)})
    assert_close(rescaled(part, part.scale), part.weights)
    assert_close(rescaled(part, 0.3), edited.attention[site].weights[0, 2, 5])
    assert (part.weights - rescaled(part, 0.3)).abs().max() > 0.01


@EVERY
def test_the_gradients_of_a_head_sum_to_that_of_its_gate(name, weight_in):
    weight = weight_in(name)
    reader, trace, edits = weight.run.reader, weight.run.trace(), weight.run.changes()
    objective = reader.objective(trace)
    gates = edits[weight.site].gate.clone().requires_grad_()
    run = Run({weight.site: AttentionEdit(gate=gates)})
    (slopes,) = torch.autograd.grad(log_probability(reader, trace, objective, run).sum(), gates)
    queries = range(len(trace.query_tokens(weight.site)))
    parts = [gradient_times_attention(replace(weight, query=row), objective) for row in queries]
    total = sum(part.sum() for part in parts)
    assert slopes[HEAD].abs() > 1e-4
    assert_close(total, slopes[HEAD] * 0.5, atol=1e-4, rtol=1e-3)


@EVERY
def test_a_removal_is_a_run_with_that_cell_closed(name, weight_in):
    weight = weight_in(name)
    reader, trace, edits = weight.run.reader, weight.run.trace(), weight.run.changes()
    objective = reader.objective(trace, weight.site, QUERY)
    result = explain(weight, objective)
    block = torch.zeros(weight.record.weights.shape[1:], dtype=torch.bool)
    block[HEAD, QUERY, KEY] = True
    closed = {weight.site: replace(edits[weight.site], block=block)}
    with torch.inference_mode():
        alone, whole = (
            log_probability(reader, trace, objective, Run(each)) for each in (closed, edits)
        )
    assert_close(result.removals[KEY], (alone - whole)[0], atol=1e-4, rtol=0)
    assert_close(result.value_norms, contributions(weight).norm(dim=-1))
    assert_close(result.rollout.sum(), torch.tensor(1.0), atol=1e-5, rtol=0)


@EVERY
def test_each_head_is_removed_by_its_gate(name, weight_in):
    weight = weight_in(name)
    reader, trace, edits = weight.run.reader, weight.run.trace(), weight.run.changes()
    objective, match = reader.objective(trace), dict(head_removals(reader, trace, edits))
    assert set(match) == set(reader.shape.sites)
    for site in reader.shape.sites:
        gate = torch.ones(reader.shape.heads(site.kind))
        gate = edits[site].gate.clone() if site in edits else gate
        gate[HEAD] = 0
        without = {**edits, site: AttentionEdit(gate=gate)}
        with torch.inference_mode():
            alone, whole = (
                log_probability(reader, trace, objective, Run(each)) for each in (without, edits)
            )
        assert_close(match[site][HEAD], (alone - whole)[0], atol=1e-4, rtol=0)
