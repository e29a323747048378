import numpy as np

from headlight.viz import sum_bars
from headlight.viz.colors import DIVERGING
from tests.viz.unpacking import unpack

WORDS = {"ends": ("for “a”", "for “b”"), "total": "Sum"}


def test_the_parts_travel_with_their_sum_and_their_weights():
    picture = sum_bars(
        np.array([1.5, -2.0]), ["<b>", "x"], weights=np.array([0.25, 0.75]), beside="ok", **WORDS
    )
    header, values = unpack(picture, "<f4")
    np.testing.assert_array_equal(values.reshape(2, 2), [[1.5, -2.0], [0.25, 0.75]])
    assert (header["sum"], header["limit"], header["weighed"]) == (-0.5, 2.0, True)
    assert (header["names"], header["ends"], header["beside"]) == (
        ["<b>", "x"],
        ["for “a”", "for “b”"],
        "ok",
    )
    assert set(picture.numbers) == {"nats", "weight"}


def test_the_colours_of_a_sign_are_those_of_maps():
    header, _ = unpack(sum_bars(np.zeros(2), ["a", "b"], **WORDS), "<f4")
    for theme, (above, below) in header["colors"].items():
        scale = DIVERGING[theme]
        assert scale.index(below) < len(scale) // 2 < scale.index(above)


def test_parts_that_are_all_nothing_are_drawn():
    header, values = unpack(sum_bars(np.zeros(2), ["a", "b"], **WORDS), "<f4")
    assert (header["sum"], header["limit"], header["weighed"]) == (0.0, 1.0, False)
    assert len(values) == 2


def test_parts_that_do_not_add_up_stand_over_what_they_are_together_in_their_unit():
    picture = sum_bars(np.array([1.0, 2.0]), ["a", "b"], unit="%", whole=2.5, **WORDS)
    header, _ = unpack(picture, "<f4")
    assert (header["sum"], header["unit"]) == (2.5, "%")
    assert set(picture.numbers) == {"%"}
