import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from headlight.model.edits import (
    EXTRA,
    MOST_CELLS,
    TRAINED,
    CellEdit,
    Edits,
    read_edits,
    write_edits,
)
from headlight.model.shape import shape_of
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.trace import KINDS

CONFIG = TransformerConfig(
    20, 20, d_model=16, heads=4, encoder_layers=2, decoder_layers=3, max_positions=32
)
POSITIONS = 12
kinds = st.sampled_from(KINDS)
places = st.integers(0, POSITIONS - 1)
maybe_layer, maybe_head = (st.none() | st.integers(0, most) for most in (1, 3))
cells = st.builds(CellEdit, kinds, places, places, st.booleans(), maybe_layer, maybe_head)
edits_of_any_kind = st.builds(
    Edits,
    off=st.sets(st.sampled_from([*TRAINED])),
    masks=st.dictionaries(
        st.tuples(st.just("window"), kinds, st.sampled_from(["all", "odd", "even", 0, 1])),
        st.tuples(st.integers(0, POSITIONS)),
    ),
    cells=st.lists(cells, max_size=30).map(tuple),
    gates=st.dictionaries(
        st.tuples(kinds, st.integers(0, 1), st.integers(0, 3)),
        st.integers(0, 100).map(lambda percent: percent / 100),
    ),
    together=st.sampled_from(["all", "any", "only"]),
)


def parts(edits):
    sites = edits.at_sites(shape_of(CONFIG), POSITIONS)
    for site, edit in sites.items():
        for name, part in vars(edit).items():
            if part is not None:
                yield site, name, part


@given(edits_of_any_kind)
def test_what_is_read_has_the_effect_of_what_was_written(edits):
    read = read_edits(write_edits(edits), shape_of(CONFIG))
    for (site, name, part), (*place, again) in zip(parts(edits), parts(read), strict=True):
        assert [site, name] == place
        assert_close(part, again, rtol=0, atol=1e-7)


@given(edits_of_any_kind)
def test_the_text_of_what_is_read_is_the_same(edits):
    text = write_edits(edits)
    assert write_edits(read_edits(text, shape_of(CONFIG))) == text
    assert re.fullmatch(r"[a-z0-9.~-]*", text)  # needs no escapes in an address


def test_a_rectangle_is_one_part():
    block = tuple(CellEdit("decoder", q, k, False) for q in range(2, 8) for k in range(5))
    assert write_edits(Edits(cells=block)) == "close.decoder.all.all.3-8.1-5"


def test_alike_heads_of_a_layer_are_one_part():
    gates = {("encoder", 0, head): 0.0 for head in range(4)} | {("cross", 1, 0): 0.5}
    assert write_edits(Edits(gates=gates)) == "gate.encoder.1.1-4.0~gate.cross.2.1.50"
    assert read_edits("gate.encoder.1.1-4.0~gate.cross.2.1.50", shape_of(CONFIG)).gates == gates


@pytest.mark.parametrize(
    "text",
    [
        "~",
        "look-ahead.on",
        "window.sideways.2",
        "window.decoder.-1",
        "window.decoder.33",
        "window.decoder",
        "window.decoder-4.1",
        "masks.some",
        "window.decoder.1.2",
        "window.off",
        "gate.cross.4.1.0",
        "gate.cross.1.5.0",
        "gate.cross.1.1.101",
        "gate.cross.1.2-1.0",
        "gate.cross.1.1-5.0",
        "gate.cross.all.1.0",
        "gate.cross.1.1.nan",
        "close.decoder.all.all.0.1",
        "close.decoder.all.all.2-1.1",
        "close.decoder.all.all.1.1-",
        "close.decoder.all.9.1.1",
        "close.decoder.all.all.1.99999999999999999999",
        "close.decoder.all.all.١.1",
        "<script>",
    ],
)
def test_what_is_no_edit_is_refused(text):
    with pytest.raises(ValueError, match=r"^(This|Local window) (is not a|does not take these) "):
        read_edits(text, shape_of(CONFIG))


def test_a_short_text_cannot_change_more_cells_than_are_kept():
    text = "~".join(["close.encoder.all.all.1-32.1-32"] * (MOST_CELLS // 1024 + 1))
    with pytest.raises(ValueError, match="5000"):
        read_edits(text, shape_of(CONFIG))


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    try:
        edits = read_edits(text, shape_of(CONFIG))
    except ValueError:
        return
    assert all(torch.isfinite(part).all() for *_, part in parts(edits))


ABSURD = ["-1", "99999999999999999999", "1e9", "0x10", "nan", "inf", "²", "", "1" * 5000]


@pytest.mark.parametrize("number", ABSURD)
def test_an_absurd_number_of_a_link_is_refused_wherever_it_stands(number):
    parts = ["gate.cross.1.1.50", "close.cross.1.1.2.2"]
    parts += [
        ".".join([mask.name, mask.kinds[0], *map(str, mask.offered[0])]) for mask in EXTRA.values()
    ]
    for part in parts:
        texts = part.split(".")
        for place in range(2, len(texts)):
            text = ".".join([*texts[:place], number, *texts[place + 1 :]])
            with pytest.raises(ValueError, match=r"is not a|does not take these numbers"):
                read_edits(text, shape_of(CONFIG))


@pytest.mark.parametrize("number", [-1, 10**9, 10**30, 2.5, float("nan"), float("inf"), "x"])
@pytest.mark.parametrize("mask", EXTRA.values(), ids=EXTRA.keys())
def test_an_absurd_number_of_a_mask_is_refused_in_a_notebook_too(mask, number):
    for place in range(len(mask.offered[0])):
        setting = [*mask.offered[0]]
        setting[place] = number
        with pytest.raises(ValueError, match="not a number from"):
            Edits(masks={(mask.name, mask.kinds[0]): setting})


@pytest.mark.parametrize("number", [-1, 10**9, 10**30])
def test_cells_and_heads_that_a_model_lacks_change_nothing(number):
    cells = [CellEdit("cross", 1, 1, False, head=number), CellEdit("cross", number, 1, False)]
    cells += [CellEdit("cross", 1, number, False), CellEdit("cross", 1, 1, False, layer=number)]
    gates = {("cross", 0, number): 0.0, ("cross", number, 0): 0.0}
    assert Edits(cells=cells, gates=gates).at_sites(shape_of(CONFIG), POSITIONS) == {}
    far = Edits(cells=[CellEdit("cross", row, 1, False) for row in (1, abs(number))])
    assert len(write_edits(far).split("~")) == (1 if number == -1 else 2)  # not row by row
