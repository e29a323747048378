import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from headlight.model.training.step import loss_of_probability, smoothed_target

PROBABILITIES = torch.tensor([0.01, 0.2, 0.5, 0.9, 0.95, 0.999], dtype=torch.float64)


@pytest.mark.parametrize("classes", [2, 14, 8_000])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_the_loss_is_that_of_torch(classes, smoothing):
    rest = (1 - PROBABILITIES) / (classes - 1)
    logits = rest.log()[:, None].repeat(1, classes)
    logits[:, 1] = PROBABILITIES.log()
    expected = F.cross_entropy(
        logits,
        torch.ones(len(PROBABILITIES), dtype=torch.long),
        label_smoothing=smoothing,
        reduction="none",
    )
    assert_close(loss_of_probability(PROBABILITIES, classes, smoothing), expected)


@pytest.mark.parametrize("classes", [2, 14, 8_000])
@pytest.mark.parametrize("smoothing", [0.05, 0.1, 0.5])
def test_the_loss_is_least_where_the_asked_for_probability_is_given(classes, smoothing):
    right, other = smoothed_target(classes, smoothing)
    assert right + (classes - 1) * other == pytest.approx(1)
    probability = torch.tensor(right, dtype=torch.float64, requires_grad=True)
    loss = loss_of_probability(probability, classes, smoothing)
    (slope,) = torch.autograd.grad(loss, probability)
    assert slope.item() == pytest.approx(0, abs=1e-9)
    grid = torch.linspace(0.001, 0.999, 999, dtype=torch.float64)
    assert loss_of_probability(grid, classes, smoothing).min() >= loss - 1e-12
