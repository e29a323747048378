import torch
from torch.nn import functional as F
from torch.testing import assert_close

from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.layers import Residual
from headlight.model.transformer.trace import Block, Run

BLOCK = Block("encoder", 0, "self")


def config(norm="pre", activation="relu", dropout=0.0):
    shape = {"d_model": 12, "heads": 3, "d_ff": 20}
    return TransformerConfig(10, 10, **shape, norm=norm, activation=activation, dropout=dropout)


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
