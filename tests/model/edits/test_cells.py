"""Single cells closed and opened, by layer and head, and by strokes over a mask."""

from dataclasses import replace

import pytest
import torch

from headlight.model.edits import CellEdit, Edits
from headlight.model.transformer.trace import Site
from tests.model.edits.tracing import traced, visible


@pytest.fixture
def model(make_model):
    return make_model()


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
    edits = Edits(off=("look-ahead",), cells=before)
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
