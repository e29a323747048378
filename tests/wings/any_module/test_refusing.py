"""Edits of what an opened model does not have are refused as by every reader."""

import pytest
import torch

from headlight.model.edits.attention import AttentionEdit
from headlight.model.transformer.trace import Site
from headlight.wings.any_module.opening import open_model


def test_every_reader_refuses_alike():
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(8, 2, 8, batch_first=True)
    reader = open_model(torch.nn.Sequential(torch.nn.Embedding(9, 8), layer).eval())
    assert reader.trace("1 2 3", edits={Site("encoder", 0): AttentionEdit(gate=torch.zeros(2))})
    with pytest.raises(ValueError, match=r"no AttentionEdit at.*Site \(encoder 0 to 0\)"):
        reader.trace("1 2 3", edits={Site("decoder", 0): AttentionEdit(gate=torch.zeros(2))})
