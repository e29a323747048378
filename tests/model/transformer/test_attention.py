import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from headlight.model.edits.attention import AttentionEdit
from headlight.model.trace import Trace
from headlight.model.transformer.attention import MultiHeadAttention, attend
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.masks import look_ahead_mask, padding_mask
from headlight.model.transformer.trace import Run, Site

SITE = Site("encoder", 0)
BATCH, HEADS, QUERIES, KEYS, WIDTH = 2, 4, 5, 6, 3


@pytest.fixture
def parts():
    torch.manual_seed(1)
    query = torch.randn(BATCH, HEADS, QUERIES, WIDTH)
    key = torch.randn(BATCH, HEADS, KEYS, WIDTH)
    return query, key, torch.randn(BATCH, HEADS, KEYS, WIDTH)


@pytest.fixture
def mask():
    """Each query sees its own key and earlier ones, and the second sentence has one key less."""
    visible = torch.ones(BATCH, 1, QUERIES, KEYS, dtype=torch.bool).tril()
    visible[1, ..., 3] = False
    return visible


@pytest.fixture
def block_of_heads():
    torch.manual_seed(2)
    attention = MultiHeadAttention(
        TransformerConfig(1, 1, d_model=HEADS * WIDTH, heads=HEADS), SITE
    )
    for linear in (attention.query, attention.key, attention.value, attention.output):
        nn.init.normal_(linear.bias)
    return attention


def manual_weights(query, key, visible):
    scores = query @ key.mT / math.sqrt(query.size(-1))
    exponentials = scores.exp() * visible
    return exponentials / exponentials.sum(-1, keepdim=True)


def test_self_attention_equals_torchs_under_padding_and_look_ahead(block_of_heads, torch_twin):
    states = torch.randn(2, 6, HEADS * WIDTH)
    ids = torch.tensor([[5, 6, 7, 8, 9, 4], [5, 6, 7, 8, 0, 0]])
    mask = padding_mask(ids, 0) & look_ahead_mask(6)
    trace = Trace()
    output = block_of_heads(states, states, mask, Run(trace=trace))
    expected, weights = torch_twin(block_of_heads)(
        states,
        states,
        states,
        key_padding_mask=ids == 0,
        attn_mask=~look_ahead_mask(6)[0, 0],
        average_attn_weights=False,
    )
    assert_close(output, expected, atol=1e-5, rtol=0)
    assert_close(trace.attention[SITE].weights, weights, atol=1e-5, rtol=0)


def test_attention_to_a_memory_equals_torchs(block_of_heads, torch_twin):
    states, memory = torch.randn(2, 3, HEADS * WIDTH), torch.randn(2, 7, HEADS * WIDTH)
    ids = torch.tensor([[4, 4, 4, 4, 4, 4, 4], [4, 4, 0, 0, 0, 0, 0]])
    trace = Trace()
    run = Run(trace=trace)
    output = block_of_heads(states, memory, padding_mask(ids, 0), run)
    expected, weights = torch_twin(block_of_heads)(
        states, memory, memory, key_padding_mask=ids == 0, average_attn_weights=False
    )
    assert_close(output, expected, atol=1e-5, rtol=0)
    assert_close(trace.attention[SITE].weights, weights, atol=1e-5, rtol=0)


def test_heads_equal_torchs_scaled_dot_product(parts, mask):
    assert_close(attend(*parts).heads, F.scaled_dot_product_attention(*parts))
    expected = F.scaled_dot_product_attention(*parts, attn_mask=mask)
    assert_close(attend(*parts, mask).heads, expected)


def test_scores_are_dot_products_over_the_root_of_the_head_width(parts):
    query, key, _ = parts
    scores = attend(*parts).scores
    expected = sum(query[1, 2, 3, i] * key[1, 2, 4, i] for i in range(WIDTH)) / math.sqrt(WIDTH)
    assert_close(scores[1, 2, 3, 4], expected)


def test_every_row_of_weights_sums_to_one(parts, mask):
    for record in (attend(*parts), attend(*parts, mask)):
        sums = record.weights.sum(-1)
        assert_close(sums, torch.ones_like(sums))


def test_a_masked_key_gets_no_weight_at_all(parts, mask):
    weights = attend(*parts, mask).weights
    assert (weights[~mask.expand_as(weights)] == 0).all()
    assert (weights[mask.expand_as(weights)] > 0).all()


def test_the_stages_of_a_record_follow_from_each_other(parts, mask):
    record = attend(*parts, mask)
    visible = mask.expand_as(record.scores)
    assert torch.equal(record.scores[visible], record.masked_scores[visible])
    assert (record.masked_scores[~visible] == -torch.inf).all()
    assert record.scores.isfinite().all()
    assert torch.equal(record.masked_scores.softmax(-1), record.weights)
    assert torch.equal(record.weights @ record.value, record.heads)


def test_without_a_mask_masked_scores_are_the_scores(parts):
    record = attend(*parts)
    assert torch.equal(record.scores, record.masked_scores)


def test_a_query_that_sees_nothing_takes_exactly_nothing(parts, mask):
    mask[0, :, 2] = False
    record = attend(*parts, mask)
    assert torch.equal(record.weights[0, :, 2], torch.zeros(HEADS, KEYS))
    assert torch.equal(record.heads[0, :, 2], torch.zeros(HEADS, WIDTH))
    assert record.weights.isfinite().all()
    others = record.weights.sum(-1)[mask.any(-1).expand(-1, HEADS, -1)]
    assert_close(others, torch.ones_like(others))


def test_a_query_that_sees_nothing_leaves_every_gradient_finite(block_of_heads):
    states = torch.randn(2, 4, HEADS * WIDTH, requires_grad=True)
    mask = look_ahead_mask(4).repeat(2, 1, 1, 1)
    mask[0, :, 1] = False
    output = block_of_heads(states, states, mask, Run())
    output.square().sum().backward()
    assert output.isfinite().all()
    assert states.grad.isfinite().all()
    for parameter in block_of_heads.parameters():
        assert parameter.grad.isfinite().all()
        assert parameter.grad.abs().sum() > 0


def test_a_gate_of_zero_equals_zeroed_columns_of_the_output_projection(block_of_heads):
    states = torch.randn(2, 5, HEADS * WIDTH)
    gate = torch.tensor([1.0, 0.0, 1.0, 0.0])
    gated = block_of_heads(states, states, None, Run({SITE: AttentionEdit(gate=gate)}))
    plain = block_of_heads(states, states, None, Run())
    with torch.no_grad():
        for head in (1, 3):
            block_of_heads.output.weight[:, head * WIDTH : (head + 1) * WIDTH] = 0
    assert_close(gated, block_of_heads(states, states, None, Run()))
    assert not torch.allclose(gated, plain)


def test_a_gate_of_one_changes_no_bit(parts, mask):
    gated = attend(*parts, mask, AttentionEdit(gate=torch.ones(HEADS)))
    assert torch.equal(gated.heads, attend(*parts, mask).heads)


def test_a_gate_between_fades_its_head_only_and_leaves_the_weights(parts):
    gated = attend(*parts, edit=AttentionEdit(gate=torch.tensor([1.0, 1.0, 0.25, 1.0])))
    plain = attend(*parts)
    assert_close(gated.heads[:, 2], plain.heads[:, 2] / 4)
    assert torch.equal(gated.heads[:, [0, 1, 3]], plain.heads[:, [0, 1, 3]])
    assert torch.equal(gated.weights, plain.weights)


def test_a_gate_of_whole_numbers_is_taken_as_numbers(parts):
    gated = attend(*parts, edit=AttentionEdit(gate=torch.tensor([1, 0, 1, 1])))
    assert gated.heads.dtype == torch.float32
    assert (gated.heads[:, 1] == 0).all()


@pytest.mark.parametrize("masked", [False, True])
def test_a_blocked_cell_equals_a_score_of_minus_infinity(parts, mask, masked):
    block = torch.zeros(QUERIES, KEYS, dtype=torch.bool)
    block[3, 1] = True
    record = attend(*parts, mask if masked else None, AttentionEdit(block=block))
    visible = (mask if masked else torch.ones_like(mask)) & ~block
    assert_close(record.weights, manual_weights(*parts[:2], visible))
    assert (record.masked_scores[:, :, 3, 1] == -torch.inf).all()


def test_a_cell_blocked_in_one_head_stays_open_in_the_others(parts):
    block = torch.zeros(HEADS, QUERIES, KEYS, dtype=torch.bool)
    block[2, 3, 1] = True
    weights = attend(*parts, edit=AttentionEdit(block=block)).weights
    plain = attend(*parts).weights
    assert (weights[:, 2, 3, 1] == 0).all()
    assert torch.equal(weights[:, [0, 1, 3]], plain[:, [0, 1, 3]])
    assert torch.equal(weights[:, 2, :3], plain[:, 2, :3])


def test_opening_everything_equals_no_mask(parts, mask):
    everything = torch.ones(QUERIES, KEYS, dtype=torch.bool)
    opened = attend(*parts, mask, AttentionEdit(open=everything))
    assert torch.equal(opened.weights, attend(*parts).weights)


def test_opening_one_cell_equals_a_mask_with_that_cell_visible(parts, mask):
    cell = torch.zeros(HEADS, QUERIES, KEYS, dtype=torch.bool)
    cell[1, 0, 5] = True
    opened = attend(*parts, mask, AttentionEdit(open=cell))
    assert_close(opened.weights, manual_weights(*parts[:2], mask | cell))
    assert (opened.weights[:, 1, 0, 5] > 0).all()
    assert (opened.weights[:, 0, 0, 5] == 0).all()


def test_a_cell_both_opened_and_blocked_is_closed(parts, mask):
    cell = torch.zeros(QUERIES, KEYS, dtype=torch.bool)
    cell[0, 5] = True
    edited = attend(*parts, mask, AttentionEdit(open=cell, block=cell))
    assert torch.equal(edited.weights, attend(*parts, mask).weights)


def test_a_scale_edit_replaces_the_trained_scale(parts):
    query, key, _ = parts
    assert_close(attend(*parts, edit=AttentionEdit(scale=2.0)).scores, 2 * query @ key.mT)
    unchanged = attend(*parts, edit=AttentionEdit(scale=1 / math.sqrt(WIDTH)))
    assert torch.equal(unchanged.weights, attend(*parts).weights)


def test_a_scale_of_zero_looks_everywhere_alike(parts, mask):
    weights = attend(*parts, mask, AttentionEdit(scale=0.0)).weights
    expected = mask / mask.sum(-1, keepdim=True)
    assert_close(weights, expected.expand_as(weights))


def test_splitting_gives_each_head_its_own_slice_and_joining_undoes_it(block_of_heads):
    states = torch.randn(2, 5, HEADS * WIDTH)
    split = block_of_heads.split(states)
    assert split.shape == (2, HEADS, 5, WIDTH)
    assert torch.equal(split[1, 2, 3], states[1, 3, 2 * WIDTH : 3 * WIDTH])
    assert torch.equal(block_of_heads.join(split), states)


def test_an_edit_of_another_site_changes_nothing(block_of_heads):
    states = torch.randn(1, 5, HEADS * WIDTH)
    edits = {Site("encoder", 1): AttentionEdit(gate=torch.zeros(HEADS))}
    edited = block_of_heads(states, states, None, Run(edits))
    assert torch.equal(edited, block_of_heads(states, states, None, Run()))


def test_given_weights_replace_the_softmaxs(parts, mask):
    given = torch.rand(HEADS, QUERIES + 2, KEYS)
    record = attend(*parts, mask, AttentionEdit(weights=given).at(2))
    assert_close(record.weights, given[None, :, 2:].expand(BATCH, -1, -1, -1))
    assert_close(record.heads, given[:, 2:] @ parts[2])
    own = attend(*parts, mask)
    again = attend(*parts, mask, AttentionEdit(weights=own.weights))
    assert_close(again.heads, own.heads, atol=0, rtol=0)
    with pytest.raises(ValueError, match=f"for {QUERIES - 1} queries .* {QUERIES} and {KEYS}"):
        attend(*parts, mask, AttentionEdit(weights=given).at(3))


def test_an_edit_made_on_the_cpu_closes_cells_on_another_device():
    block = torch.zeros(5, 5, dtype=torch.bool)
    query, key = (torch.zeros(1, 2, count, 4, device="meta") for count in (1, 5))
    for mask in None, torch.ones(1, 1, 1, 5, dtype=torch.bool, device="meta"):
        record = attend(query, key, key, mask, AttentionEdit(block=block).at(4))
        assert record.weights.device.type == "meta"
