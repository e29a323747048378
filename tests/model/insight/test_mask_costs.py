"""What a mask leaves, against formulas and against counting one by one."""

import pytest

from headlight.model.edits import EXTRA
from headlight.model.edits.masks import all_cells
from headlight.model.insight import mask_costs
from headlight.model.insight.mask_costs import REACH_WITHIN, cost
from headlight.model.trace import Site


@pytest.mark.parametrize("width", [1, 4, 9])
@pytest.mark.parametrize("layers", [1, 3])
def test_a_window_behind_keeps_its_width_and_reaches_that_far_in_each_layer(width, layers):
    left = cost(EXTRA["behind"], (width,), "decoder", 40, layers)
    assert left.cells == sum(min(width, query + 1) for query in range(40))
    assert left.all_cells == 40 * 41 // 2
    assert left.kept == width
    assert left.reach == 1 + layers * (width - 1)


def test_sinks_are_kept_next_to_the_window():
    left = cost(EXTRA["sinks"], (2, 4), "decoder", 500, 2)
    assert left.kept == 6
    assert left.reach == 2 + 1 + 2 * 3


def test_blocks_forget_at_their_borders():
    left = cost(EXTRA["blocks"], (8,), "decoder", 64, 5)
    assert (left.cells, left.kept, left.reach) == (8 * 8 * 9 // 2, 8, 8)


def test_an_encoder_sees_both_sides():
    left = cost(EXTRA["window"], (3,), "encoder", 100, 2)
    assert left.all_cells == 100 * 100
    assert left.cells == 100 * 7 - 2 * (1 + 2 + 3)
    assert left.reach == 1 + 2 * 2 * 3


def test_a_prefix_adds_the_cells_above_the_diagonal():
    left = cost(EXTRA["prefix"], (5,), "decoder", 30, 1)
    assert left.cells - left.all_cells == 5 * 4 // 2
    assert left.kept == 30


def test_lowered_scores_close_nothing():
    left = cost(EXTRA["distance"], (1,), "decoder", 30, 1)
    assert (left.cells, left.kept, left.reach) == (left.all_cells, 30, 30)


@pytest.mark.parametrize("mask", EXTRA.values(), ids=EXTRA.keys())
def test_every_mask_is_counted_in_blocks_as_at_once(mask, monkeypatch):
    kind, setting, size = mask.kinds[-1], mask.offered[0], 37
    kind = "encoder" if kind == "cross" else kind
    at_once = cost(mask, setting, kind, size, 2)
    monkeypatch.setattr(mask_costs, "CELLS_AT_ONCE", 5 * size)
    assert cost(mask, setting, kind, size, 2) == at_once
    cells = all_cells(Site(kind, 0), size)
    seen = (mask.visible(cells, *setting) | cells.none()).tolist()
    opened = (mask.opened(cells, *setting) if mask.opened else cells.none()).tolist()
    visible = [
        {k for k in range(size) if opened[q][k] or (seen[q][k] and (kind == "encoder" or k <= q))}
        for q in range(size)
    ]
    assert at_once.cells == sum(map(len, visible))
    needed = [
        sum(any(key in visible[q] for q in range(step, size)) for key in range(step + 1))
        for step in range(size)
    ]
    if kind == "decoder" and not mask.opened:
        assert at_once.kept == max(needed)
    assert size < REACH_WITHIN
    assert at_once.reach == max(len(set().union(*(visible[k] for k in row))) for row in visible)
