import math

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from headlight.model.edits.attention import AttentionEdit
from headlight.model.edits.positions import PositionEdit
from headlight.model.insight.anatomy import read_at, take_apart
from headlight.model.insight.lens import stream_norms
from headlight.model.memory_layout import lay_out
from headlight.model.stream import attention_at
from headlight.model.transformer.trace import Block, Site
from headlight.pages.parts.inside.variants import (
    activations,
    layer_and_batch_norm,
    norm_orders,
    pre_activations,
    rescaled,
    scale_sweep,
    separate_heads,
    width_sweep,
)
from tests.model.insight.recording import SITES, record, weight_of


def test_a_larger_factor_makes_a_sharper_row(model, trace):
    part = take_apart(weight_of(model, trace, Site("encoder", 1), 2, 1))
    sweep = scale_sweep(part, [0, 0.1, 0.5, 1, 3, 1000])
    assert (sweep.entropy.diff() < 0).all()
    assert (sweep.largest.diff() > 0).all()
    assert_close(sweep.entropy[0].item(), math.log(6))
    assert_close(sweep.largest[0].item(), 1 / 6)
    assert_close(sweep.largest[-1].item(), 1.0)
    assert sweep.entropy[-1] < 1e-3


def test_the_models_own_factor_gives_the_recorded_row(model, trace):
    for site in (Site("encoder", 0), Site("cross", 1)):
        sweep = scale_sweep(take_apart(weight_of(model, trace, site, 3, 2)), [4**-0.5])
        weights = trace.attention[site].weights[0, 3, 2]
        assert_close(sweep.largest[0], weights.max())
        assert_close(sweep.entropy[0], -(weights * weights.log()).sum())


def test_the_row_at_another_scale_is_the_models_own_softmax(model):
    site = Site("decoder", 1)
    sharper = {site: AttentionEdit(scale=1.7)}
    trace, edited = record(model), record(model, sharper)
    part = take_apart(weight_of(model, trace, site, 3, 2))
    assert_close(rescaled(part, part.scale), part.weights)
    # The edit leaves what its own layer reads as it is.
    assert_close(rescaled(part, 1.7), edited.attention[site].weights[0, 3, 2])
    again = take_apart(weight_of(model, edited, site, 3, 2, sharper))
    assert_close(rescaled(again, part.scale), part.weights)


def test_a_row_that_is_blocked_completely_stays_zero_at_every_scale(model):
    site = Site("encoder", 0)
    closed = {site: AttentionEdit(block=torch.ones(9, 9, dtype=torch.bool))}
    part = take_apart(weight_of(model, record(model, closed), site, 0, 1, closed))
    assert not rescaled(part, 3.0).any()
    assert not part.exponentials.any()


def test_scaled_rows_are_as_sharp_at_every_width_and_others_saturate():
    sweep = width_sweep([2, 8, 32, 128, 512], keys=10, draws=1000)
    scaled, plain = sweep["scaled"], sweep["not scaled"]
    # Scores of variance 1, as those of the limit, drawn on their own.
    normal = torch.randn(4000, 10, generator=torch.Generator().manual_seed(1)).softmax(dim=-1)
    entropy = -(normal * normal.log()).sum(dim=-1).mean()
    assert_close(scaled.entropy[1:], entropy.expand(4), atol=0.08, rtol=0)
    assert_close(scaled.largest[1:], normal.amax(dim=-1).mean().expand(4), atol=0.03, rtol=0)
    assert (plain.entropy.diff() < 0).all()
    assert (plain.largest.diff() > 0).all()
    assert plain.largest[-1] > 0.9
    assert (plain.entropy < scaled.entropy).all()


def test_a_width_of_one_needs_no_scale_and_a_seed_decides_the_draws():
    one = width_sweep([1], keys=5)
    assert_close(one["scaled"].entropy, one["not scaled"].entropy)
    assert torch.equal(
        width_sweep([4], 5, seed=3)["scaled"].entropy, width_sweep([4], 5, seed=3)["scaled"].entropy
    )
    assert width_sweep([4], 5, seed=3)["scaled"].entropy != width_sweep([4], 5)["scaled"].entropy


@pytest.mark.parametrize("side", ["encoder", "decoder"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_the_models_own_activation_gives_the_recorded_change(make_model, side, activation):
    model = make_model(seed=1, activation=activation)
    trace = record(model)
    both = activations(pre_activations(model, trace, side, 1))
    stack = model.encoder if side == "encoder" else model.decoder
    change = stack.layers[1].feed_forward.output(getattr(both, activation).clone())
    recorded = trace.residual[Block(side, 1, "feed_forward")].change[0]
    assert_close(change.detach(), recorded, atol=1e-5, rtol=0)


def test_relu_is_zero_below_zero_and_gelu_is_not():
    inner = torch.tensor([[-2.0, -0.5, 0.0, 1.0], [3.0, -1.0, -40.0, 0.5]])
    both = activations(inner)
    assert (both.relu_zeros, both.gelu_zeros) == (5 / 8, 2 / 8)
    normal = torch.distributions.Normal(0, 1)
    assert_close(both.gelu, inner * normal.cdf(inner), atol=1e-6, rtol=0)
    assert both.gelu[0, 1] < 0


def test_layer_norm_keeps_to_a_token_and_batch_norm_does_not(trace):
    states = trace.residual[Block("encoder", 1, "self")].states
    layer, batch = layer_and_batch_norm(states)
    assert_close(layer.states, F.layer_norm(states[0], (16,)))
    assert_close(batch.states, F.batch_norm(states[0], None, None, training=True))
    assert layer.changes.shape == batch.changes.shape == (5,)
    assert layer.changes.max() < 1e-6
    assert batch.changes.min() > 0.01
    shorter = F.batch_norm(states[0, :-1], None, None, training=True)
    assert_close(batch.changes, (batch.states[:-1] - shorter).abs().max(dim=1).values)


def test_a_single_token_has_no_others_to_change():
    layer, batch = layer_and_batch_norm(torch.randn(1, 1, 16))
    assert layer.changes.shape == batch.changes.shape == (0,)
    assert batch.states.abs().max() == 0


EDITS = {
    Site("cross", 0): AttentionEdit(gate=torch.tensor([0.0, 1.0, 0.5, 1.0])),
    "encoder": PositionEdit(off=True),
}


@pytest.mark.parametrize("edits", [{}, EDITS], ids=["as trained", "with edits"])
@pytest.mark.parametrize(("trained", "other"), [("pre", "post"), ("post", "pre")])
def test_the_other_order_is_a_model_of_that_order_with_the_same_weights(
    make_model, trained, other, edits
):
    model = make_model(seed=1, norm=trained)
    twin = make_model(seed=9, norm=other)
    twin.load_state_dict(model.state_dict(), strict=False)
    if other == "pre":
        for stack in (twin.encoder, twin.decoder):
            torch.nn.init.ones_(stack.norm.weight)
            torch.nn.init.zeros_(stack.norm.bias)
    trace = record(model, edits)
    result = norm_orders(model, trace, edits)
    assert list(result) == [trained, other]
    for side in ("encoder", "decoder"):
        expected = {
            trained: stream_norms(trace, side),
            other: stream_norms(record(twin, edits), side),
        }
        for order, rows in expected.items():
            assert [label for label, _ in result[order][side]] == [label for label, _ in rows]
            for (_, here), (_, there) in zip(result[order][side], rows, strict=True):
                assert_close(here, there, atol=1e-5, rtol=1e-5)


def test_trying_the_other_order_leaves_the_model_as_it_was(model, trace):
    before = {name: id(parameter) for name, parameter in model.named_parameters()}
    norm_orders(model, trace)
    assert {name: id(parameter) for name, parameter in model.named_parameters()} == before
    assert torch.equal(record(model).logits, trace.logits)


def test_a_model_laid_out_for_decoding_has_the_same_orders(make_model, model, trace):
    laid_out = lay_out(make_model(seed=1))
    expected, match = norm_orders(model, trace), norm_orders(laid_out, record(laid_out))
    for (_, here), (_, there) in zip(
        match["post"]["decoder"], expected["post"]["decoder"], strict=True
    ):
        assert_close(here, there, atol=1e-5, rtol=0)


@torch.inference_mode()
def test_the_norm_orders_of_a_bert_share_its_weights(bert):
    reading = bert.trace("the cat sat.")
    orders = norm_orders(bert.model, reading)
    assert list(orders) == ["post", "pre"]
    assert [list(sides) for sides in orders.values()] == [["encoder"], ["encoder"]]
    trained, other = (sides["encoder"] for sides in orders.values())
    for (name, found), (same, expected) in zip(
        trained, stream_norms(reading, "encoder"), strict=True
    ):
        assert name == same
        assert_close(found, expected)
    # Both read the same first vector, and part from there.
    assert_close(other[0][1], trained[0][1])
    assert (other[1][1] - trained[1][1]).abs().max() > 1e-3
    assert not bert.model.layers[0].attention_residual.norm_first


@pytest.mark.parametrize("site", SITES, ids=str)
@pytest.mark.parametrize("change", [lambda model: model, lay_out], ids=["plain", "laid out"])
def test_heads_apart_compute_what_one_projection_does(make_model, site, change):
    model = change(make_model(seed=1))
    trace = record(model)
    separate, fused, difference = separate_heads(attention_at(model, site), *read_at(trace, site))
    assert difference < 1e-5
    made = trace.attention[site]
    for name in ("query", "key", "value"):
        recorded = getattr(made, name)[0]
        assert_close(getattr(fused, name), recorded, atol=1e-6, rtol=0)
        assert_close(getattr(separate, name), recorded, atol=1e-5, rtol=0)
    layer = attention_at(model, site).query
    alone = read_at(trace, site)[0][0] @ layer.weight[4:8].detach().T + layer.bias[4:8].detach()
    assert_close(separate.query[1], alone, atol=1e-5, rtol=0)
