"""A written token without the edge to a word, and without one from that word to another."""

import random
from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from headlight.model.edits import Edits
from headlight.wings.cause import paths
from headlight.wings.cause.knockout import Word, edges_of
from headlight.wings.cause.paths import two_steps
from tests.model.insight.recording import record
from tests.wings.cause.closing import cells_of, measured, path_followed, without_cells
from tests.wings.cause.test_knockout import GATES, SHUT, SOURCE


@pytest.fixture(scope="module")
def trace(model):
    return record(model, source=SOURCE)


@pytest.mark.parametrize("layers", [None, range(1, 2)])
@pytest.mark.parametrize("edits", [Edits(), GATES, SHUT], ids=["as trained", "gates", "cells"])
def test_both_edges_are_closed_as_their_cells_are_on_the_page_masks(reader, trace, layers, edits):
    edges, chance = edges_of(trace, reader, layers), random.Random(str(edits))
    for _ in range(3):
        path = chance.randrange(len(edges.written.ids)), chance.randrange(len(edges.words))
        changes = path_followed(reader, trace, edges, *path, edits.at_sites(reader.shape, 40))
        first, ends = cells_of(edges, *path)
        wanted = [
            [without_cells(reader, trace, edges, path[0], start + end, edits) for end in ends]
            for start in ([], first)
        ]
        assert changes.abs().max() > 0.01
        assert_close(changes, torch.tensor(wanted), atol=1e-5, rtol=0)


@pytest.mark.parametrize("layers", [None, range(1)])
def test_where_the_second_edge_is_none_the_first_costs_what_the_knockout_map_says(
    reader, trace, layers
):
    edges = edges_of(trace, reader, layers)
    _, changes = measured(reader, trace, edges)
    for token, word in ((0, 0), (3, 2), (len(changes) - 1, len(edges.words) - 1)):
        nowhere = replace(edges, words=(*edges.words, Word("", ())))
        _, *_, last = path_followed(reader, trace, nowhere, token, word).T
        assert_close(last, torch.stack([torch.zeros(()), changes[token, word]]), atol=1e-5, rtol=0)


def test_without_a_closed_edge_nothing_changes(reader, trace):
    edges = replace(edges_of(trace, reader), words=(Word("", ()),) * 3)
    changes = path_followed(reader, trace, edges, 2, 0)
    assert_close(changes, torch.zeros(2, 3), atol=1e-6, rtol=0)


def test_the_second_edge_counts_nothing_once_the_only_way_to_it_is_closed(reader, trace):
    # Without the heads of the second layer only the word's own column knows what it looked at, and
    # the first token sees no other one that could have read this column.
    later = Edits(gates={("encoder", 1, head): 0.0 for head in range(4)})
    edges, edits = edges_of(trace, reader), later.at_sites(reader.shape, 40)
    alone, both = path_followed(reader, trace, edges, 0, 2, edits)
    assert alone.abs().max() > 1e-3
    assert_close(both, both[:1].expand(len(both)), atol=1e-5, rtol=0)


def test_words_side_by_side_are_measured_as_one_by_one(reader, trace, monkeypatch):
    edges = edges_of(trace, reader)
    together = path_followed(reader, trace, edges, 1, 4)
    monkeypatch.setattr(paths, "ROWS_AT_ONCE", 1)
    alone = list(two_steps(reader, trace, edges, 1, 4))
    assert [part.shape for part in alone] == [(2, 1)] * len(edges.words)
    assert_close(torch.cat(alone, dim=-1), together, atol=1e-5, rtol=0)
