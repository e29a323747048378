"""What the grid of all heads sends of large inputs."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from headlight.viz import head_grid, selected_map
from headlight.viz.arrays import as_levels
from headlight.viz.maps.head_grid import MOST_CELLS, join_cells, joined_shape
from tests.viz.unpacking import unpack

sizes = st.integers(1, 2_000)


def read(picture):
    """The header and the maps of a grid."""
    header, maps = unpack(picture, np.uint8)
    return header, maps.reshape(len(header["rows"]), len(header["columns"]), *header["cells"])


def parts(length, count):
    """Slices of a range, as even as they can be: each begins where its share begins."""
    return [slice(part * length // count, (part + 1) * length // count) for part in range(count)]


def joined_naively(map_, rows, columns):
    queries, keys = map_.shape
    return np.array(
        [
            [map_[row, column].max() for column in parts(keys, columns)]
            for row in parts(queries, rows)
        ]
    )


@given(maps=st.integers(1, 20_000), queries=sizes, keys=sizes)
def test_all_maps_together_stay_within_the_bound_and_waste_none_of_it(maps, queries, keys):
    rows, columns = joined_shape(maps, queries, keys)
    assert 1 <= rows <= queries
    assert 1 <= columns <= keys
    assert maps * rows * columns <= MOST_CELLS
    if maps * queries * keys <= MOST_CELLS:
        assert (rows, columns) == (queries, keys)
    if rows < queries:
        assert maps * (rows + 1) * columns > MOST_CELLS
    if columns < keys:
        assert maps * rows * (columns + 1) > MOST_CELLS


@given(
    map_=arrays(
        np.float32, st.tuples(*[st.integers(1, 12)] * 2), elements=st.floats(0, 1, width=32)
    ),
    data=st.data(),
)
def test_a_joined_cell_has_the_largest_of_its_weights(map_, data):
    rows, columns = (data.draw(st.integers(1, length)) for length in map_.shape)
    joined = join_cells(map_[None, None], rows, columns)
    np.testing.assert_array_equal(joined[0, 0], joined_naively(map_, rows, columns))
    assert joined.max() == map_.max()


@pytest.mark.parametrize("own_scale", [False, True])
def test_a_grid_of_joined_cells_is_the_whole_grid_joined(monkeypatch, own_scale):
    weights = np.random.default_rng(0).dirichlet(np.full(30, 0.2), (2, 3, 20))  # (2, 3, 20, 30)
    words = [f"q{position}" for position in range(20)], [f"k{index}" for index in range(30)]
    whole_header, whole = read(head_grid(weights, *words, own_scale=own_scale))
    assert whole.shape == weights.shape
    monkeypatch.setitem(joined_shape.__globals__, "MOST_CELLS", 6 * 50)
    header, joined = read(head_grid(weights, *words, own_scale=own_scale))
    assert joined.shape == (2, 3, 7, 7)
    for layer, head in np.ndindex(2, 3):
        expected = joined_naively(whole[layer, head], 7, 7)
        np.testing.assert_array_equal(joined[layer, head], expected)
    assert header["strongest"] == whole_header["strongest"]


def test_512_tokens_of_a_base_model_stay_small_and_name_the_strongest_weights():
    weights = np.random.default_rng(1).random((12, 12, 512, 512), dtype=np.float32)
    places = np.random.default_rng(2).integers(0, 512, (12, 12, 2))
    for layer, head in np.ndindex(12, 12):
        weights[layer, head][*places[layer, head]] = 1.5
    words = [f"token {position}" for position in range(512)]
    picture = head_grid(weights, words)
    assert len(picture.data) < 1_200_000
    header, maps = read(picture)
    assert [named[:2] for named in header["strongest"]] == places.reshape(-1, 2).tolist()
    assert (maps.max(axis=(-2, -1)) == 255).all()


@pytest.mark.parametrize("own_scale", [False, True])
@pytest.mark.parametrize("most", [MOST_CELLS, 6 * 50])
def test_a_grid_of_bytes_is_that_of_the_weights_they_stand_for(monkeypatch, own_scale, most):
    monkeypatch.setitem(joined_shape.__globals__, "MOST_CELLS", most)
    weights = np.random.default_rng(0).dirichlet(np.full(30, 0.2), (2, 3, 20))  # (2, 3, 20, 30)
    levels = as_levels(weights)
    words = [f"q{position}" for position in range(20)], [f"k{index}" for index in range(30)]
    rounded = head_grid(levels / np.float32(255), *words, own_scale=own_scale)
    assert head_grid(levels, *words, own_scale=own_scale) == rounded
    if not own_scale:
        _, drawn = read(head_grid(levels, *words))
        _, exact = read(head_grid(weights, *words))
        np.testing.assert_array_equal(drawn, exact)


def test_layers_need_no_stack_and_may_differ_in_how_they_are_kept():
    weights = np.random.default_rng(0).dirichlet(np.ones(5), (3, 2, 4)).astype(np.float32)
    words = list("abcd"), list("vwxyz")
    assert head_grid(list(weights), *words) == head_grid(weights, *words)
    mixed = [weights[0], as_levels(weights[1]), weights[2]]
    _, drawn = read(head_grid(mixed, *words))
    np.testing.assert_array_equal(drawn, as_levels(weights))


def test_the_largest_bert_in_bytes_takes_little_memory_beside_them():
    layer = np.random.default_rng(0).integers(0, 256, (34, 512, 512), np.uint8)
    words = [f"token {position}" for position in range(512)]
    tracemalloc.start()
    picture = head_grid([layer] * 32, words)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 32e6  # bytes, of 285e6 weights
    assert len(picture.data) < 1_200_000


def test_a_row_without_numbers_is_refused_and_one_of_zeros_is_drawn():
    weights = np.full((2, 3, 2, 2), 0.5)
    weights[1, 2, 0] = np.nan
    with pytest.raises(ValueError, match=r"every key masked.*nan_to_num"):
        head_grid(weights, ["a", "b"])
    _, maps = read(head_grid(np.nan_to_num(weights), ["a", "b"]))
    assert maps[1, 2].tolist() == [[0, 0], [128, 128]]


@pytest.mark.parametrize("place", [None, (0, 0), (2, 9)])
def test_a_selected_map_is_a_layer_and_a_column_or_none(place):
    header, body = unpack(selected_map(place))
    assert header == {"place": list(place) if place else None}
    assert body == b""


def test_a_linked_grid_is_the_same_whatever_is_selected_elsewhere():
    grid = head_grid(np.full((1, 2, 1, 1), 0.5), ["a"], linked=True)
    header, _ = read(grid)
    assert header["linked"]
    assert header["selected"] is None
