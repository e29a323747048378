from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from headlight.model.decoding.steps import Writing
from headlight.model.edits import CellEdit, Edits
from headlight.model.edits.attention import AttentionEdit
from headlight.model.tokens import END_ID, PAD_ID, START_ID, Token
from headlight.model.transformer.trace import Site
from headlight.wings.cause import knockout
from headlight.wings.cause.knockout import (
    Word,
    agreements,
    disagreements,
    edges_of,
    knock_out,
    what_was_written,
    words_of,
)
from tests.model.insight.recording import record, tokens
from tests.wings.cause.closing import closed_by_hand, measured

GATES = Edits(gates={("decoder", 0, 1): 0.0, ("cross", 1, 2): 0.5})
SHUT = Edits(cells=(CellEdit("cross", 1, 2, opened=False), CellEdit("decoder", 3, 0, opened=False)))


# Five words, the last of two pieces, and the end.
SPANS = [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (9, 11), (11, 11)]
TEXTS = ["a", "b", "c", "d", "e", "fg"]
SOURCE = [Token(4 + place, TEXTS[place], *span) for place, span in enumerate(SPANS[:-1])]
SOURCE.append(Token(END_ID, "<end>", *SPANS[-1]))


@pytest.fixture(scope="module")
def trace(model):
    return record(model, source=SOURCE)


@pytest.mark.parametrize("layers", [None, range(1), range(1, 2)])
@pytest.mark.parametrize("edits", [Edits(), GATES, SHUT], ids=["as trained", "gates", "cells"])
def test_an_edge_is_closed_as_its_cell_is_on_the_page_masks(reader, trace, layers, edits):
    edges = edges_of(trace, reader, layers)
    _, changes = measured(reader, trace, edges, edits.at_sites(reader.shape, 10))
    assert changes.abs().max() > 0.01
    assert_close(changes, closed_by_hand(reader, trace, edges, edits), atol=1e-5, rtol=0)


def test_a_text_without_written_tokens_is_refused(reader, trace, monkeypatch):
    monkeypatch.setattr(reader, "objective", lambda trace: None)
    with pytest.raises(ValueError, match="no written tokens"):
        edges_of(trace, reader)


@pytest.mark.parametrize(
    ("layers", "sentence"),
    [
        (range(7), r"no Site\(kind='cross', layer=2\); it has the sites .*cross 0 to 1"),
        (range(5, 7), r"no Site\(kind='cross', layer=5\); it has"),
        (range(-1, 1), r"no Site\(kind='cross', layer=-1\); it has"),
        (range(0), r"at least one layer: this model has .*cross 0 to 1"),
    ],
)
def test_layers_that_are_not_there_are_refused(reader, trace, layers, sentence):
    with pytest.raises(ValueError, match=sentence):
        edges_of(trace, reader, layers)


def test_words_side_by_side_are_measured_as_one_by_one(reader, trace, monkeypatch):
    edges = edges_of(trace, reader)
    _, together = measured(reader, trace, edges)
    monkeypatch.setattr(knockout, "ROWS_AT_ONCE", 1)
    _, parts = knock_out(reader, trace, edges)
    alone = list(parts)
    assert [part.shape for part in alone] == [(len(edges.written.ids), 1)] * len(edges.words)
    assert_close(torch.cat(alone, dim=-1), together, atol=1e-5, rtol=0)


def test_without_a_closed_edge_nothing_changes(reader, trace):
    edges = replace(edges_of(trace, reader), words=(Word("", ()), Word("", ())))
    _, changes = measured(reader, trace, edges)
    assert_close(changes, torch.zeros_like(changes), atol=1e-6, rtol=0)


def test_an_edge_that_is_closed_already_has_no_weight_and_changes_nothing(reader, model):
    closed = SHUT.at_sites(reader.shape, 10)
    trace = record(model, closed, SOURCE)
    weights, changes = measured(reader, trace, edges_of(trace, reader), closed)
    assert weights[1, 2] == 0
    assert changes[1, 2].abs() < 1e-6


def test_weights_are_the_mean_of_the_heads_and_of_the_layers_summed_over_a_words_pieces(
    reader, trace
):
    whole = edges_of(trace, reader)
    edges = replace(whole, layers=range(1, 2), words=(Word("", (0, 1)), Word("", (2, 3, 4, 5, 6))))
    weights, _ = measured(reader, trace, edges)
    mean = trace.attention[Site("cross", 1)].weights[0].mean(dim=0)
    expected = torch.stack([mean[:, :2].sum(dim=-1), mean[:, 2:].sum(dim=-1)], dim=-1)
    assert_close(weights, expected, atol=1e-6, rtol=0)
    every, _ = measured(reader, trace, whole)
    assert_close(every.sum(dim=-1), torch.ones(len(every)))


def test_the_edits_in_force_are_left_as_they_were(reader, trace):
    edit = AttentionEdit(block=torch.eye(10, dtype=torch.bool))
    edits = {Site("cross", 0): edit}
    measured(reader, trace, edges_of(trace, reader), edits)
    assert list(edits) == [Site("cross", 0)]
    assert edits[Site("cross", 0)] is edit
    assert torch.equal(edits[Site("cross", 0)].block, torch.eye(10, dtype=torch.bool))


def test_words_have_all_their_pieces_and_special_tokens_stand_alone():
    padding = [Token(PAD_ID, "<pad>", 11, 11)] * 2
    assert words_of([*SOURCE, *padding]) == (
        *(Word(text, (place,)) for place, text in enumerate("abcd")),
        Word("efg", (4, 5)),
        Word("<end>", (6,)),
    )


def test_where_every_token_is_a_character_each_is_a_word():
    digits = [Token(4 + position, "314"[position], position, position + 1) for position in range(3)]
    words = words_of([*digits, Token(END_ID, "<end>", 3, 3)])
    assert words == tuple(Word(text, (at,)) for at, text in enumerate(["3", "1", "4", "<end>"]))


def writing_of(ids, finished):
    return Writing("", "", [], tokens(*ids), 0.0, finished, [0.0] * len(ids))


@pytest.mark.parametrize("finished", [True, False])
def test_what_was_written_follows_the_rows_that_wrote_it(model, finished):
    ids = [14, 15, END_ID] if finished else [14, 15, 16]
    read = ids[:-1] if finished else ids
    trace = record(model, target=tokens(START_ID, *read))
    result = what_was_written(trace, writing_of(ids, finished))
    assert result.rows == (0, 1, 2)
    assert result.ids == tuple(ids)


def test_without_anything_written_there_is_nothing_to_measure(reader, trace):
    with pytest.raises(ValueError, match="writes nothing"):
        edges_of(trace, reader, writing=writing_of([], finished=False))


def test_tokens_agree_that_miss_most_what_they_look_at_most():
    weights = np.array([[0.9, 0.1], [0.2, 0.8]])
    assert agreements(weights, np.array([[-2.0, 0.0], [-1.0, 0.5]])) == 1


def test_edges_disagree_by_their_weight_and_their_share_of_the_losses():
    weights = np.array([[0.6, 0.4, 0.0], [0.5, 0.3, 0.2]])
    changes = np.array([[0.3, -1.0, -3.0], [-0.01, -0.02, 0.0]])
    looked_at, missed = disagreements(weights, changes, most=2)
    assert looked_at == [(0, 0), (1, 0)]
    assert missed == [(0, 2)]
