"""A row summed up block by block, against the softmax of the whole row."""

import pytest
import torch
from torch.testing import assert_close

from headlight.model.transformer.trace import Site
from headlight.pages.parts.masks.blockwise import (
    blockwise,
    bytes_kept,
    bytes_stored,
    output_of,
    row_of_weights,
)


def row_and_values(keys, closed=()):
    generator = torch.Generator().manual_seed(keys)
    scores = 4 * torch.randn(keys, generator=generator)
    scores[list(closed)] = -torch.inf
    return scores, torch.randn(keys, 5, generator=generator)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
@pytest.mark.parametrize("closed", [(), (0, 1, 2, 3), (5, 6, 22)])
def test_the_end_is_the_softmax(size, closed):
    scores, value = row_and_values(23, closed)
    steps = blockwise(scores, value, size)
    assert [key for step in steps for key in step.keys] == list(range(23))
    weights = scores.softmax(dim=0)
    assert_close(row_of_weights(scores, steps[-1]), weights, atol=1e-6, rtol=0)
    assert_close(output_of(steps), weights @ value, atol=1e-5, rtol=0)


def test_every_step_has_the_maximum_and_sum_of_what_was_read():
    scores, value = row_and_values(17, closed=(0, 1, 9))
    for step in blockwise(scores, value, 2)[1:]:
        read = scores[: step.keys.stop]
        assert step.maximum == read.max().item()
        assert step.total == pytest.approx((read - read.max()).exp().sum().item(), rel=1e-5)


def test_a_row_that_is_closed_writes_zeros():
    scores, value = row_and_values(6, closed=range(6))
    steps = blockwise(scores, value, 4)
    assert not row_of_weights(scores, steps[-1]).any()
    assert not output_of(steps).any()


def test_a_head_of_a_run_is_that_of_its_record(translator):
    record = translator.trace("The old house.").attention[Site("decoder", 1)]
    for query, row in enumerate(record.masked_scores[0, 1]):
        steps = blockwise(row, record.value[0, 1], 2)
        weights = row_of_weights(row, steps[-1])
        assert_close(weights, record.weights[0, 1, query], atol=1e-6, rtol=0)
        assert_close(output_of(steps), record.heads[0, 1, query], atol=1e-5, rtol=0)


def test_what_is_stored_grows_with_the_square():
    assert (bytes_stored(100), bytes_kept(100)) == (2 * 100 * 100 * 4, 2 * 100 * 4)
