import math

import pytest
import torch
from torch.testing import assert_close

from headlight.model.transformer.positions import frequencies, sinusoids
from headlight.pages.parts.positions.rotation import by_offset, rotation, rotation_error


@pytest.mark.parametrize("offset", [0, 1, 5, 40])
def test_one_linear_map_takes_every_position_to_the_one_so_much_later(offset):
    table = sinusoids(100, 32)
    turned = table[: 100 - offset] @ rotation(offset, 32).T
    assert_close(turned, table[offset:], atol=2e-6, rtol=0)
    assert rotation_error(table, offset) == (turned - table[offset:]).abs().max().item()


def test_the_map_is_a_rotation_in_each_pair_and_nothing_else():
    matrix = rotation(7, 8, base=100.0).double()
    assert_close(matrix @ matrix.T, torch.eye(8, dtype=torch.float64), atol=1e-6, rtol=0)
    for i, turn in enumerate(frequencies(8, base=100.0)):
        block = matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2]
        assert torch.linalg.det(block).item() == pytest.approx(1, abs=1e-6)
        assert block.trace().item() == pytest.approx(2 * math.cos(7 * turn.item()), abs=1e-6)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = 0
    assert not matrix.any()


def test_no_rotation_fits_a_table_that_is_not_sinusoidal():
    assert rotation_error(torch.randn(50, 16, generator=torch.Generator().manual_seed(0)), 3) > 1
    assert rotation_error(sinusoids(50, 16, base=100.0), 3) > 0.1


def test_dot_products_of_sinusoids_depend_on_the_offset_alone():
    table = sinusoids(60, 32)
    lowest, mean, highest = by_offset(table @ table.T)
    assert_close(lowest, highest, atol=2e-5, rtol=0)
    expected = torch.outer(torch.arange(60.0).double(), frequencies(32)).cos().sum(dim=1)
    assert_close(mean.double(), expected, atol=2e-5, rtol=0)
    assert mean[0].item() == pytest.approx(16, abs=1e-5)
    assert (mean[1:] < mean[0]).all()


def test_similarities_by_offset_are_those_of_the_diagonals():
    similarities = torch.tensor([[1.0, 2.0, 9.0], [2.0, 3.0, 4.0], [9.0, 4.0, 5.0]])
    lowest, mean, highest = by_offset(similarities)
    assert lowest.tolist() == [1, 2, 9]
    assert mean.tolist() == [3, 3, 9]
    assert highest.tolist() == [5, 4, 9]
