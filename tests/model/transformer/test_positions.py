import math

import pytest
import torch
from torch.testing import assert_close

from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.positions import Positions, frequencies, sinusoids

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


def test_another_base_gives_other_wavelengths():
    assert sinusoids(4, 4, base=100.0)[3, 2].item() == pytest.approx(math.sin(3 / 10), abs=1e-6)


@pytest.mark.parametrize("d_model", [2, 12, 64])
@pytest.mark.parametrize("base", [10.0, 10_000.0])
def test_frequencies_fall_from_one_in_equal_ratios_towards_one_over_the_base(d_model, base):
    turns = frequencies(d_model, base)
    assert turns.shape == (d_model // 2,)
    assert turns[0].item() == 1
    assert_close(turns[1:] / turns[:-1], torch.full_like(turns[1:], base ** (-2 / d_model)))
    assert (turns > 1 / base).all()


@pytest.mark.parametrize("kind", ["sinusoidal", "learned"])
def test_each_position_has_its_own_row(kind):
    module = positions(kind)
    assert_close(module(0, 4), module.table[:4])
    assert_close(module(3, 7), module.table[3:7])


def test_no_positions_are_zeros():
    assert not positions("none")(0, 4).any()
    assert positions("none", d_model=8)(0, 4).shape == (4, 8)


def test_only_a_learned_table_is_a_parameter():
    names = {kind: list(dict(positions(kind).named_parameters())) for kind in POSITIONS}
    assert names == {"sinusoidal": [], "learned": ["table"], "none": []}
    assert positions("sinusoidal").state_dict() == {}


def test_a_learned_table_gets_gradients_at_the_positions_that_were_read():
    module = positions("learned")
    (module(2, 6) * torch.randn(3, 4, 8)).square().sum().backward()
    assert (module.table.grad[2:6] != 0).all()
    assert (module.table.grad[[0, 1, 6, 7, 8, 9]] == 0).all()


@pytest.mark.parametrize("kind", POSITIONS)
def test_too_many_tokens_name_both_numbers(kind):
    module = positions(kind)
    module(0, 10)
    with pytest.raises(ValueError, match=r"11 tokens are more than the model's 10 positions"):
        module(0, 11)
    with pytest.raises(ValueError, match=r"12 tokens are more than the model's 10 positions"):
        module(9, 12)
