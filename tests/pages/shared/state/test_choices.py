"""The choices that several pages share."""

import pytest

from headlight.model.shape import Shape
from headlight.model.translator import load
from headlight.pages.shared.state.choices import (
    EDITS,
    HEAD,
    LAYER,
    MASKED,
    SUMMARIES,
    TOO_MANY,
    padding,
    places_in,
)

SHAPE = load("en-fr").shape
SMALL = Shape({"encoder": (1, 2), "decoder": (2, 4)}, 40)


@pytest.mark.parametrize("head", [0, 7, *SUMMARIES])
def test_a_head_is_a_number_from_1_in_links_or_a_summary(head):
    assert HEAD.read(HEAD.write(head), SHAPE) == head
    assert HEAD.write(7) == "8"


def test_a_layer_is_one_of_the_deeper_side_and_a_head_of_the_one_with_more():
    assert LAYER.read("2", SMALL) == 1
    with pytest.raises(ValueError, match="from 1 to 2"):
        LAYER.read("3", SMALL)
    assert HEAD.read("4", SMALL) == 3
    with pytest.raises(ValueError, match="from 1 to 4"):
        HEAD.read("5", SMALL)


def test_hidden_words_are_places_from_0():
    assert places_in(MASKED.read("2,0,511", SHAPE)) == {0, 2, 511}
    assert places_in(MASKED.default) == set()


def test_edits_that_were_too_many_for_a_link_are_named_in_it():
    assert EDITS.read(TOO_MANY, SHAPE) == TOO_MANY


def test_no_padding_is_off():
    choice = padding("pad_to")
    for most in (None, 1, SHAPE.max_positions):
        assert choice.read(choice.write(most), SHAPE) == most
    assert choice.write(None) == "off"
    with pytest.raises(ValueError, match="is not from 1"):
        choice.read(str(SHAPE.max_positions + 1), SHAPE)
