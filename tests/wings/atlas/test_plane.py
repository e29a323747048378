"""A plane from distances."""

import numpy as np
import pytest

from headlight.wings.atlas.figures import nearest, plane_of

POINTS = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0], [-1.0, 2.5], [2.0, 2.0]])


def distances_of(points):
    return np.linalg.norm(points[:, None] - points[None], axis=-1)


def test_points_of_a_plane_keep_their_distances():
    result = plane_of(distances_of(POINTS))
    np.testing.assert_allclose(distances_of(result.points), distances_of(POINTS), atol=1e-9)
    assert result.kept == pytest.approx(1)


def test_of_more_dimensions_it_keeps_the_share_that_it_says():
    points = np.random.default_rng(0).normal(size=(12, 5))
    result = plane_of(distances_of(points))
    kept = (distances_of(result.points) ** 2).sum() / (distances_of(points) ** 2).sum()
    assert result.kept == pytest.approx(kept)
    assert 0.4 < result.kept < 1


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_points_and_equal_ones(count):
    result = plane_of(np.zeros((count, count)))
    np.testing.assert_array_equal(result.points, np.zeros((count, 2)))
    assert result.kept == 1
    apart = plane_of(distances_of(POINTS[:count]))
    np.testing.assert_allclose(distances_of(apart.points), distances_of(POINTS[:count]), atol=1e-9)


def test_the_nearest_come_first_without_the_point_itself():
    assert nearest(distances_of(POINTS), 0, 2) == [3, 4]
    assert nearest(distances_of(POINTS), 2, 9) == [3, 4, 0, 1]
