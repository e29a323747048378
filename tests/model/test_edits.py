import copy
import pickle
import threading
from dataclasses import fields, replace

import pytest
import torch
from torch.testing import assert_close

from model.edits import MOST_HEADS, CellEdit, Edits, describe, opens_the_future
from model.trace import AttentionEdit, Run, Site, Trace

SOURCE = torch.tensor([[4, 5, 6, 7, 3, 0, 0]])
TARGET = torch.tensor([[2, 8, 9, 10, 11]])


def traced(model, edits, source=SOURCE, target=TARGET, **lengths):
    trace = Trace()
    sites = edits.at_sites(model.config.shape, 12, **lengths)
    model(source, target, Run(sites, trace))
    return trace


def visible(trace, kind, layer=0, head=0):
    return trace.attention[Site(kind, layer)].masked_scores[0, head].isfinite()


@pytest.fixture
def model(make_model):
    return make_model()


def test_no_edit_changes_nothing(model):
    assert Edits().at_sites(model.config.shape, 12) == {}
    assert not Edits().changes_masks


CHANGED = {
    "look_ahead": False,
    "padding": False,
    "windows": {"cross": 2, "encoder": 1},
    "cells": (CellEdit("decoder", 2, 1, opened=False),),
    "gates": {("cross", 0, 3): 0.5, ("encoder", 1, 2): 0.0},
}


@pytest.mark.parametrize("name", [field.name for field in fields(Edits)])
def test_every_field_takes_part_in_hash_and_equality(name):
    edits, same = (Edits(**{name: CHANGED[name]}) for _ in range(2))
    assert edits == same
    assert hash(edits) == hash(same)
    assert edits != Edits()
    assert len({edits, same, Edits(), replace(edits, **{name: getattr(Edits(), name)})}) == 2


def test_the_order_in_which_heads_were_changed_does_not_matter():
    edits = Edits(**CHANGED)
    other = Edits(**CHANGED | {name: reverse(CHANGED[name]) for name in ("windows", "gates")})
    assert edits == other
    assert hash(edits) == hash(other)
    assert list(edits.windows) == list(other.windows) == ["encoder", "cross"]
    assert list(edits.gates) == [("encoder", 1, 2), ("cross", 0, 3)]


def reverse(values):
    return dict(reversed(values.items()))


def test_edits_are_values_that_nobody_changes_afterwards():
    gates = {("cross", 0, 3): 0.5}
    edits = Edits(gates=gates)
    gates["cross", 0, 1] = 0.0
    assert edits.gates == {("cross", 0, 3): 0.5}
    with pytest.raises(TypeError):
        edits.gates["cross", 0, 1] = 0.0
    assert pickle.loads(pickle.dumps(edits)) == copy.deepcopy(edits) == edits


def test_without_look_ahead_mask_the_decoder_sees_everything(model):
    trace = traced(model, Edits(look_ahead=False))
    assert all(visible(trace, "decoder", layer).all() for layer in range(2))
    assert torch.equal(visible(trace, "cross"), visible(traced(model, Edits()), "cross"))


def test_without_look_ahead_mask_the_padding_of_the_target_stays_hidden(model):
    padded = torch.tensor([[2, 8, 9, 0, 0]])
    trace = traced(model, Edits(look_ahead=False), target=padded, target_length=3)
    assert visible(trace, "decoder")[:, :3].all()
    assert not visible(trace, "decoder")[:, 3:].any()


def test_without_padding_mask_every_query_sees_the_padding_but_not_the_future(model):
    padded = torch.tensor([[2, 8, 9, 0, 0]])
    trace = traced(model, Edits(padding=False), target=padded, target_length=3)
    assert visible(trace, "encoder").all()
    assert visible(trace, "cross").all()
    assert torch.equal(visible(trace, "decoder"), torch.ones(5, 5, dtype=torch.bool).tril())


def test_opening_everything_equals_no_mask(model, make_model):
    edits = Edits(look_ahead=False, padding=False)
    unmasked = make_model(look_ahead_mask=False)
    full = torch.tensor([[4, 5, 6, 7, 3]])
    opened = Trace()
    model(full, TARGET, Run(edits.at_sites(model.config.shape, 12), opened))
    free = Trace()
    unmasked(full, TARGET, Run(trace=free))
    assert torch.equal(opened.logits, free.logits)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_a_window_closes_what_is_farther_than_its_width(model, kind):
    before, after = traced(model, Edits()), traced(model, Edits(windows={kind: 1}))
    rows, columns = visible(before, kind).shape
    near = (torch.arange(rows)[:, None] - torch.arange(columns)).abs() <= 1
    assert torch.equal(visible(after, kind), visible(before, kind) & near)
    for other in {"encoder", "decoder", "cross"} - {kind}:
        assert torch.equal(visible(after, other), visible(before, other))


def test_closing_a_cell_equals_minus_infinity_at_its_score(model):
    edits = Edits(cells=(CellEdit("cross", 1, 2, opened=False, layer=0),))
    before = traced(model, Edits()).attention[Site("cross", 0)]
    after = traced(model, edits).attention[Site("cross", 0)]
    expected = before.masked_scores.clone()
    expected[..., 1, 2] = -torch.inf
    assert torch.equal(after.masked_scores, expected)
    assert torch.equal(after.weights, expected.softmax(-1))


def test_a_cell_edit_reaches_the_layers_and_heads_it_names(model):
    cells = (
        CellEdit("decoder", 3, 0, opened=False, layer=1),
        CellEdit("decoder", 3, 1, opened=False, head=2),
        CellEdit("decoder", 0, 4, opened=True, layer=0, head=1),
    )
    trace = traced(model, Edits(cells=cells))
    for layer in range(2):
        for head in range(4):
            seen = visible(trace, "decoder", layer, head)
            assert seen[3, 0] == (layer != 1)
            assert seen[3, 1] == (head != 2)
            assert seen[0, 4] == (layer == 0 and head == 1)
            assert seen.sum() == 15 - (layer == 1) - (head == 2) + (layer == 0 and head == 1)


def test_the_later_of_two_edits_of_a_cell_wins(model):
    close, reopen = (CellEdit("decoder", 2, 1, opened=opened) for opened in (False, True))
    assert visible(traced(model, Edits(cells=(close, reopen))), "decoder")[2, 1]
    assert not visible(traced(model, Edits(cells=(reopen, close))), "decoder")[2, 1]


EVERYWHERE, LAYER, HEAD = (None, None), (1, None), (1, 2)  # scopes of a stroke over a mask


def stroked(opened, scope, before=(), visible=True):
    """The cell edits after a stroke over a cell, seen at the layer and head of `HEAD`."""
    cell = CellEdit("decoder", 2, 1, opened, *scope)
    layer, head = HEAD
    seen = torch.full((4, 4), visible)
    edits = Edits(look_ahead=False, cells=before)
    after = edits.after_stroke([cell], Site("decoder", layer), head, seen)
    assert replace(after, cells=edits.cells) == edits
    return after.cells


@pytest.mark.parametrize("scope", [EVERYWHERE, LAYER, HEAD])
@pytest.mark.parametrize("visible", [True, False])
def test_a_cell_that_is_changed_and_changed_back_leaves_no_edit(scope, visible):
    changed = stroked(not visible, scope, visible=visible)
    assert changed == (CellEdit("decoder", 2, 1, not visible, *scope),)
    assert stroked(visible, scope, changed, visible) == ()


@pytest.mark.parametrize(
    ("wide", "narrow"), [(EVERYWHERE, LAYER), (EVERYWHERE, HEAD), (LAYER, HEAD)]
)
def test_a_cell_keeps_an_edit_that_a_wider_one_makes_needed(wide, narrow):
    closed = stroked(False, wide)
    both = stroked(True, narrow, closed)
    assert both == (*closed, CellEdit("decoder", 2, 1, True, *narrow))
    assert stroked(False, narrow, both) == closed
    assert stroked(False, wide, both) == closed
    assert stroked(True, wide, both) == ()


def test_a_cell_that_a_window_closes_since_then_takes_an_edit_to_open():
    closed = stroked(False, EVERYWHERE)
    opened = stroked(True, EVERYWHERE, closed, visible=False)
    assert opened == (CellEdit("decoder", 2, 1, opened=True),)


def test_a_stroke_leaves_other_cells_heads_and_kinds_as_they_are():
    others = (
        CellEdit("cross", 2, 1, opened=False),
        CellEdit("decoder", 1, 2, opened=False),
        CellEdit("decoder", 2, 1, opened=False, layer=0, head=2),
        CellEdit("decoder", 2, 1, opened=False, layer=1, head=3),
    )
    closed = stroked(False, HEAD, others)
    assert closed == (*others, CellEdit("decoder", 2, 1, False, *HEAD))
    assert stroked(True, HEAD, closed) == others


def test_a_cell_edit_wins_over_the_switches(model):
    cell = CellEdit("decoder", 4, 0, opened=True)
    windowed = traced(model, Edits(windows={"decoder": 1}, cells=(cell,)))
    assert visible(windowed, "decoder")[4, 0]
    assert not visible(windowed, "decoder")[4, 1]


def test_gates_reach_the_head_they_name(model):
    edits = Edits(gates={("encoder", 1, 2): 0.0, ("cross", 0, 3): 0.5, ("cross", 0, 0): 1.0})
    sites = edits.at_sites(model.config.shape, 12)
    assert sites.keys() == {Site("encoder", 1), Site("cross", 0)}
    assert sites[Site("encoder", 1)].gate.tolist() == [1, 1, 0, 1]
    assert sites[Site("cross", 0)].gate.tolist() == [1, 1, 1, 0.5]
    assert not edits.changes_masks


def test_only_cells_above_the_diagonal_of_the_decoder_open_the_future():
    upper, lower = (torch.zeros(3, 3, dtype=torch.bool) for _ in range(2))
    upper[0, 2], lower[2, 0] = True, True
    assert opens_the_future({Site("decoder", 0): AttentionEdit(open=upper)})
    assert not opens_the_future({Site("decoder", 0): AttentionEdit(open=lower)})
    assert not opens_the_future({Site("cross", 0): AttentionEdit(open=upper)})
    assert not opens_the_future({Site("decoder", 0): AttentionEdit(block=upper)})


@pytest.mark.parametrize(
    "edits",
    [
        Edits(look_ahead=False),
        Edits(cells=(CellEdit("decoder", 0, 2, opened=True),)),
        Edits(cells=(CellEdit("decoder", 2, 0, False), CellEdit("cross", 1, 0, False, head=1))),
        Edits(windows={"decoder": 1, "cross": 2}),
        Edits(gates={("decoder", 0, 1): 0.0, ("encoder", 1, 0): 0.25}),
    ],
    ids=["look-ahead off", "future cell", "closed cells", "windows", "gates"],
)
def test_an_edited_translation_is_what_a_full_pass_over_each_prefix_writes(
    edits, translator, pairs
):
    config = translator.model.config
    sites = edits.at_sites(config.shape, config.max_positions)
    for source, _ in pairs[:3]:
        result = translator.translate(source, edits=sites, max_new_tokens=8)
        ids = [token.id for token in result.target_tokens]
        source_ids = translator.ids(result.source_tokens)
        for length, expected in enumerate(ids):
            prefix = torch.tensor([[2, *ids[:length]]])
            logits = translator.model(source_ids, prefix, Run(sites))[0, -1]
            logits[[0, 1, 2]] = -torch.inf
            assert logits.argmax() == expected


def test_visitors_with_different_edits_at_one_time_get_their_own_results(translator, pairs):
    config = translator.model.config
    edits = [
        Edits(gates={("cross", layer, head): 0.0})
        if layer < 2
        else Edits(cells=(CellEdit("cross", 1, head, opened=False),))
        for layer in range(3)
        for head in range(4)
    ]
    sites = [edit.at_sites(config.shape, config.max_positions) for edit in edits]
    alone = [translator.trace(*pairs[0], edits=site).logits for site in sites]
    together = [None] * len(sites)

    def visit(number):
        for _ in range(5):
            together[number] = translator.trace(*pairs[0], edits=sites[number]).logits

    threads = [threading.Thread(target=visit, args=[number]) for number in range(len(sites))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for lone, shared in zip(alone, together, strict=True):
        assert_close(shared, lone, atol=1e-5, rtol=0)
    assert not torch.equal(alone[0], alone[1])


def test_edits_are_described_in_words_that_count_from_one():
    kinds = {"encoder": "Self", "decoder": "Masked", "cross": "Cross"}
    assert describe(Edits(), kinds) == []
    edits = Edits(**CHANGED | {"cells": [CellEdit("decoder", 2, 1, opened) for opened in (0, 1)]})
    assert describe(edits, kinds) == [
        "look-ahead mask off",
        "padding mask off",
        "Self within 1 positions of the diagonal",
        "Cross within 2 positions of the diagonal",
        "Self, layer 2, head 3 off",
        "Cross, layer 1, head 4 faded to 0.50",
        "1 cell of the masks opened",
    ]
    many = Edits(gates={("cross", 0, head): 0.0 for head in range(MOST_HEADS + 2)})
    assert describe(many, kinds)[-1] == "2 more heads off or faded"
