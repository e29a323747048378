"""What each sort of choice takes from a link, and what it writes into one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.model.translator import load
from headlight.pages.shared.state.choice import counted, like, number, one_of, switch, text

SHAPE = load("en-fr").shape


@pytest.fixture
def colour():
    return one_of("colour", {"red": "Red wine", "blue": "Sky"})


def test_an_option_is_written_by_its_key_and_never_by_its_words(colour):
    assert colour.default == "red"
    assert colour.write("blue") == "blue"
    assert colour.read("blue", SHAPE) == "blue"
    with pytest.raises(ValueError, match="Sky is not one of red, blue"):
        colour.read("Sky", SHAPE)


def test_options_may_be_numbers():
    width = one_of("width", {8: "8", 64: "64"}, 64)
    assert (width.default, width.read(width.write(8), SHAPE)) == (64, 8)
    with pytest.raises(ValueError, match="16 is not one of 8, 64"):
        width.read("16", SHAPE)


@pytest.mark.parametrize("written", ["0", "9", "2.5", "", "two", "nan", "9" * 5_000])
def test_a_whole_number_is_within_its_bounds(written):
    with pytest.raises(ValueError):  # noqa: PT011  int() has words of its own
        number("n", 1, (1, 8)).read(written, SHAPE)


@pytest.mark.parametrize("written", ["nan", "inf", "-0.1", "2.01", "1e999", ""])
def test_a_number_is_within_its_bounds(written):
    with pytest.raises(ValueError):  # noqa: PT011  float() has words of its own
        number("n", 1.0, (0.0, 2.0)).read(written, SHAPE)


@given(st.integers(-3, 12))
def test_things_in_a_row_count_from_0_here_and_from_1_in_links(place):
    choice = counted("layer", 0, lambda shape: shape.layers("decoder"))
    if 0 <= place < SHAPE.layers("decoder"):
        assert choice.write(place) == str(place + 1)
        assert choice.read(choice.write(place), SHAPE) == place
    else:
        with pytest.raises(ValueError, match="is not from 1 to 3"):
            choice.read(str(place + 1), SHAPE)


@given(st.text())
def test_a_text_is_cut_where_it_is_too_long(written):
    choice = text("words", "", 5)
    assert choice.cuts
    assert choice.read(written, SHAPE) == written[:5]


def test_a_text_that_may_not_be_empty_is_not():
    assert text("words", "a", 5).read("", SHAPE) == ""
    with pytest.raises(ValueError, match="no text"):
        text("words", "a", 5, may_be_empty=False).read("", SHAPE)


def test_a_text_follows_its_pattern_as_a_whole_or_is_empty():
    choice = like("places", "", r"\d(,\d)*")
    assert [choice.read(written, SHAPE) for written in ("", "1,2")] == ["", "1,2"]
    for written in ("1,", "1\n", "\u0662"):
        with pytest.raises(ValueError, match="does not follow"):
            choice.read(written, SHAPE)


def test_a_switch_is_on_or_off():
    choice = switch("own_scale")
    for value in (True, False):
        assert choice.read(choice.write(value), SHAPE) is value
    for written in ("True", "1", "", "ON"):
        with pytest.raises(ValueError, match="neither on nor off"):
            choice.read(written, SHAPE)
