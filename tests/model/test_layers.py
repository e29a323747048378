import itertools

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from model.config import TransformerConfig
from model.layers import DecoderLayer, EncoderLayer, FeedForward, Residual
from model.masks import look_ahead_mask, padding_mask
from model.trace import Block, Run

VARIANTS = list(itertools.product(["pre", "post"], ["relu", "gelu"]))
SOURCE_IDS = torch.tensor([[4, 5, 6, 7, 8, 9, 4], [4, 5, 6, 7, 0, 0, 0]])
TARGET_IDS = torch.tensor([[4, 5, 6, 7, 8], [4, 5, 6, 0, 0]])
BLOCK = Block("encoder", 0, "self")


def config(norm="pre", activation="relu", dropout=0.0):
    shape = {"d_model": 12, "heads": 3, "d_ff": 20}
    return TransformerConfig(10, 10, **shape, norm=norm, activation=activation, dropout=dropout)


def randomised(module):
    torch.manual_seed(3)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    return module.eval()


@pytest.mark.parametrize(("norm", "activation"), VARIANTS)
def test_an_encoder_layer_equals_torchs(norm, activation, torch_twin):
    ours = randomised(EncoderLayer(config(norm, activation), 0))
    states = torch.randn(2, 7, 12)
    output = ours(states, padding_mask(SOURCE_IDS, 0), Run())
    padded = SOURCE_IDS == 0
    expected = torch_twin(ours)(states, src_key_padding_mask=padded)
    assert_close(output[~padded], expected[~padded], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("norm", "activation"), VARIANTS)
def test_a_decoder_layer_equals_torchs(norm, activation, torch_twin):
    ours = randomised(DecoderLayer(config(norm, activation), 0))
    states, memory = torch.randn(2, 5, 12), torch.randn(2, 7, 12)
    mask = look_ahead_mask(5) & padding_mask(TARGET_IDS, 0)
    output = ours(states, memory, mask, padding_mask(SOURCE_IDS, 0), Run())
    padded = TARGET_IDS == 0
    expected = torch_twin(ours)(
        states,
        memory,
        tgt_mask=~look_ahead_mask(5)[0, 0],
        tgt_key_padding_mask=padded,
        memory_key_padding_mask=SOURCE_IDS == 0,
    )
    assert_close(output[~padded], expected[~padded], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("activation", "function"), [("relu", F.relu), ("gelu", F.gelu)])
def test_feed_forward_is_two_linear_layers_around_the_activation(activation, function):
    module = randomised(FeedForward(config(activation=activation)))
    states = torch.randn(2, 3, 12)
    inner = function(states @ module.inner.weight.T + module.inner.bias)
    expected = inner @ module.output.weight.T + module.output.bias
    assert_close(module(states), expected)


def test_pre_norm_adds_to_the_input_and_post_norm_normalises_the_sum():
    states = torch.randn(2, 3, 12)
    pre, post = (Residual(config(norm), BLOCK) for norm in ("pre", "post"))
    assert_close(pre(states, torch.sin, Run()), states + F.layer_norm(states, (12,)).sin())
    assert_close(post(states, torch.sin, Run()), F.layer_norm(states + states.sin(), (12,)))


def test_dropout_falls_on_the_sublayer_and_not_on_the_input():
    residual = Residual(config("pre", dropout=0.5), BLOCK).train()
    torch.manual_seed(0)
    states = torch.randn(4, 50, 12)
    added = residual(states, lambda normed: torch.ones_like(normed), Run()) - states
    dropped, doubled = added.abs() < 1e-5, (added - 2).abs() < 1e-5
    assert (dropped | doubled).all()
    assert 0.4 < dropped.float().mean() < 0.6
