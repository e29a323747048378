"""Norms of the transformers library, held at their scales of one run."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from headlight.model.library.decoder_hooks import freeze_any, hold, holding


@pytest.mark.parametrize("norm", [nn.LayerNorm(8), nn.RMSNorm(8), nn.LayerNorm(8, bias=False)])
def test_a_frozen_norm_is_the_norm(norm):
    states = torch.randn(5, 8) * 3 + 1
    for parameter in norm.parameters():
        nn.init.normal_(parameter, mean=0.5)
    outputs = norm(states).detach()
    frozen = freeze_any(norm, states, outputs, factor=2.0)
    read = torch.randn(8)
    for row in range(5):
        found = states[row] @ frozen.directions(read, row) + frozen.bias @ read
        assert_close(found, 2 * outputs[row] @ read, atol=1e-5, rtol=1e-4)


def test_another_norm_cannot_be_frozen():
    with pytest.raises(ValueError, match="neither a layer norm nor an RMS norm"):
        freeze_any(nn.Tanh(), torch.randn(4, 8), torch.randn(4, 8))


def test_a_held_norm_is_linear_in_each_of_its_calls():
    norm = nn.RMSNorm(8)
    norm.register_forward_hook(hold)
    queries, keys = torch.randn(1, 5, 4, 8), torch.randn(1, 5, 2, 8)  # one norm for both
    expected = norm(queries), norm(keys)
    with holding() as held:
        first = norm(queries), norm(keys)
        held.place = 0
        again = norm(3 * queries), norm(0 * keys)
    assert_close(first, expected)
    assert_close(again, (3 * expected[0], 0 * expected[1]))
    assert_close(norm(3 * queries), expected[0], atol=1e-4, rtol=1e-4)
