import pytest
import torch
from torch import nn

from headlight.model.training.loop import Muon, orthogonal


@pytest.mark.parametrize("precision", [torch.bfloat16, torch.float32])
def test_singular_values_come_close_to_one(precision):
    torch.manual_seed(0)
    for shape in ((32, 32), (16, 48), (48, 16)):
        matrix = torch.randn(shape)
        values = torch.linalg.svdvals(orthogonal(matrix, precision))
        assert values.min() > 0.5
        assert values.max() < 1.4


def test_matrices_of_layers_turn_and_everything_else_takes_adam(make_model):
    model = make_model()
    optimizer = Muon(model)
    turned, rest = (group["params"] for group in optimizer.param_groups)
    assert {id(parameter) for parameter in [*turned, *rest]} == set(map(id, model.parameters()))
    assert all(parameter.ndim == 2 for parameter in turned)
    assert any(parameter is model.output.weight for parameter in rest)
    for group in optimizer.param_groups:
        group["lr"] = 0.01
    before = [parameter.clone() for parameter in model.parameters()]
    ids = torch.arange(4, 10)[None]
    model(ids, ids).logsumexp(-1).sum().backward()
    optimizer.step()
    for parameter, old in zip(model.parameters(), before, strict=True):
        state = optimizer.state[parameter]
        assert set(state) in ({"momentum"}, {"step", "exp_avg", "exp_avg_sq"})
        assert not torch.equal(parameter, old)


def test_an_update_is_as_long_as_one_of_adam():
    torch.manual_seed(0)
    layer = nn.Linear(64, 64)
    optimizer = Muon(layer)
    optimizer.param_groups[0]["lr"] = 0.01
    before = layer.weight.detach().clone()
    layer(torch.randn(512, 64)).square().sum().backward()
    optimizer.step()
    size = (layer.weight - before).square().mean().sqrt().item()
    assert 0.001 < size < 0.003
