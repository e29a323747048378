"""Weights over the image whose patches they belong to."""

import base64
import io

import numpy as np
import pytest
import torch
from PIL import Image

from headlight.viz import head_grid, image_weights
from headlight.viz.images import as_png
from tests.viz.unpacking import unpack

RANDOM = np.random.default_rng(0)
WEIGHTS = RANDOM.dirichlet(
    np.ones(7), (2, 3, 7)
)  # (layers, heads, 7, 7): a class and 2 x 3 patches
DOTS = RANDOM.integers(0, 256, (8, 12, 3), dtype=np.uint8)


def dots_of(address):
    data = base64.b64decode(address.removeprefix("data:image/png;base64,"))
    return np.asarray(Image.open(io.BytesIO(data)))


@pytest.mark.parametrize(
    "image",
    [DOTS, Image.fromarray(DOTS), torch.tensor(DOTS), torch.tensor(DOTS).permute(2, 0, 1)[None]],
)
def test_an_image_is_the_same_in_all_its_forms(image):
    assert np.array_equal(dots_of(as_png(image)), DOTS)


def test_normalized_numbers_are_stretched():
    numbers = np.linspace(-2, 3, 96, dtype=np.float32).reshape(8, 12)
    dots = dots_of(as_png(numbers))
    expected = np.rint((numbers + 2) / 5 * 255)
    assert np.array_equal(dots, np.repeat(expected[..., None], 3, axis=2))


def test_the_grid_shows_what_the_class_or_a_patch_sees():
    for query in (0, 4):
        picture = head_grid(WEIGHTS, image=DOTS, patches=(2, 3), query=query)
        header, levels = unpack(picture, np.uint8)
        rows = WEIGHTS[:, :, query, 1:]
        expected = np.rint(rows / rows.max(-1, keepdims=True) * 255)
        assert np.array_equal(levels.reshape(rows.shape), expected)
        assert header["queries"] == ["row 1", "row 2"]
        assert header["keys"] == ["column 1", "column 2", "column 3"]
        assert np.array_equal(dots_of(header["image"]), DOTS)
        row, column, largest = header["strongest"][4]
        assert largest == rows[1, 1].max() == rows[1, 1, 3 * row + column]


def test_one_row_is_drawn_with_its_numbers():
    picture = image_weights(torch.tensor(WEIGHTS[1, 2, 0]), DOTS, (2, 3))
    header, levels = unpack(picture, np.uint8)
    row = WEIGHTS[1, 2, 0, 1:]
    np.testing.assert_allclose(header["weights"], row, atol=1e-6)
    assert np.array_equal(levels, np.rint(row / row.max() * 255))
    np.testing.assert_allclose(picture.numbers["weight"].values, row.reshape(2, 3), rtol=1e-6)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: head_grid(WEIGHTS, image=DOTS), "Give both image"),
        (lambda: head_grid(WEIGHTS, image=DOTS, patches=(4, 3)), "7 keys, but patches=.* are 12"),
        (lambda: head_grid(WEIGHTS, image=DOTS, patches=(2, 3), query=7), "no query 7"),
        (lambda: image_weights(WEIGHTS[0, 0], DOTS, (2, 3)), "one query's weights"),
        (lambda: image_weights(WEIGHTS[0, 0, 0], DOTS[None, None], (2, 3)), "no image"),
        (lambda: image_weights(WEIGHTS[0, 0, 0], DOTS * np.nan, (2, 3)), "infinite or NaN"),
    ],
)
def test_what_does_not_fit_is_refused(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
