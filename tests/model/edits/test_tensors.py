"""Edits as tensors: those that do not fit a model are refused with a sentence, everywhere."""

import math
from itertools import count

import numpy as np
import pytest
import torch

from headlight.model.edits import Edits, opens_the_future
from headlight.model.edits.attention import AttentionEdit
from headlight.model.edits.positions import PositionEdit
from headlight.model.shape import Shape
from headlight.model.transformer.trace import Site

SOURCE = "I love my cat."
SITE = Site("cross", 1)
WHERE = r"an AttentionEdit at a Site \(encoder 0 to 1, decoder 0 to 1, cross 0 to 1\)"
GATE = r"The gate of Site\(kind='cross', layer=1\) has to be a tensor of 4 numbers from 0 to 1"

ENDLESS = torch.zeros(1).expand(10**7, 10**7)  # of one number in memory
NAN = torch.full((30, 30), torch.nan)


def cells(*shape):
    return torch.ones(shape, dtype=torch.bool)


@pytest.mark.parametrize("call", ["trace", "translate", "write"])
@pytest.mark.parametrize(
    ("edits", "sentence"),
    [
        ({Site("cross", 2): AttentionEdit()}, rf"at Site\(kind='cross', layer=2\).*{WHERE}"),
        ({Site("crosss", 0): AttentionEdit()}, f"'crosss'.*{WHERE}"),
        ({("cross", 1): AttentionEdit()}, rf"at \('cross', 1\).*{WHERE}"),
        ({"cross": PositionEdit(shift=1)}, "at 'cross'.*or a PositionEdit at encoder or decoder"),
        (
            {SITE: PositionEdit(shift=1)},
            rf"no PositionEdit at Site\(kind='cross', layer=1\).*{WHERE}",
        ),
        ({SITE: torch.ones(4)}, f"takes no Tensor at.*{WHERE}"),
        ({SITE: AttentionEdit(gate=torch.ones(3))}, GATE),
        ({SITE: AttentionEdit(gate=torch.ones(2, 4))}, GATE),  # of two texts, not of one
        ({SITE: AttentionEdit(gate=torch.tensor([1, 1, 1, float("nan")]))}, GATE),
        ({SITE: AttentionEdit(gate=torch.tensor([1.0, 1.0, 1.0, 2.0]))}, GATE),
        ({SITE: AttentionEdit(scale=float("nan"))}, "The scale of Site.* has to be a number"),
        ({SITE: AttentionEdit(block=cells(3))}, r"cells of Site.*\(4, queries, keys\)"),
        ({SITE: AttentionEdit(open=cells(3, 2, 2))}, r"cells of Site.*\(4, queries, keys\)"),
        ({SITE: AttentionEdit(block=cells(2, 4, 2, 2))}, r"cells of Site.*\(4, queries, keys\)"),
        ({SITE: AttentionEdit(block=torch.ones(2, 2))}, "cells of Site.*tensor of bool"),
        ({Site("encoder", 0): AttentionEdit(block=cells(2, 3))}, "as many queries and keys"),
        ({SITE: AttentionEdit(weights=torch.ones(3))}, r"weights of Site.*\(4, queries, keys\)"),
        ({SITE: AttentionEdit(weights=torch.ones(3, 8, 8))}, "weights of Site.*of finite numbers"),
        ({SITE: AttentionEdit(weights=-torch.eye(9))}, "weights .* of finite numbers from 0"),
        ({SITE: AttentionEdit(weights=NAN)}, "weights of Site.*tensor of finite numbers"),
        ({SITE: AttentionEdit(bias=NAN)}, "biases of Site.*tensor of finite numbers"),
        ({SITE: AttentionEdit(bias=torch.ones(9))}, r"biases of Site.*\(4, queries, keys\)"),
        ({SITE: AttentionEdit(bias=torch.ones(3, 9, 9))}, r"biases of Site.*\(4, queries, keys\)"),
    ],
)
def test_what_a_model_does_not_have_is_refused(translator, call, edits, sentence):
    with pytest.raises(ValueError, match=sentence):
        getattr(translator, call)(SOURCE, edits=edits)


def test_cells_of_another_sentence_fit(translator):
    edits = {
        SITE: AttentionEdit(block=cells(2, 3)),
        Site("encoder", 0): AttentionEdit(open=cells(40, 40)),
    }
    assert translator.trace(SOURCE, edits=edits).attention[SITE].weights[0, :, 0, :3].sum() == 0


@pytest.mark.parametrize(
    "edit",
    [
        {"order": (10**7,)},
        {"shift": 10**7},
        {"shift": 10**400},
        {"order": range(10**12)},
        {"order": count()},
    ],
)
def test_positions_that_would_fill_the_memory_are_refused(edit):
    with pytest.raises(ValueError, match="positions is at most 1,000,000"):
        PositionEdit(**edit)


@pytest.mark.parametrize(
    "edit",
    [
        *(AttentionEdit(scale=scale) for scale in (10**400, -1e300, math.nan, math.inf)),
        *(
            AttentionEdit(**{cell: torch.ones(1).bool().expand(10**7, 10**7)})
            for cell in ("block", "open")
        ),
        *(AttentionEdit(**{number: ENDLESS}) for number in ("weights", "bias")),
        AttentionEdit(gate=torch.zeros(1).expand(10**12)),
    ],
)
def test_absurd_numbers_of_an_edit_are_refused_before_they_take_memory(edit, translator):
    with pytest.raises(ValueError, match=r"^The \w+ of Site"):
        translator.trace(SOURCE, edits={SITE: edit})


def test_an_order_may_be_any_sequence(translator):
    orders = [1, 0, 2], np.array([1, 0, 2]), torch.tensor([1, 0, 2]), (1, 0, 2)
    assert len({PositionEdit(order=order) for order in orders}) == 1
    assert translator.write(SOURCE, edits={"encoder": PositionEdit(order=orders[0])}).writing


def test_positions_may_repeat_as_in_documents_that_count_anew():
    edits = Edits(masks={("documents-anew", "encoder"): (2,)})
    anew = edits.at_sites(Shape({"encoder": (1, 2)}, 8), 4)["encoder"]
    assert anew == PositionEdit(order=[0, 1, 0, 1])
    assert anew.positions(0, 5) == [0, 1, 0, 1, 4]


def test_a_mask_of_a_side_that_a_model_lacks_moves_nothing():
    edits = Edits(masks={("documents-anew", "encoder"): (2,)})
    assert "encoder" in edits.at_sites(Shape({"encoder": (1, 2)}, 8), 4)
    assert edits.at_sites(Shape({"decoder": (1, 2)}, 8), 4) == {}


def test_only_cells_above_the_diagonal_of_the_decoder_open_the_future():
    upper, lower = (torch.zeros(3, 3, dtype=torch.bool) for _ in range(2))
    upper[0, 2], lower[2, 0] = True, True
    assert opens_the_future({Site("decoder", 0): AttentionEdit(open=upper)})
    assert not opens_the_future({Site("decoder", 0): AttentionEdit(open=lower)})
    assert not opens_the_future({Site("cross", 0): AttentionEdit(open=upper)})
    assert not opens_the_future({Site("decoder", 0): AttentionEdit(block=upper)})
