import math

import pytest
import torch
from torch.testing import assert_close

from model.config import TransformerConfig
from model.positions import Positions, sinusoids

POSITIONS = ("sinusoidal", "learned", "none")


def positions(kind, d_model=8, max_positions=10):
    shape = {"d_model": d_model, "heads": 2, "max_positions": max_positions}
    return Positions(TransformerConfig(5, 5, **shape, positions=kind))


def test_sinusoids_follow_the_papers_formula():
    table = sinusoids(50, 12)
    assert table.shape == (50, 12)
    for position in range(50):
        for i in range(6):
            angle = position / 10_000 ** (2 * i / 12)
            assert table[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_the_two_dimensions_of_a_pair_share_a_frequency():
    table = sinusoids(200, 16)
    assert_close(table[:, 0::2] ** 2 + table[:, 1::2] ** 2, torch.ones(200, 8))


def test_sinusoids_stay_between_minus_one_and_one():
    table = sinusoids(1_000, 64)
    assert table.min() >= -1
    assert table.max() <= 1
    assert table.min() < -0.99
    assert table.max() > 0.99


def test_another_base_gives_other_wavelengths():
    assert sinusoids(4, 4, base=100.0)[3, 2].item() == pytest.approx(math.sin(3 / 10), abs=1e-6)


@pytest.mark.parametrize("kind", ["sinusoidal", "learned"])
def test_each_position_adds_its_own_row(kind):
    module = positions(kind)
    embedded = torch.randn(2, 4, 8)
    assert_close(module(embedded) - embedded, module.table[:4].expand(2, 4, 8))
    assert_close(module(embedded, start=3) - embedded, module.table[3:7].expand(2, 4, 8))


def test_no_positions_leave_the_embedding_as_it_is():
    embedded = torch.randn(2, 4, 8)
    assert torch.equal(positions("none")(embedded), embedded)


def test_only_a_learned_table_is_a_parameter():
    names = {kind: list(dict(positions(kind).named_parameters())) for kind in POSITIONS}
    assert names == {"sinusoidal": [], "learned": ["table"], "none": []}
    assert positions("sinusoidal").state_dict() == {}


def test_a_learned_table_gets_gradients_at_the_positions_that_were_read():
    module = positions("learned")
    module(torch.randn(1, 4, 8), start=2).square().sum().backward()
    assert (module.table.grad[2:6] != 0).all()
    assert (module.table.grad[[0, 1, 6, 7, 8, 9]] == 0).all()


@pytest.mark.parametrize("kind", POSITIONS)
def test_too_many_tokens_name_both_numbers(kind):
    module = positions(kind)
    module(torch.zeros(1, 10, 8))
    with pytest.raises(ValueError, match=r"11 tokens are more than the 10 positions"):
        module(torch.zeros(1, 11, 8))
    with pytest.raises(ValueError, match=r"12 tokens are more than the 10 positions"):
        module(torch.zeros(1, 3, 8), start=9)
