import math

import pytest
import torch
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode

from headlight.model.edits.positions import PositionEdit
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.positions import Positions, sinusoids


def positions(kind, d_model=8, max_positions=10):
    shape = {"d_model": d_model, "heads": 2, "max_positions": max_positions}
    return Positions(TransformerConfig(5, 5, **shape, positions=kind))


@pytest.mark.parametrize("kind", ["sinusoidal", "learned"])
def test_an_edit_switches_off_orders_and_shifts(kind):
    module = positions(kind)
    assert not module(1, 5, PositionEdit(off=True)).any()
    assert_close(module(0, 4, PositionEdit(order=(2, 0, 1))), module.table[[2, 0, 1, 3]])
    assert_close(module(2, 4, PositionEdit(order=(2, 0, 1))), module.table[[1, 3]])
    assert_close(module(1, 4, PositionEdit(shift=5)), module.table[6:9])
    assert_close(module(0, 2, PositionEdit(order=(1, 0), shift=1)), module.table[[2, 1]])
    assert torch.equal(module(0, 4, PositionEdit()), module(0, 4))


def test_positions_below_zero_are_refused():
    for wrong in ({"shift": -1}, {"order": (0, -1)}):
        with pytest.raises(ValueError, match="count from 0"):
            PositionEdit(**wrong)


def test_a_sinusoid_goes_on_where_a_learned_table_ends():
    far = positions("sinusoidal")(0, 3, PositionEdit(shift=9))
    assert_close(far, sinusoids(12, 8)[9:])
    assert not positions("none")(0, 3, PositionEdit(shift=9)).any()
    with pytest.raises(ValueError, match=r"no position 11: the learned table ends at 9"):
        positions("learned")(0, 3, PositionEdit(shift=9))


class Largest(TorchDispatchMode):
    """Notes the largest tensor that is made."""

    size = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        self.size = max(self.size, getattr(made, "nbytes", 0))
        return made


@pytest.mark.parametrize("edit", [{"shift": 10**6}, {"order": (10**6, 3)}, {"shift": 700_001}])
def test_a_far_position_takes_no_more_memory_than_a_near_one(edit):
    moved, module = PositionEdit(**edit), positions("sinusoidal")
    with Largest() as largest:
        far = module(0, 3, moved)
    assert largest.size < 1000
    by_hand = [
        [
            (math.sin, math.cos)[number % 2](position / 10_000 ** (number // 2 * 2 / 8))
            for number in range(8)
        ]
        for position in moved.positions(0, 3)
    ]
    assert_close(far, torch.tensor(by_hand), atol=1e-6, rtol=0)
