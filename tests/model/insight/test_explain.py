from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from headlight.model.edits.attention import AttentionEdit
from headlight.model.insight.explain import (
    NOTES,
    Explanation,
    contributions,
    explain,
    gradient_times_attention,
    removals,
    rollout,
)
from headlight.model.insight.scoring import log_probability, trace_log_probabilities
from headlight.model.memory_layout import lay_out
from headlight.model.stream import attention_at
from headlight.model.tokens import END_ID, PAD_ID
from headlight.model.trace import Trace
from headlight.model.transformer import attention
from headlight.model.transformer.trace import Block, Run, Site
from headlight.model.translator import choose_objective
from tests.model.insight.recording import (
    AT_SITES,
    EDITS,
    HEADS,
    IN_FORCE,
    SITES,
    SOURCE,
    TARGET,
    reader_of,
    record,
    tokens,
    weight_of,
)


def explained(model, trace, site, head, query, edits=None):
    """The five views with the effects on what `choose_objective` says."""
    objective = choose_objective(trace, site, query)
    return explain(weight_of(model, trace, site, head, query, edits), objective)


@AT_SITES
@IN_FORCE
def test_contributions_and_the_bias_add_up_to_what_the_block_computed(model, site, edits):
    trace = record(model, edits)
    side = "encoder" if site.kind == "encoder" else "decoder"
    block = Block(side, site.layer, "cross" if site.kind == "cross" else "self")
    vectors = [
        contributions(weight_of(model, trace, site, head, 2, edits)) for head in range(HEADS)
    ]
    total = torch.stack(vectors).sum(dim=(0, 1)) + attention_at(model, site).output.bias
    assert_close(total, trace.residual[block].change[0, 2], atol=1e-5, rtol=0)


@AT_SITES
@IN_FORCE
def test_the_gradient_is_that_of_finite_differences(make_model, monkeypatch, site, edits):
    model = make_model(seed=1).double()
    trace = record(model, edits)
    head, query, size = 3, 2, 1e-5
    objective = choose_objective(trace, site, query)
    result = gradient_times_attention(weight_of(model, trace, site, head, query, edits), objective)
    weights = trace.attention[site].weights

    def nudged(key, step):
        """The objective if only one weight is larger, by `step`."""

        def forward(query_, key_, value, mask, edit):
            made = attend(query_, key_, value, mask, edit)
            if made.weights.shape == weights.shape and torch.equal(made.weights, weights):
                moved = made.weights.clone()
                moved[0, head, query, key] += step
                return replace(made, heads=edit.mix(moved, value))
            return made

        attend = attention.attend
        with monkeypatch.context() as patch:
            patch.setattr(attention, "attend", forward)
            return log_probability(reader_of(model), trace, objective, Run(edits)).item()

    differences = [
        (nudged(key, size) - nudged(key, -size)) / (2 * size) for key in range(weights.size(-1))
    ]
    slopes = torch.tensor(differences, dtype=torch.float64)
    assert slopes.abs().max() > 1e-3
    assert_close(result, slopes * weights[0, head, query], atol=1e-7, rtol=1e-5)


def test_the_gradient_needs_no_parameter_that_wants_one(make_model):
    trainable, frozen = make_model(seed=1), lay_out(make_model(seed=1)).requires_grad_(False)
    trace = record(trainable, {})
    objective = choose_objective(trace, SITES[0], 1)
    with torch.inference_mode():
        result = gradient_times_attention(weight_of(frozen, trace, SITES[0], 0, 1), objective)
    expected = gradient_times_attention(weight_of(trainable, trace, SITES[0], 0, 1), objective)
    assert expected.abs().max() > 1e-4
    assert_close(result, expected, atol=1e-6, rtol=0)
    assert all(parameter.grad is None for parameter in trainable.parameters())


def test_autograd_through_the_weights_agrees_with_the_gradient(model):
    trace, again = record(model, {}), Trace()
    site = Site("cross", 0)
    objective = choose_objective(trace, site, 3)
    result = log_probability(reader_of(model), trace, objective, Run(trace=again)).sum()
    (gradient,) = torch.autograd.grad(result, again.attention[site].weights)
    actual = gradient_times_attention(weight_of(model, trace, site, 1, 3), objective)
    assert_close(actual, (gradient * trace.attention[site].weights)[0, 1, 3], atol=1e-6, rtol=0)


@AT_SITES
@IN_FORCE
def test_a_removal_is_a_run_with_that_cell_closed(model, site, edits):
    trace = record(model, edits)
    head, query = 1, 2
    objective = choose_objective(trace, site, query)
    result = removals(weight_of(model, trace, site, head, query, edits), objective)
    whole = log_probability(reader_of(model), trace, objective, Run(edits))
    edit = edits.get(site, AttentionEdit())
    for key in range(len(result)):
        block = torch.zeros(HEADS, *trace.attention[site].weights.shape[-2:], dtype=torch.bool)
        if edit.block is not None:
            block |= edit.block[: block.size(-2), : block.size(-1)]
        block[head, query, key] = True
        alone = record(model, {**edits, site: replace(edit, block=block)})
        rows = list(objective.rows)
        change = trace_log_probabilities(alone)[rows].sum() - whole[0]
        assert_close(result[key], change, atol=2e-5, rtol=0)


def test_a_cell_that_is_closed_already_changes_nothing(model):
    trace = record(model, {})
    site = Site("decoder", 1)
    result = removals(weight_of(model, trace, site, 0, 1), choose_objective(trace, site, 1))
    assert result[:2].abs().min() > 0
    assert result[2:].tolist() == [0, 0]


def test_more_keys_than_run_at_once_give_the_same_removals(model, monkeypatch):
    trace = record(model, {})
    site = Site("encoder", 0)
    objective = choose_objective(trace, site, 0)
    together = removals(weight_of(model, trace, site, 0, 0), objective)
    monkeypatch.setattr("headlight.model.insight.ablation.ROWS_AT_ONCE", 4)
    assert_close(
        removals(weight_of(model, trace, site, 0, 0), objective), together, atol=1e-5, rtol=0
    )


@AT_SITES
@IN_FORCE
def test_every_row_of_the_rollout_sums_to_one(model, site, edits):
    trace = record(model, edits)
    mixed = rollout(trace, site)
    assert mixed.shape == trace.attention[site].weights.shape[-2:]
    assert_close(mixed.sum(dim=-1), torch.ones(len(mixed)))
    assert mixed.min() >= 0


@pytest.mark.parametrize("site", [Site("encoders", 0), Site("encoder", 9)])
def test_a_rollout_at_a_site_of_no_model_is_refused(model, site):
    with pytest.raises(
        ValueError, match=r"This trace has no Site.*; it has the sites cross 0 to 1"
    ):
        rollout(record(model, {}), site)


def test_the_rollout_multiplies_the_layers_from_the_first(model):
    trace = record(model, {})
    mean = {site: trace.attention[site].weights[0].mean(dim=0) for site in SITES}
    first, second = (
        0.5 * mean[Site("encoder", layer)] + 0.5 * torch.eye(len(SOURCE)) for layer in (0, 1)
    )
    assert_close(rollout(trace, Site("encoder", 0)), first)
    assert_close(rollout(trace, Site("encoder", 1)), second @ first)
    assert_close(rollout(trace, Site("cross", 1)), mean[Site("cross", 1)] @ second @ first)
    assert rollout(trace, Site("decoder", 1)).triu(diagonal=1).abs().max() == 0


def test_a_query_that_sees_nothing_keeps_its_own_token(model):
    block = torch.zeros(6, 6, dtype=torch.bool)
    block[2] = True
    edits = {Site(kind, 0): AttentionEdit(block=block) for kind in ("encoder", "cross")}
    trace = record(model, edits)
    assert rollout(trace, Site("encoder", 0))[2].tolist() == [0, 0, 1, 0, 0, 0]
    assert rollout(trace, Site("cross", 0))[2].tolist() == [0] * 6


def test_queries_that_see_nothing_leave_every_number_finite(model):
    block = torch.zeros(6, 6, dtype=torch.bool)
    block[2] = True
    edits = {Site(kind, 1): AttentionEdit(block=block) for kind in ("encoder", "decoder", "cross")}
    trace = record(model, edits)
    for site in SITES:
        blind, other = (explained(model, trace, site, 0, query, edits) for query in (2, 3))
        for name in NOTES:
            assert getattr(blind, name).isfinite().all()
            assert getattr(other, name).isfinite().all()
        if site in edits:
            for name in ("weights", "value_norms", "gradient_times_attention", "removals"):
                assert not getattr(blind, name).any()
        assert other.gradient_times_attention.abs().max() > 0


def test_the_objective_is_the_token_after_the_query_or_the_whole_target(model):
    trace = record(model, {})
    one = choose_objective(trace, Site("cross", 0), 1)
    assert (one.rows, one.ids) == ((1,), (15,))
    last = choose_objective(trace, Site("decoder", 0), 3)
    assert last.ids == (END_ID,)
    whole = choose_objective(trace, Site("encoder", 0), 5)
    assert whole.rows == (0, 1, 2, 3)
    assert whole.ids == (14, 15, 16, END_ID)
    scores = trace_log_probabilities(trace)
    for objective in (one, last, whole):
        result = log_probability(reader_of(model), trace, objective, Run())
        assert_close(result, scores[list(objective.rows)].sum()[None], atol=1e-5, rtol=0)


def test_a_query_of_padding_is_explained_by_the_whole_target(model):
    trace = record(model, {}, target=[*TARGET, *tokens(PAD_ID, PAD_ID)])
    site = Site("cross", 0)
    explanation = explained(model, trace, site, 0, 5)
    assert explanation.objective.rows == (0, 1, 2, 3)
    assert explanation.removals.abs().max() < 1e-5
    assert explanation.gradient_times_attention.abs().max() == 0


@AT_SITES
@IN_FORCE
def test_an_explanation_has_a_number_and_a_note_for_every_key(model, site, edits):
    trace = record(model, edits)
    explanation = explained(model, trace, site, 1, 2, edits)
    assert set(NOTES) == set(Explanation.__dataclass_fields__) - {"objective"}
    for name in NOTES:
        assert getattr(explanation, name).shape == (len(trace.key_tokens(site)),)
    assert torch.equal(explanation.weights, trace.attention[site].weights[0, 1, 2])


def test_a_head_that_is_off_adds_nothing(model):
    site = Site("encoder", 0)
    explanation = explained(model, record(model, EDITS), site, 2, 1, EDITS)
    assert explanation.value_norms.max() == 0
    assert explanation.gradient_times_attention.abs().max() == 0
    assert explanation.removals.abs().max() < 1e-5


def test_a_model_laid_out_for_decoding_is_explained_alike(make_model):
    plain, laid_out = make_model(seed=1), lay_out(make_model(seed=1))
    for site in SITES:
        expected = explained(plain, record(plain, {}), site, 0, 1)
        result = explained(laid_out, record(laid_out, {}), site, 0, 1)
        for name in NOTES:
            assert_close(getattr(result, name), getattr(expected, name), atol=2e-5, rtol=0)


FIRST, SECOND = "the cat was playing.", "it sat!"
BERT_EDITS = {Site("encoder", 0): AttentionEdit(gate=torch.tensor([1.0, 0.5, 0.0, 1.0]))}


def likelihood_of_masked(reader, reading, text):
    """The objective, by way of the predictions that the page shows."""
    rows = [row for row, token in enumerate(reading.source_tokens) if token.role == "mask"]
    result = reading.logits[0].softmax(dim=-1)
    return sum(result[at, text[row].id].log().item() for at, row in enumerate(rows))


def test_the_objective_of_a_bert_is_what_it_predicts_for_the_masked_words(bert):
    reading, text = bert.trace(FIRST, second=SECOND, masked=[2, 4]), bert.read(FIRST, SECOND)
    objective = bert.objective(reading)
    assert (objective.rows, objective.texts) == ((0, 1), ("cat", "play"))
    with torch.inference_mode():
        result = log_probability(bert, reading, objective, Run())
    assert result.item() == pytest.approx(likelihood_of_masked(bert, reading, text), abs=1e-4)
    assert bert.objective(bert.trace(FIRST, second=SECOND)) is None


@pytest.mark.parametrize("edits", [{}, BERT_EDITS], ids=["as trained", "with heads switched"])
@pytest.mark.parametrize("layer", [0, 2])
def test_the_five_views_of_a_bert(bert, layer, edits):
    site, head, query = Site("encoder", layer), 1, 3
    text = bert.read(FIRST, SECOND)
    reading = bert.trace(FIRST, second=SECOND, masked=[2], edits=edits)
    objective = bert.objective(reading)
    weight = weight_of(bert, reading, site, head, query, edits)
    actual = explain(weight, objective)
    whole = likelihood_of_masked(bert, reading, text)
    closed = torch.zeros(4, len(text), len(text), dtype=torch.bool)
    for key in (0, 5):
        block = closed.clone()
        block[head, query, key] = True
        edit = replace(edits.get(site, AttentionEdit()), block=block)
        again = bert.trace(FIRST, second=SECOND, masked=[2], edits={**edits, site: edit})
        change = likelihood_of_masked(bert, again, text) - whole
        assert actual.removals[key].item() == pytest.approx(change, abs=1e-4)
    vectors = contributions(weight)
    assert_close(actual.value_norms, vectors.norm(dim=-1))
    # One more gate on the head scales all its weights at once, so the parts sum to its gradient.
    gates = torch.ones(1, 4).requires_grad_()
    with torch.enable_grad():
        gate = edits[site].gate if site in edits else torch.ones(4)
        run = Run({**edits, site: AttentionEdit(gate=gates * gate)})
        result = log_probability(bert, reading, objective, run).sum()
        (gradient,) = torch.autograd.grad(result, gates)
    parts = [
        explain(replace(weight, query=row), objective, close=False) for row in range(len(text))
    ]
    total = sum(part.gradient_times_attention.sum() for part in parts)
    assert total.item() == pytest.approx(gradient[0, head].item(), abs=1e-4)
    assert parts[0].removals is None
    assert_close(actual.rollout.sum(), torch.tensor(1.0), atol=1e-5, rtol=0)
    without = explain(weight, None)
    assert without.gradient_times_attention is without.removals is None
