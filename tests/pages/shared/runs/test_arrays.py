import numpy as np
import pytest
import torch

from headlight.model.edits.attention import AttentionEdit
from headlight.model.library.pieces import Piece
from headlight.model.transformer.trace import Site
from headlight.pages.shared.runs import arrays


@pytest.fixture(scope="module")
def trace(translator):
    return translator.trace("I love my cat.", "J'aime mon chat.")


def test_the_weights_of_layers_that_were_not_recorded_in_full_are_bytes(translator, trace):
    some = translator.trace("I love my cat.", "J'aime mon chat.", sites=[Site("cross", 1)])
    first, second = arrays.weights_of(some, "cross")
    expected = arrays.weights_of(trace, "cross")
    assert (first.dtype, second.dtype) == (np.uint8, np.float32)
    np.testing.assert_array_equal(first, np.rint(expected[0] * 255))
    np.testing.assert_array_equal(second, expected[1])


def test_the_clearest_cell_is_of_words_and_not_of_a_comma():
    spans = {"well": (0, 4), ",": (4, 5), "yes": (6, 9)}
    tokens = [
        Piece(number, text, *span, word=number) for number, (text, span) in enumerate(spans.items())
    ]
    weights = np.array([[0.2, 0.2, 0.6], [0.95, 0, 0.05], [0.1, 0.9, 0]])
    assert arrays.clearest_cell(weights, tokens, tokens, "encoder") == (0, 2)
    assert arrays.clearest_cell(weights[1:], tokens[1:], tokens, "encoder") is None


@pytest.mark.parametrize(("head", "meant"), [("mean", [0, 1, 2]), (1, [1]), (9, [2])])
def test_which_heads_are_meant(head, meant):
    assert arrays.heads_meant(head, 3) == meant


def test_the_cells_that_the_mask_closes_are_those_after_the_query(trace):
    blocked = arrays.blocked_cells(trace.attention[Site("decoder", 1)])
    np.testing.assert_array_equal(blocked, np.triu(np.ones(blocked.shape, bool), 1))
    assert not arrays.blocked_cells(trace.attention[Site("cross", 1)]).any()


def test_a_cell_that_one_head_may_see_is_not_blocked(translator):
    site, closed = Site("cross", 0), torch.zeros(4, 9, 9, dtype=torch.bool)
    closed[1:, 0, 1] = closed[:, 2, 1] = True
    edits = {site: AttentionEdit(block=closed)}
    trace = translator.trace("I love my cat.", "J'aime mon chat.", edits=edits)
    assert np.argwhere(arrays.blocked_cells(trace.attention[site])).tolist() == [[2, 1]]
