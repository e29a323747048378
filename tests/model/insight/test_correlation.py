import numpy as np
import pytest

from headlight.model.insight.correlation import rank_correlation, ranks


def test_ranks_of_equal_numbers_are_the_mean_of_theirs():
    assert ranks(np.array([[3.0, 1.0], [3.0, 9.0]])).tolist() == [2.5, 1, 2.5, 4]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1, 2, 3], [10, 100, 1000], 1),
        ([1, 2, 3], [3, 2, 1], -1),
        ([1, 2, 3, 4, 5], [5, 6, 7, 8, 7], 0.8207826817),  # of scipy.stats.spearmanr
        ([1, 1, 1], [1, 2, 3], np.nan),
    ],
)
def test_the_rank_correlation_is_spearmans(first, second, expected):
    result = rank_correlation(np.array(first), np.array(second))
    assert result == pytest.approx(expected, nan_ok=True)
