import numpy as np
import pytest
import torch

from model import Site
from model.trace import AttentionEdit
from pages.shared.runs import arrays


@pytest.fixture(scope="module")
def trace(translator):
    return translator.trace("I love my cat.", "J'aime mon chat.")


def test_the_weights_of_all_heads_stand_by_layer_and_head(trace):
    weights = arrays.weights_of(trace, "cross")
    assert len(weights) == 2
    for layer, found in enumerate(weights):
        expected = trace.attention[Site("cross", layer)].weights[0]
        np.testing.assert_array_equal(found, expected)


def test_the_weights_of_layers_that_were_not_recorded_in_full_are_bytes(translator, trace):
    some = translator.trace("I love my cat.", "J'aime mon chat.", sites=[Site("cross", 1)])
    first, second = arrays.weights_of(some, "cross")
    expected = arrays.weights_of(trace, "cross")
    assert (first.dtype, second.dtype) == (np.uint8, np.float32)
    np.testing.assert_array_equal(first, np.rint(expected[0] * 255))
    np.testing.assert_array_equal(second, expected[1])


@pytest.mark.parametrize(
    ("head", "expected"), [(1, [3.0, 1.0]), ("mean", [2.0, 1.5]), ("max", [3.0, 2.0])]
)
def test_one_head_a_mean_or_a_maximum(head, expected):
    assert arrays.one_head(np.array([[1.0, 2.0], [3.0, 1.0]]), head).tolist() == expected


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


def test_what_is_to_be_written_is_read_one_place_later(trace):
    following = arrays.following(trace)
    assert [token.text for token in following[:-1]] == [
        token.text for token in trace.target_tokens[1:]
    ]
    assert following[-1].text == "<end>"


def test_the_tokens_of_both_axes(trace):
    queries, keys = arrays.tokens_of(trace, "cross")
    assert queries[0] == "<start>"
    assert keys == [token.text for token in trace.source_tokens]


def test_a_tensor_becomes_an_array_of_32_bits():
    array = arrays.as_array(torch.ones(2, dtype=torch.float64, requires_grad=True))
    assert array.dtype == np.float32
