import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from headlight.model.linear import HALVES, Linear

SHAPES = [(5,), (15, 5), (16, 5), (1, 40, 5), (3, 7, 5), (2, 3, 9, 5)]


@pytest.fixture
def linear():
    torch.manual_seed(0)
    return Linear(5, 7)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("context", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_it_is_the_sum_that_torch_computes(shape, context, linear):
    states = torch.randn(shape)
    with context():
        assert_close(linear(states), F.linear(states, linear.weight, linear.bias))


def test_without_bias_and_with_strided_input():
    linear, states = Linear(5, 7, bias=False), torch.randn(40, 10, 5).transpose(0, 1)
    with torch.no_grad():
        assert_close(linear(states), F.linear(states, linear.weight))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_types_are_kept(dtype, linear):
    with torch.no_grad():
        assert linear.to(dtype)(torch.randn(40, 5, dtype=dtype)).dtype == dtype


def test_gradients_flow(linear):
    linear(torch.randn(40, 5)).sum().backward()
    assert_close(linear.bias.grad, torch.full((7,), 40.0))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("bias", [True, False])
def test_a_packed_weight_changes_no_number_and_is_not_saved(shape, bias):
    layer, states = Linear(5, 7, bias=bias).half().float(), torch.randn(shape)
    before = set(layer.state_dict())
    layer.pack()
    assert (layer.packed is not None) == HALVES
    with torch.inference_mode():
        assert_close(layer(states), F.linear(states, layer.weight, layer.bias))
    assert set(layer.state_dict()) == before


def test_a_weight_that_would_lose_something_is_not_packed():
    layer = Linear(5, 7).half().float()
    layer.weight.data[6, 4] = 1 + 2**-12
    layer.pack()
    assert layer.packed is None
    layer.weight.data[6, 4] = 1e5  # too large for half precision
    layer.pack()
    assert layer.packed is None


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_weights_of_other_types_are_not_packed(dtype):
    layer = Linear(5, 7).to(dtype)
    layer.pack()
    assert layer.packed is None
