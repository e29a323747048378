import copy
import pickle
from dataclasses import fields, replace

import pytest
import torch

from headlight.model.edits import MOST_NAMED, CellEdit, Edits, describe
from headlight.model.shape import shape_of
from headlight.model.transformer.trace import Run, Site
from tests.model.edits.tracing import traced, visible


@pytest.fixture
def model(make_model):
    return make_model()


def test_no_edit_changes_nothing(model):
    assert Edits().at_sites(shape_of(model.config), 12) == {}


CHANGED = {
    "off": ("look-ahead", "padding"),
    "masks": {("window", "cross"): (2,), ("window", "encoder"): (1,)},
    "cells": (CellEdit("decoder", 2, 1, opened=False),),
    "gates": {("cross", 0, 3): 0.5, ("encoder", 1, 2): 0.0},
    "together": "any",
}


@pytest.mark.parametrize("name", [field.name for field in fields(Edits)])
def test_every_field_takes_part_in_hash_and_equality(name):
    edits, same = (Edits(**CHANGED) for _ in range(2))
    assert edits == same
    assert hash(edits) == hash(same)
    other = replace(edits, **{name: getattr(Edits(), name)})
    assert edits != other
    assert len({edits, same, Edits(), other}) == 3


def test_the_order_in_which_heads_were_changed_does_not_matter():
    edits = Edits(**CHANGED)
    other = Edits(**CHANGED | {name: reverse(CHANGED[name]) for name in ("masks", "gates")})
    assert edits == other
    assert hash(edits) == hash(other)
    masks = [("window", "encoder", "all"), ("window", "cross", "all")]
    assert list(edits.masks) == list(other.masks) == masks
    assert list(edits.gates) == [("encoder", 1, 2), ("cross", 0, 3)]


KINDS = {"encoder": "Self", "decoder": "Masked", "cross": "Cross"}


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


def test_a_cell_edit_wins_over_the_switches(model):
    cell = CellEdit("decoder", 4, 0, opened=True)
    windowed = traced(model, Edits(masks={("window", "decoder"): (1,)}, cells=(cell,)))
    assert visible(windowed, "decoder")[4, 0]
    assert not visible(windowed, "decoder")[4, 1]


def test_gates_reach_the_head_they_name(model):
    edits = Edits(gates={("encoder", 1, 2): 0.0, ("cross", 0, 3): 0.5, ("cross", 0, 0): 1.0})
    sites = edits.at_sites(shape_of(model.config), 12)
    assert sites.keys() == {Site("encoder", 1), Site("cross", 0)}
    assert sites[Site("encoder", 1)].gate.tolist() == [1, 1, 0, 1]
    assert sites[Site("cross", 0)].gate.tolist() == [1, 1, 1, 0.5]


@pytest.mark.parametrize(
    "edits",
    [
        Edits(off=("look-ahead",)),
        Edits(cells=(CellEdit("decoder", 0, 2, opened=True),)),
        Edits(cells=(CellEdit("decoder", 2, 0, False), CellEdit("cross", 1, 0, False, head=1))),
        Edits(masks={("window", "decoder"): (1,), ("window", "cross"): (2,)}),
        Edits(gates={("decoder", 0, 1): 0.0, ("encoder", 1, 0): 0.25}),
    ],
    ids=["look-ahead off", "future cell", "closed cells", "window", "gates"],
)
def test_an_edited_translation_is_what_a_full_pass_over_each_prefix_writes(
    edits, translator, pairs
):
    config = translator.model.config
    sites = edits.at_sites(shape_of(config), config.max_positions)
    for source, _ in pairs[:3]:
        result = translator.translate(source, edits=sites, max_new_tokens=8)
        ids = [token.id for token in result.target_tokens]
        source_ids = translator.ids(result.source_tokens)
        for length, expected in enumerate(ids):
            prefix = torch.tensor([[2, *ids[:length]]])
            logits = translator.model(source_ids, prefix, Run(sites))[0, -1]
            logits[[0, 1, 2]] = -torch.inf
            assert logits.argmax() == expected


def test_edits_are_described_in_words_that_count_from_one():
    assert describe(Edits(), KINDS) == []
    edits = Edits(**CHANGED | {"cells": [CellEdit("decoder", 2, 1, opened) for opened in (0, 1)]})
    assert describe(edits, KINDS) == [
        "look-ahead mask off",
        "padding mask off",
        "tokens see what any added mask allows",
        "Self within 1 of the diagonal",
        "Cross within 2 of the diagonal",
        "Self, layer 2, head 3 off",
        "Cross, layer 1, head 4 faded to 0.50",
        "1 cell opened in all heads of all layers",
    ]
    some = [CellEdit("cross", query, 0, False, layer=1, head=3) for query in (1, 2)]
    assert describe(Edits(cells=some), KINDS) == ["2 cells closed in head 4 of layer 2"]
    elsewhere = CellEdit("cross", 1, 0, False, layer=0)
    assert describe(Edits(cells=[*some, elsewhere]), KINDS) == ["3 cells closed"]
    everywhere = Edits(cells=[CellEdit("decoder", 1, 0, opened=False)])
    assert describe(everywhere, KINDS, briefly=True) == ["1 cell closed in all heads of all layers"]
    layer = {("cross", 0, head): 0.0 for head in range(8)}
    faded = {("cross", 1, 1): 0.5}
    assert describe(Edits(gates=layer | faded), KINDS) == [
        "Cross, layer 1, heads 1 to 8 off",
        "Cross, layer 2, head 2 faded to 0.50",
    ]
    many = Edits(gates={("cross", 0, 2 * head): 0.0 for head in range(MOST_NAMED + 2)})
    assert describe(many, KINDS)[-1] == "2 more heads off or faded"


def test_changes_are_counted_by_their_kinds():
    assert describe(Edits(), KINDS, briefly=True) == []
    heads = {("cross", 0, 0): 0.0, ("cross", 0, 1): 0.0, ("cross", 0, 2): 0.5, ("cross", 0, 3): 1.0}
    edits = Edits(**CHANGED | {"gates": heads})
    assert describe(edits, KINDS, briefly=True) == [
        "look-ahead mask off",
        "padding mask off",
        "tokens see what any added mask allows",
        "2 × local window",
        "2 heads off",
        "1 head faded",
        "1 cell closed in all heads of all layers",
    ]


def test_heads_are_off_if_all_of_them_are():
    edits = Edits(gates={("cross", 0, 1): 0.0, ("cross", 0, 2): 0.5})
    assert edits.are_off([("cross", 0, 1)])
    assert not edits.are_off([("cross", 0, 1), ("cross", 0, 2)])
    assert not Edits().are_off([("encoder", 0, 0)])
