import numpy as np
import pytest

from headlight.viz.colors import DIVERGING, limit_of


def lightness(color):
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_zero_is_nearly_the_paper_and_both_ends_stand_out():
    for paper, colors in DIVERGING.items():
        middle = lightness(colors[len(colors) // 2])
        ends = [lightness(colors[place]) for place in (0, -1)]
        assert (middle > 240 > max(ends)) if paper == "light" else (middle < 60 < min(ends))


@pytest.mark.parametrize("paper", DIVERGING)
def test_the_colours_go_steadily_away_from_zero(paper):
    steps = np.diff([lightness(color) for color in DIVERGING[paper]])
    half = len(steps) // 2
    away = -1 if paper == "light" else 1
    assert (away * steps[half:] > 0).all()
    assert (away * steps[:half] < 0).all()


def test_colours_end_at_the_largest_number_unless_few_lie_far_beyond():
    values = np.linspace(-1, 1, 100)
    assert limit_of(values) == (1.0, False)
    limit, clipped = limit_of(np.append(values, 50.0))
    assert clipped
    assert 0.9 < limit <= 1
    assert limit_of(np.array([0.1, 0.1, 50.0])) == (50.0, False)
    assert limit_of(np.zeros(40)) == (1.0, False)
    assert limit_of(np.append(np.zeros(40), 3.0)) == (3.0, False)
