"""A written token without the edge to a word, and without one from that word to another."""

import random
from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from headlight.model.edits import CellEdit, Edits
from headlight.model.insight import paths
from headlight.model.insight.knockout import Word, edges_of
from headlight.model.insight.paths import in_one_head, two_steps
from tests.model.insight.closing import cells_of, measured, path_followed, without_cells
from tests.model.insight.recording import record
from tests.model.insight.test_knockout import GATES, SHUT, SOURCE


@pytest.fixture(scope="module")
def trace(model):
    return record(model, source=SOURCE)


@pytest.mark.parametrize("layers", [None, range(1, 2)])
@pytest.mark.parametrize("edits", [Edits(), GATES, SHUT], ids=["as trained", "gates", "cells"])
def test_both_edges_are_closed_as_their_cells_are_on_the_page_masks(reader, trace, layers, edits):
    edges, chance = edges_of(trace, reader, layers), random.Random(str(edits))
    for _ in range(3):
        token = chance.randrange(len(edges.written.ids))
        word = chance.randrange(len(edges.words))
        found, second = path_followed(
            reader, trace, edges, token, word, edits.at_sites(reader.shape, 40)
        )
        first, ends = cells_of(edges, token, word)
        wanted = [
            [without_cells(reader, trace, edges, token, start + end, edits) for end in ends]
            for start in ([], first)
        ]
        assert second.abs().max() > 0.01
        assert_close(second, torch.tensor(wanted), atol=1e-5, rtol=0)
        assert_close(
            found, without_cells(reader, trace, edges, token, first, edits), atol=1e-5, rtol=0
        )


@pytest.mark.parametrize("layers", [None, range(1)])
def test_the_first_edge_alone_costs_what_the_knockout_map_says(reader, trace, layers):
    edges = edges_of(trace, reader, layers)
    _, changes = measured(reader, trace, edges)
    for token, word in ((0, 0), (3, 2), (len(changes) - 1, len(edges.words) - 1)):
        first, _ = two_steps(reader, trace, edges, token, word)
        assert_close(first, changes[token, word], atol=1e-5, rtol=0)


def test_without_a_closed_edge_nothing_changes(reader, trace):
    edges = replace(edges_of(trace, reader), words=(Word("", ()), *[Word("", ())] * 2))
    first, changes = path_followed(reader, trace, edges, 2, 0)
    assert_close(first, torch.zeros(()), atol=1e-6, rtol=0)
    assert_close(changes, torch.zeros(2, 3), atol=1e-6, rtol=0)


def test_the_second_edge_does_not_count_once_a_closed_first_one_was_all_that_led_to_it(
    reader, trace
):
    """In a model of one encoder layer only the word's own column knows what it looked at."""
    later = Edits(gates={("encoder", 1, head): 0.0 for head in range(4)})
    edges = edges_of(trace, reader)
    token, word = 0, 2  # the first token sees no other one, which could have read the word
    edits = later.at_sites(reader.shape, 40)
    first, changes = path_followed(reader, trace, edges, token, word, edits)
    assert changes[0].abs().max() > 1e-3
    assert_close(changes[1], first.expand(len(edges.words)), atol=1e-5, rtol=0)


def test_words_side_by_side_are_measured_as_one_by_one(reader, trace, monkeypatch):
    edges = edges_of(trace, reader)
    _, together = path_followed(reader, trace, edges, 1, 4)
    monkeypatch.setattr(paths, "ROWS_AT_ONCE", 1)
    _, parts = two_steps(reader, trace, edges, 1, 4)
    alone = list(parts)
    assert [part.shape for part in alone] == [(2, 1)] * len(edges.words)
    assert_close(torch.cat(alone, dim=-1), together, atol=1e-5, rtol=0)


def test_the_head_that_looks_most_is_closed_alone(reader, trace):
    edges = edges_of(trace, reader)
    weights = trace.weights("encoder")  # (layers, H, S, S)
    for token, word, end in ((0, 0, 3), (2, 4, 1), (3, 1, 4)):
        site, head, weight, change = in_one_head(reader, trace, edges, token, word, end)
        keys, ends = list(edges.words[word].keys), list(edges.words[end].keys)
        sums = weights[:, :, keys][..., ends].sum(dim=-1).mean(dim=-1)
        assert weight == pytest.approx(sums.max().item(), abs=1e-6)
        assert weight == pytest.approx(sums[site.layer, head].item(), abs=1e-6)
        cells = [
            CellEdit("encoder", query, key, False, site.layer, head)
            for query in keys
            for key in ends
        ]
        wanted = without_cells(reader, trace, edges, token, cells)
        assert change == pytest.approx(wanted.item(), abs=1e-5)
