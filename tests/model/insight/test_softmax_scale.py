import math

import torch
from torch.testing import assert_close

from model.insight.anatomy import take_apart
from model.insight.softmax_scale import rescaled, scale_sweep, width_sweep
from model.trace import AttentionEdit, Site
from tests.model.insight.recording import record, weight_of


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
