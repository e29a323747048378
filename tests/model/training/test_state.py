import numpy as np
import pytest

from model.training.state import POINTS, thinned


@pytest.mark.parametrize("count", [0, 1, POINTS, POINTS + 1, 10_000])
def test_thinned_points_are_means_of_all_values(count):
    values = np.random.default_rng(0).random(count)
    ends, means = thinned(values, POINTS)
    assert len(ends) == len(means) <= POINTS
    starts = [0, *ends][: len(ends)]
    for start, end, mean in zip(starts, ends, means, strict=True):
        assert mean == pytest.approx(values[start:end].mean())
    assert count == (ends[-1] if count else 0)
