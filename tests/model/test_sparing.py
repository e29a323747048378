import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from headlight.model.sparing import ROWS, Dropout, dropout, is_sparing, smoothed_loss, spare

PROCESSOR = torch.device("cpu")


def test_only_a_training_step_in_bfloat16_is_computed_sparingly():
    assert not is_sparing(PROCESSOR)
    with torch.autocast("cpu", torch.bfloat16):
        assert is_sparing(PROCESSOR)
        with torch.inference_mode():
            assert not is_sparing(PROCESSOR)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_and_its_gradients_are_those_of_torch(smoothing):
    torch.manual_seed(0)
    states = torch.randn(2 * ROWS + 7, 32).bfloat16().float().requires_grad_()
    weight = (0.3 * torch.randn(90, 32)).bfloat16().float().requires_grad_()
    expected = torch.randint(0, 90, (len(states),))
    loss = F.cross_entropy(states @ weight.T, expected, label_smoothing=smoothing)
    gradients = torch.autograd.grad(3 * loss, (states, weight))
    ours = smoothed_loss(states, weight, expected, smoothing)
    our_gradients = torch.autograd.grad(3 * ours, (states, weight))
    assert_close(ours, loss, rtol=2e-3, atol=0)
    for our, gradient in zip(our_gradients, gradients, strict=True):
        assert (our - gradient).norm() < 0.01 * gradient.norm()


@pytest.mark.parametrize("probability", [0.0, 0.1, 0.5])
def test_dropout_drops_that_part_and_keeps_the_mean(probability):
    torch.manual_seed(0)
    dropped = dropout(torch.ones(401, 333), probability)
    assert abs((dropped == 0).float().mean().item() - probability) < 0.005
    assert abs(dropped.mean().item() - 1) < 0.01


def test_dropout_draws_from_the_generator_of_torch():
    torch.manual_seed(5)
    first = dropout(torch.ones(99), 0.3)
    second = dropout(torch.ones(99), 0.3)
    torch.manual_seed(5)
    assert torch.equal(dropout(torch.ones(99), 0.3), first)
    assert not torch.equal(first, second)


def test_a_model_drops_sparingly_only_in_a_training_step_in_bfloat16(make_model):
    model = make_model(dropout=0.5).train()
    states = torch.ones(99, 16)
    spare(model)
    layer = model.encoder.embedding.dropout
    assert type(layer) is Dropout
    torch.manual_seed(0)
    plain = layer(states)
    torch.manual_seed(0)
    assert torch.equal(plain, F.dropout(states, 0.5))
    with torch.autocast("cpu", torch.bfloat16):
        torch.manual_seed(0)
        sparing = layer(states)
        torch.manual_seed(0)
        assert torch.equal(sparing, dropout(states, 0.5))
    assert torch.equal(model.eval().encoder.embedding.dropout(states), states)
