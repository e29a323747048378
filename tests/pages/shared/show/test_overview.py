import numpy as np

from headlight.pages.shared.show.overview import with_summaries
from headlight.viz.arrays import as_levels

LAYERS = np.random.default_rng(0).random((3, 4, 5, 6), dtype=np.float32)


def test_the_mean_and_the_largest_of_each_layer_follow_its_heads():
    maps = with_summaries(list(LAYERS))
    assert maps.dtype == np.float32
    np.testing.assert_array_equal(maps[:, :4], LAYERS)
    np.testing.assert_array_equal(maps[:, 4], LAYERS.mean(axis=1))
    np.testing.assert_array_equal(maps[:, 5], LAYERS.max(axis=1))


def test_summaries_of_bytes_are_bytes_and_the_mean_is_rounded():
    levels = as_levels(LAYERS)
    maps = with_summaries(list(levels))
    assert maps.dtype == np.uint8
    np.testing.assert_array_equal(maps[:, :4], levels)
    np.testing.assert_array_equal(maps[:, 4], np.rint(levels.astype(float).mean(axis=1)))
    np.testing.assert_array_equal(maps[:, 5], levels.max(axis=1))


def test_one_layer_in_floats_among_others_in_bytes_becomes_bytes():
    levels = as_levels(LAYERS)
    mixed = with_summaries([LAYERS[0], *levels[1:]])
    np.testing.assert_array_equal(mixed, with_summaries(list(levels)))
