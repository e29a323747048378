from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from headlight.model.edits.attention import AS_TRAINED, AttentionEdit
from headlight.model.insight import estimate
from headlight.model.insight.ablation import cell_removals, head_removals
from headlight.model.insight.estimate import estimated_closings, estimated_removals, gaps
from headlight.model.insight.scoring import log_probability
from headlight.model.memory_layout import lay_out
from headlight.model.transformer.trace import Run, Site
from headlight.model.translator import choose_objective
from tests.model.insight.recording import AT_SITES, EDITS, HEADS, IN_FORCE, SITES, reader_of, record

STEP = 1e-5


@pytest.fixture(scope="module")
def model(make_model):
    return make_model(seed=1).double()


def score(model, trace, edits):
    reader = reader_of(model)
    return log_probability(reader, trace, reader.objective(trace), Run(edits)).sum().item()


def with_gate(edits, site, head, factor):
    """The edits, with the gate of one head times a factor."""
    edit = edits.get(site, AS_TRAINED)
    gate = torch.ones(HEADS, dtype=torch.float64) if edit.gate is None else edit.gate.double()
    gate[head] *= factor
    return {**edits, site: replace(edit, gate=gate)}


@AT_SITES
@IN_FORCE
def test_a_head_is_worth_the_slope_of_its_scale(model, site, edits):
    trace = record(model, edits)
    result = estimated_removals(reader_of(model), trace, edits)
    assert set(result) == set(SITES)
    for head in range(HEADS):
        ends = [
            score(model, trace, with_gate(edits, site, head, 1 + step)) for step in (STEP, -STEP)
        ]
        assert result[site][head].item() == pytest.approx(
            (ends[1] - ends[0]) / (2 * STEP), abs=1e-6
        )
    assert result[site].abs().max() > 1e-4


@AT_SITES
@IN_FORCE
def test_a_cell_is_worth_the_slope_of_its_row(model, site, edits):
    """A row moves a little from its weights towards those without the cell."""
    trace = record(model, edits)
    result = estimated_closings(reader_of(model), trace, site, edits)
    weights, closed = trace.attention[site].weights[0], result.isnan()
    assert torch.equal(closed, trace.attention[site].masked_scores[0].isneginf())
    edit = edits.get(site, AS_TRAINED)
    for head, query in ((0, 1), (3, 2)):
        for key in (~closed[head, query]).nonzero()[:, 0].tolist():
            without = weights[head, query].clone()
            without[key] = 0
            if without.any():
                without /= without.sum()
            ends = []
            for step in (STEP, -STEP):
                moved = weights.clone()
                moved[head, query] += step * (without - moved[head, query])
                ends.append(score(model, trace, {**edits, site: replace(edit, weights=moved)}))
            slope = (ends[0] - ends[1]) / (2 * STEP)
            assert result[head, query, key].item() == pytest.approx(slope, abs=1e-6)


def test_the_slope_of_a_weight_is_that_of_finite_differences(model):
    trace, site = record(model), Site("cross", 0)
    weights = trace.attention[site].weights[0]
    with estimate.differentiating():
        leaf = weights.clone().requires_grad_()
        reader = reader_of(model)
        run = Run({site: AttentionEdit(weights=leaf)})
        result = log_probability(reader, trace, reader.objective(trace), run).sum()
        (slope,) = estimate.gradients(result, [leaf])
    for cell in ((0, 0, 0), (1, 2, 3), (3, 3, 5)):
        ends = []
        for step in (STEP, -STEP):
            moved = weights.clone()
            moved[cell] += step
            ends.append(score(model, trace, {site: AttentionEdit(weights=moved)}))
        assert slope[cell].item() == pytest.approx((ends[0] - ends[1]) / (2 * STEP), abs=1e-6)


@IN_FORCE
def test_of_a_faint_head_and_a_faint_cell_the_estimate_is_the_truth(model, edits):
    site, reader = Site("encoder", 1), reader_of(model)
    faint = with_gate(edits, site, 2, 1e-4)
    trace = record(model, faint)
    true = dict(head_removals(reader, trace, faint))[site][2]
    result = estimated_removals(reader, trace, faint)[site][2]
    assert abs(true) > 1e-7
    assert_close(result.double(), true, rtol=1e-3, atol=0)
    estimated = estimated_closings(reader, trace, site, faint)[2]
    cells = (~estimated.isnan()).nonzero().tolist()
    objective = reader.objective(trace)
    true = torch.cat(list(cell_removals(reader, trace, site, 2, cells, objective, faint)))
    result = torch.stack([estimated[query, key] for query, key in cells])
    assert true.abs().max() > 1e-7
    assert_close(result.double(), true, rtol=1e-3, atol=1e-10)


def test_one_token_alone_can_be_what_is_measured(model):
    reader, trace = reader_of(model), record(model)
    whole = reader.objective(trace)
    parts = [estimated_removals(reader, trace, None, whole.only(position)) for position in range(4)]
    together = estimated_removals(reader, trace)
    for site in SITES:
        assert_close(sum(part[site] for part in parts), together[site], atol=1e-5, rtol=0)


@IN_FORCE
def test_the_parts_of_a_gap_sum_to_it(model, edits):
    reader, trace = reader_of(model), record(model, edits)
    heads = [(Site("encoder", 0), 3), (Site("cross", 0), 1), (Site("cross", 1), 2)]
    true, match = (
        dict(head_removals(reader, trace, edits)),
        estimated_removals(reader, trace, edits),
    )
    for (site, head), gap in zip(heads, gaps(reader, trace, heads, edits), strict=True):
        expected = (true[site][head] - match[site][head]).item()
        assert sum(gap[:3]) == pytest.approx(expected, abs=1e-5)
        weights = trace.attention[site].weights[0, head]
        assert gap.sharpness == pytest.approx(weights.amax(dim=-1).mean().item(), abs=1e-6)
    assert gap.attention == pytest.approx(0, abs=1e-6), "no attention comes after the last"


def test_weights_that_are_given_are_not_changed_by_closing(model):
    trace, site = record(model), Site("decoder", 1)
    edits = {site: AttentionEdit(weights=trace.attention[site].weights[0].clone())}
    result = estimated_closings(reader_of(model), trace, site, edits)
    assert result.nan_to_num().abs().max() == 0
    assert torch.equal(result.isnan(), trace.attention[site].masked_scores[0].isneginf())


def test_rows_that_see_nothing_or_one_key_alone_break_nothing(model):
    site = Site("encoder", 0)
    block = torch.zeros(6, 6, dtype=torch.bool)
    block[1], block[2, 1:] = True, True
    edits = {site: AttentionEdit(block=block)}
    reader, trace = reader_of(model), record(model, edits)
    result = estimated_closings(reader, trace, site, edits)
    assert result[:, 1].isnan().all()
    assert result[:, 2, 0].isfinite().all()
    assert all(part.isfinite().all() for part in estimated_removals(reader, trace, edits).values())
    expected = next(cell_removals(reader, trace, site, 1, [(2, 0)], reader.objective(trace), edits))
    assert expected.isfinite().all()


def test_the_largest_weight_of_a_saturated_row_is_taken_away_exactly(model):
    """A weight of 1 - 1e-9 leaves shares of the others that its difference from 1 has lost."""
    site, reader = Site("cross", 0), reader_of(model.float())
    edits = {site: AttentionEdit(scale=40.0)}
    trace = record(reader.model, edits)
    weights = trace.attention[site].weights[0]
    assert (weights == 1).any()
    head, query, key = (weights == 1).nonzero()[0].tolist()
    result = estimated_closings(reader, trace, site, edits)
    model.double()
    exact = estimated_closings(reader_of(model), trace, site, edits)
    assert_close(result[head, query, key], exact[head, query, key].float(), rtol=1e-2, atol=1e-5)


def test_nothing_is_left_behind(make_model):
    trainable, frozen = make_model(seed=1), lay_out(make_model(seed=1)).requires_grad_(False)
    trace, site = record(trainable, EDITS), Site("cross", 1)
    before = {name: part.clone() for name, part in trainable.state_dict().items()}
    gates = {place: edit.gate.clone() for place, edit in EDITS.items() if edit.gate is not None}
    results = []
    for model in (trainable, frozen):
        with torch.inference_mode():
            reader = reader_of(model)
            heads = estimated_removals(reader, trace, EDITS)
            results.append((heads[site], estimated_closings(reader, trace, site, EDITS)))
            assert not heads[site].requires_grad
            gaps(reader, trace, [(site, 0)], EDITS)
    for ours, theirs in zip(*results, strict=True):
        assert_close(ours, theirs, atol=1e-5, rtol=0, equal_nan=True)
    assert all(parameter.grad is None for parameter in trainable.parameters())
    for name, part in trainable.state_dict().items():
        assert torch.equal(part, before[name])
    for place, gate in gates.items():
        assert torch.equal(EDITS[place].gate, gate)
        assert not EDITS[place].gate.requires_grad


class Silent:
    """A reader whose logits know nothing of where they come from."""

    def __init__(self, reader):
        self.shape, self.objective, self.reader = reader.shape, reader.objective, reader

    def rerun(self, trace, run):
        return self.reader.rerun(trace, run).detach()


def test_a_model_without_gradients_is_refused_with_a_sentence(model):
    reader = Silent(reader_of(model))
    with pytest.raises(ValueError, match=r"gives no gradient.*measured on the Heads page\."):
        estimated_removals(reader, record(model))


def test_so_is_a_text_that_is_too_long_and_one_with_nothing_to_measure(model, monkeypatch, bert):
    monkeypatch.setattr(estimate, "MOST_WEIGHTS", 100)
    with pytest.raises(ValueError, match="too long for that in so large a model"):
        estimated_removals(reader_of(model), record(model))
    with pytest.raises(ValueError, match="cannot be measured"):
        estimated_removals(bert, bert.trace("the cat sat."))


def test_the_objective_of_a_query_is_taken_as_it_is(model):
    trace = record(model)
    objective = choose_objective(trace, Site("cross", 0), 1)
    result = estimated_closings(reader_of(model), trace, Site("cross", 0), None, objective)
    assert result[:, 0].abs().max() > 1e-4, "an earlier row changes what a later one writes"
    assert result[:, 3].abs().max() == 0, "a later row does not"
