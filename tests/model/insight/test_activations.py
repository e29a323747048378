import pytest
import torch
from torch.testing import assert_close

from model.insight.activations import activations, pre_activations
from model.trace import Block
from tests.model.insight.recording import record


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
