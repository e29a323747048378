"""The choices that several pages share."""

import pytest

from model import load
from model.config import TransformerConfig
from pages.shared.state.choices import (
    EDITS,
    HEAD,
    HEAD_NUMBER,
    LAYER,
    SUMMARIES,
    TOO_MANY,
    padding,
)

CONFIG = load("en-fr").model.config
SMALL = TransformerConfig(9, 9, d_model=8, heads=2, encoder_layers=1, decoder_layers=2, d_ff=8)


@pytest.mark.parametrize("head", [0, 7, *SUMMARIES])
def test_a_head_is_a_number_from_1_in_links_or_a_summary(head):
    assert HEAD.read(HEAD.write(head), CONFIG) == head
    assert HEAD.write(7) == "8"


@pytest.mark.parametrize(
    ("choice", "written"),
    [
        (HEAD, "9"),
        (HEAD, "0"),
        (HEAD, "median"),
        (HEAD_NUMBER, "9"),
        (HEAD_NUMBER, "mean"),
        (LAYER, "4"),
        (LAYER, "0"),
        (LAYER, "two"),
        (EDITS, "gate.cross.1.9.0"),
        (EDITS, "look-ahead.maybe"),
    ],
)
def test_what_the_model_does_not_have_is_refused(choice, written):
    with pytest.raises(ValueError):  # noqa: PT011  each has its own words
        choice.read(written, CONFIG)


def test_a_layer_is_one_of_the_deeper_side():
    assert LAYER.read("2", SMALL) == 1
    with pytest.raises(ValueError, match="from 1 to 2"):
        LAYER.read("3", SMALL)


def test_edits_that_were_too_many_for_a_link_are_named_in_it():
    assert EDITS.read(TOO_MANY, CONFIG) == TOO_MANY


def test_no_padding_is_off():
    choice = padding("pad_to")
    for most in (None, 1, CONFIG.max_positions):
        assert choice.read(choice.write(most), CONFIG) == most
    assert choice.write(None) == "off"
    with pytest.raises(ValueError, match="is not from 1"):
        choice.read(str(CONFIG.max_positions + 1), CONFIG)
