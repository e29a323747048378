import pytest

from headlight.model.translator import load
from headlight.pages.parts.positions.tables import dimensions, pairs_of_all_speeds

CONFIG = load("en-fr").model.config
DIMENSIONS = dimensions("dimensions")


@pytest.mark.parametrize("chosen", [(), (0,), (5, 2, 511)])
def test_dimensions_are_read_as_they_were_written(chosen):
    assert DIMENSIONS.read(DIMENSIONS.write(chosen), CONFIG) == chosen


@pytest.mark.parametrize("written", ["", "x", "1,", "-1", "10000", "1,2,3,4,5,6,7,8,9", "1.5"])
def test_what_is_not_a_few_dimensions_is_refused(written):
    with pytest.raises(ValueError):  # noqa: PT011  int() has words of its own
        DIMENSIONS.read(written, CONFIG)


@pytest.mark.parametrize("width", [2, 8, 64, 256, 1_024])
def test_pairs_of_all_speeds_are_whole_pairs_of_the_table(width):
    numbers = pairs_of_all_speeds(width)
    assert set(numbers) <= set(range(width))
    assert numbers[::2] == [number - 1 for number in numbers[1::2]]
