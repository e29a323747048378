"""The order of tokens matters to the encoder only by their positions."""

import numpy as np
import pytest
import torch

from headlight.model.transformer.positions import PositionEdit
from headlight.model.transformer.trace import Run
from headlight.model.translator import load
from headlight.pages.parts.positions.effects import (
    moved_attention,
    permutation_differences,
    shuffled,
)

SOURCE = torch.tensor([[4, 5, 6, 7, 5, 3]])
ORDER = (3, 1, 4, 0, 2, 5)  # the last token stays


@pytest.mark.parametrize("length", range(2, 12))
def test_a_shuffled_order_has_every_number_once_and_is_another(length):
    for seed in range(5):
        order = shuffled(length, seed)
        assert sorted(order) == list(range(length))
        assert order != tuple(range(length))
        assert shuffled(length, seed) == order


def test_one_token_has_one_order_and_none_has_none():
    assert shuffled(1, 0) == (0,)
    assert shuffled(0, 0) == ()


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_without_positions_the_encoder_is_permutation_equivariant(norm, positions, make_model):
    model = make_model(norm=norm, positions=positions)
    for order in (ORDER, (5, 4, 3, 2, 1, 0)):
        off = permutation_differences(model, SOURCE, order, PositionEdit(off=True))
        assert off.shape == (6,)
        assert off.max() < 1e-5
        trained = permutation_differences(model, SOURCE, order, PositionEdit())
        assert trained.max() > 0.05


def test_shuffling_the_positions_alone_is_shuffling_the_words_alone(make_model):
    """Only which token has which position matters, not the order they are listed in."""
    model = make_model()
    inverse = torch.tensor(ORDER).argsort()
    listed = model.encode(SOURCE[:, list(ORDER)])
    placed = model.encode(SOURCE, Run({"encoder": PositionEdit(order=tuple(inverse.tolist()))}))
    torch.testing.assert_close(listed, placed[:, list(ORDER)])


def test_shuffling_matters_in_the_shipped_model_only_with_positions():
    shipped = load("en-fr")
    ids = shipped.ids(shipped.read("The red car is faster than the blue car."))
    order = (*shuffled(ids.size(1) - 1, 0), ids.size(1) - 1)
    off = permutation_differences(shipped.model, ids, order, PositionEdit(off=True))
    trained = permutation_differences(shipped.model, ids, order, PositionEdit())
    assert off.max() < 1e-4
    assert trained.max() > 1


def test_moved_attention_is_the_weight_that_other_keys_gain():
    generator = np.random.default_rng(0)
    before, after = generator.dirichlet(np.ones(5), size=(2, 3, 4))  # (H, Q, K) each
    gained = np.maximum(after - before, 0).sum(axis=-1).mean(axis=-1)
    np.testing.assert_allclose(moved_attention(before, after), gained)
    np.testing.assert_array_equal(moved_attention(before, before), 0)
    eye = np.eye(4)
    assert moved_attention(eye, eye[::-1]) == 1
