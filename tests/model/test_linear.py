import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from headlight.model.linear import HALVES, packed

SHAPES = [(5,), (15, 5), (16, 5), (1, 40, 5), (3, 7, 5), (2, 3, 9, 5)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("bias", [True, False])
def test_a_packed_layer_changes_no_number_and_is_saved_as_the_plain_one(shape, bias):
    plain, states = nn.Linear(5, 7, bias=bias).half().float(), torch.randn(shape)
    layer = packed(plain)
    assert (layer is not plain) == HALVES
    with torch.inference_mode():
        assert_close(layer(states), F.linear(states, plain.weight, plain.bias))
    assert layer.state_dict().keys() == plain.state_dict().keys()


def test_gradients_flow_through_a_packed_layer():
    layer = packed(nn.Linear(5, 7).half().float())
    layer(torch.randn(40, 5)).sum().backward()
    assert_close(layer.bias.grad, torch.full((7,), 40.0))


@pytest.mark.parametrize("number", [1 + 2**-12, 1e5])  # too precise, or too large
def test_a_weight_that_would_lose_something_is_not_packed(number):
    layer = nn.Linear(5, 7).half().float()
    layer.weight.data[6, 4] = number
    assert packed(layer) is layer


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_weights_of_other_types_are_not_packed(dtype):
    layer = nn.Linear(5, 7).to(dtype)
    assert packed(layer) is layer
