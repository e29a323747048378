"""Masks of the model switched off, and others put in force."""

from itertools import combinations, product

import pytest
import torch
from transformers import masking_utils
from transformers.models.bloom.modeling_bloom import build_alibi_tensor

from headlight.model.edits import (
    EXTRA,
    TRAINED,
    Edits,
    Mask,
    MaskAddress,
    describe,
    read_edits,
    write_edits,
)
from headlight.model.edits.masks import all_cells
from headlight.model.shape import shape_of
from headlight.model.trace import Trace
from headlight.model.transformer.trace import KINDS, Run, Site
from tests.model.edits.tracing import TARGET, traced, visible


@pytest.fixture
def model(make_model):
    return make_model()


def test_without_look_ahead_mask_the_decoder_sees_everything(model):
    trace = traced(model, Edits(off=("look-ahead",)))
    assert all(visible(trace, "decoder", layer).all() for layer in range(2))
    assert torch.equal(visible(trace, "cross"), visible(traced(model, Edits()), "cross"))


def test_without_look_ahead_mask_the_padding_of_the_target_stays_hidden(model):
    padded = torch.tensor([[2, 8, 9, 0, 0]])
    trace = traced(model, Edits(off=("look-ahead",)), target=padded, target_length=3)
    assert visible(trace, "decoder")[:, :3].all()
    assert not visible(trace, "decoder")[:, 3:].any()


def test_without_padding_mask_every_query_sees_the_padding_but_not_the_future(model):
    padded = torch.tensor([[2, 8, 9, 0, 0]])
    trace = traced(model, Edits(off=("padding",)), target=padded, target_length=3)
    assert visible(trace, "encoder").all()
    assert visible(trace, "cross").all()
    assert torch.equal(visible(trace, "decoder"), torch.ones(5, 5, dtype=torch.bool).tril())


def test_opening_everything_equals_no_mask(model, make_model):
    edits = Edits(off=("look-ahead", "padding"))
    unmasked = make_model(look_ahead_mask=False)
    full = torch.tensor([[4, 5, 6, 7, 3]])
    opened = Trace()
    model(full, TARGET, Run(edits.at_sites(shape_of(model.config), 12), opened))
    free = Trace()
    unmasked(full, TARGET, Run(trace=free))
    assert torch.equal(opened.logits, free.logits)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_a_window_closes_what_is_farther_than_its_width(model, kind):
    before, after = traced(model, Edits()), traced(model, Edits(masks={("window", kind): (1,)}))
    rows, columns = visible(before, kind).shape
    near = (torch.arange(rows)[:, None] - torch.arange(columns)).abs() <= 1
    assert torch.equal(visible(after, kind), visible(before, kind) & near)
    for other in {"encoder", "decoder", "cross"} - {kind}:
        assert torch.equal(visible(after, other), visible(before, other))


@pytest.mark.parametrize("mask", [*TRAINED.values(), *EXTRA.values()], ids=lambda mask: mask.name)
def test_a_mask_is_read_and_said_as_it_is_written(mask, model):
    """Whatever mask there is: this needs no change for a new one."""
    shape, kind = shape_of(model.config), mask.kinds[-1]
    for setting in mask.offered or [()]:
        put = {"off": [mask.name]} if mask.trained else {"masks": {(mask.name, kind): setting}}
        edits = Edits(**put)
        assert read_edits(write_edits(edits), shape) == edits
        (words,) = describe(edits, dict(zip(KINDS, KINDS, strict=True)))
        assert all(str(number) in words for number in setting)
        cells = all_cells(Site(kind, 0), 6)
        assert (mask.visible(cells, *setting) | cells.none()).shape == (6, 6)


# What each mask leaves, cell by cell: whether query q sees key k.
CELLS = {
    "window": lambda q, k, width: -width <= q - k <= width,
    "behind": lambda q, k, width: k in range(q - width + 1, q + 1),
    "sinks": lambda q, k, first, width: k < first or k in range(q - width + 1, q + 1),
    "blocks": lambda q, k, size: k in range(q - q % size, q - q % size + size),
    "strided": lambda q, k, stride: abs(q - k) < stride or k in range(q % stride, 16, stride),
    "dilated": lambda q, k, width, step: k in range(q - width * step, q + width * step + 1, step),
    "global": lambda q, k, first, width: min(q, k) < first or abs(q - k) <= width,
    "prefix": lambda q, k, end: k <= q or k < end,
    "documents": lambda q, k, *ends: sum(end <= q for end in ends) == sum(end <= k for end in ends),
    "documents-anew": lambda q, k, *ends: CELLS["documents"](q, k, *ends),
    "distance": lambda q, k, times: True,
}


@pytest.mark.parametrize("name", CELLS)
def test_a_mask_leaves_the_cells_of_its_definition(name):
    borders = [(2, 3, 9), (1,), (15,), (40,)] if EXTRA[name].borders else []
    for setting in [*EXTRA[name].offered, *borders]:
        seen = EXTRA[name].visible(all_cells(Site("decoder", 0), 16), *setting)
        expected = [[CELLS[name](query, key, *setting) for key in range(16)] for query in range(16)]
        assert torch.equal(seen, torch.tensor(expected)), setting


def test_every_mask_is_held_against_its_definition():
    assert {*CELLS, "random"} == {*EXTRA}


@pytest.mark.parametrize("width", [1, 3, 8])
def test_a_window_behind_and_blocks_are_those_of_transformers(width):
    cells = all_cells(Site("decoder", 0), 12)
    query, key = cells.query, cells.key
    for name, theirs in (
        ("behind", masking_utils.sliding_window_causal_mask_function(width)),
        ("blocks", masking_utils.chunked_causal_mask_function(width, torch.zeros(1, dtype=int))),
    ):
        ours = EXTRA[name].visible(cells, width) & (key <= query)
        assert torch.equal(ours, theirs(0, 0, query, key) & (key <= query)), name


def test_random_keys_have_their_share_and_stay_as_the_text_grows():
    mask = EXTRA["random"]
    long, short = (mask.visible(all_cells(Site("encoder", 0), size), 4, 1) for size in (200, 40))
    assert torch.equal(long[:40, :40], short)
    assert long.diagonal().all()
    assert 0.23 < long.float().mean() < 0.28
    assert not torch.equal(long, mask.visible(all_cells(Site("encoder", 0), 200), 4, 2))


@pytest.fixture
def sinks(monkeypatch):
    """A mask that takes two numbers, only for a decoder."""
    mask = Mask(
        name="sinks",
        title="Sinks and window",
        visible=lambda cells, first, width: (cells.key < first) | (cells.query - cells.key < width),
        kinds=("decoder",),
        lowest=(0, 1),
        offered=[(1, 2)],
        words="with {} sinks and {} tokens back",
    )
    monkeypatch.setitem(EXTRA, mask.name, mask)
    return mask


def test_a_mask_may_take_several_numbers_and_few_kinds(sinks, model):
    shape = shape_of(model.config)
    edits = read_edits("sinks.decoder.1.2~window.encoder.1", shape)
    assert edits.masks == {
        MaskAddress("sinks", "decoder"): (1, 2),
        MaskAddress("window", "encoder"): (1,),
    }
    assert write_edits(edits) == "sinks.decoder.1.2~window.encoder.1"
    kinds = dict(zip(KINDS, KINDS, strict=True))
    assert describe(edits, kinds)[0] == "decoder with 1 sinks and 2 tokens back"
    seen = visible(traced(model, edits), "decoder")
    rows = ["10000", "11000", "11100", "10110", "10011"]
    assert [[*map(int, row)] for row in rows] == seen.int().tolist()
    for text in ("sinks.encoder.1.2", "sinks.decoder.1", "sinks.decoder.1.0", "sinks.off"):
        with pytest.raises(ValueError, match=r"^(This is not a |Sinks and window .* not )"):
            read_edits(text, shape)


def test_masks_together_leave_what_each_leaves(sinks, model):
    both = Edits(masks={("window", "decoder"): (1,), ("sinks", "decoder"): (1, 3)})
    each = [Edits(masks={address: setting}) for address, setting in both.masks.items()]
    alone = [visible(traced(model, edits), "decoder") for edits in each]
    assert torch.equal(visible(traced(model, both), "decoder"), alone[0] & alone[1])


def rows_of(text):
    return torch.tensor([[*map(int, row)] for row in text.split()], dtype=torch.bool)


def test_a_prefix_lets_its_tokens_see_each_other(model):
    seen = visible(traced(model, Edits(masks={("prefix", "decoder"): (3,)})), "decoder")
    assert torch.equal(seen, rows_of("11100 11100 11100 11110 11111"))
    with pytest.raises(
        ValueError, match="Prefix is not a mask for this kind of attention: encoder"
    ):
        read_edits("prefix.encoder.3", shape_of(model.config))


def test_documents_are_read_as_if_each_were_alone_if_positions_begin_anew(model):
    """The encoder's outputs of two texts in one are those of the two texts."""
    first, second = torch.tensor([[4, 5, 6, 3]]), torch.tensor([[9, 8, 3]])
    packed = torch.cat([first, second], dim=1)
    anew, on = (Edits(masks={(name, "encoder"): (4,)}) for name in ("documents-anew", "documents"))
    outputs = [traced(model, Edits(), source).outputs["encoder"] for source in (first, second)]
    alone = torch.cat(outputs, dim=1)
    torch.testing.assert_close(traced(model, anew, packed).outputs["encoder"], alone)
    going_on = traced(model, on, packed).outputs["encoder"]
    torch.testing.assert_close(going_on[:, :4], outputs[0])
    assert not torch.allclose(going_on[:, 4:], outputs[1])


@pytest.mark.parametrize(
    "text", ["documents.encoder.4.2", "documents.encoder", "documents.cross.2"]
)
def test_borders_are_in_order_and_a_text_has_one_at_least(model, text):
    with pytest.raises(ValueError, match="not"):
        read_edits(text, shape_of(model.config))


def test_scores_are_lowered_as_in_alibi_of_transformers(model):
    """BLOOM's slopes; its distances count from the last key, which the softmax does not see."""
    heads = shape_of(model.config).heads("decoder")
    before = traced(model, Edits()).attention[Site("decoder", 0)]
    after = traced(model, Edits(masks={("distance", "decoder"): (1,)}))
    record = after.attention[Site("decoder", 0)]
    theirs = build_alibi_tensor(torch.ones(1, 5), heads, torch.float32).view(1, heads, 1, 5)
    expected = (before.masked_scores + theirs).softmax(dim=-1)
    torch.testing.assert_close(record.weights, expected)
    assert torch.equal(record.scores, before.scores + record.bias)


def test_masks_are_for_all_or_every_second_or_one_of_the_layers(model):
    for layers, reached in {"all": {0, 1}, "odd": {0}, "even": {1}, 0: {0}, 1: {1}}.items():
        edits = Edits(masks={("behind", "decoder", layers): (1,)})
        seen = traced(model, edits)
        alone = [
            torch.equal(visible(seen, "decoder", layer), torch.eye(5).bool()) for layer in (0, 1)
        ]
        assert {layer for layer in (0, 1) if alone[layer]} == reached
        text = write_edits(edits)
        assert read_edits(text, shape_of(model.config)) == edits
    assert text == "behind.decoder-2.1"
    assert describe(edits, dict(zip(KINDS, KINDS, strict=True))) == [
        "decoder, layer 2, sees 1 tokens back, its own included"
    ]
    for layers in ("0", "3", "some", ""):
        with pytest.raises(ValueError, match="not a number"):
            read_edits(f"behind.decoder-{layers}.1", shape_of(model.config))


def test_masks_together_leave_what_all_or_any_leaves_or_only_they_do(model):
    masks = {("global", "decoder"): (1, 0), ("strided", "decoder"): (2,)}
    every = all_cells(Site("decoder", 0), 5)
    first, second = EXTRA["global"].visible(every, 1, 0), EXTRA["strided"].visible(every, 2)
    triangle = torch.ones(5, 5, dtype=torch.bool).tril()
    for together, expected in (
        ("all", first & second & triangle),
        ("any", (first | second) & triangle),
        ("only", first & second),
    ):
        edits = Edits(masks=masks, together=together)
        assert torch.equal(visible(traced(model, edits), "decoder"), expected), together
        assert read_edits(write_edits(edits), shape_of(model.config)) == edits
    assert Edits(together="any") == Edits()


OPENS = {"prefix": lambda q, k, end: max(q, k) < end}
PAIRS = [*combinations(EXTRA, 2)]


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
@pytest.mark.parametrize("together", ["all", "any", "only"])
def test_two_masks_leave_what_plain_loops_leave(together, kind):
    """Every pair: a mask that closes nothing, such as one that lowers scores, counts as one."""
    every = all_cells(Site(kind, 0), 7)
    for names in PAIRS:
        masks = [EXTRA[name] for name in names]
        if any(kind not in mask.kinds for mask in masks):
            continue
        for settings in product(*(mask.offered for mask in masks)):
            chosen = {(name, kind): setting for name, setting in zip(names, settings, strict=True)}
            edit = Edits(masks=chosen, together=together).at_site(Site(kind, 0), 4, 7)
            expected = torch.zeros(7, 7, dtype=torch.bool)
            for q, k in product(range(7), repeat=2):
                sees = [
                    bool(EXTRA["random"].visible(every, *setting)[q, k])
                    if name == "random"
                    else CELLS[name](q, k, *setting)
                    for name, setting in zip(names, settings, strict=True)
                ]
                own = kind == "encoder" or together == "only" or k <= q
                for name, setting in zip(names, settings, strict=True):
                    own = own or (name in OPENS and OPENS[name](q, k, *setting))
                expected[q, k] = own and (any(sees) if together == "any" else all(sees))
            own = torch.ones(7, 7, dtype=torch.bool)
            seen = edit.visible(own, own if kind == "encoder" else own.tril())
            assert torch.equal(seen, expected), (names, settings)
            assert (edit.bias is not None) == ("distance" in names)


def test_lowered_scores_leave_what_a_window_closes_if_any_mask_may_leave_it(model):
    masks = {("window", "decoder"): (0,), ("distance", "decoder"): (2,)}
    alone = traced(model, Edits(masks={("distance", "decoder"): (2,)}))
    both = traced(model, Edits(masks=masks, together="any"))
    site = Site("decoder", 0)
    assert torch.equal(visible(both, "decoder"), torch.ones(5, 5, dtype=torch.bool).tril())
    torch.testing.assert_close(both.attention[site].weights, alone.attention[site].weights)


@pytest.mark.parametrize("mask", EXTRA.values(), ids=EXTRA.keys())
def test_a_mask_of_some_layers_changes_no_others(mask, model):
    """A token has one position in all layers, so a mask that moves it is in all of them."""
    shape, kind = shape_of(model.config), mask.kinds[0]
    for layers in ("odd", "even", 0, 1):
        masks = {(mask.name, kind, layers): mask.offered[0]}
        which = layers + 1 if isinstance(layers, int) else layers
        text = ".".join(map(str, [mask.name, f"{kind}-{which}", *mask.offered[0]]))
        if mask.positions:
            with pytest.raises(ValueError, match="one position in all layers, so choose all"):
                Edits(masks=masks)
            refused = set()
            assert read_edits(text, shape, refused) == Edits()
            assert refused == {text}
        else:
            changed = Edits(masks=masks).at_sites(shape, 9)
            assert {*changed} == {Site(kind, layers if which != layers else layers == "even")}
