import torch
from torch.nn import functional as F
from torch.testing import assert_close

from model.insight.norm_kinds import layer_and_batch_norm
from model.trace import Block


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
