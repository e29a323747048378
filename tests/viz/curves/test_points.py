import numpy as np

from headlight.viz import effect_points, head_plane, head_points, layer_colors
from tests.viz.unpacking import unpack

TRUE, ESTIMATED = np.array([-1.0, 0.5, 0.0]), np.array([-0.5, 0.25, 0.125])
NAMES = ["<b>one", "two", "three"]


def test_every_effect_travels_with_its_estimate_and_its_name():
    picture = effect_points(TRUE, ESTIMATED, NAMES, groups=["b", "a", "b"], named={0: "one"})
    header, values = unpack(picture, "<f4")
    np.testing.assert_array_equal(values.reshape(2, 3), [TRUE, ESTIMATED])
    assert header["told"][0] == "<b>one: estimated −0.500, true −1.000 nats"
    assert header["summary"].endswith(f"Furthest apart: {header['told'][0]}")
    assert [header["kinds"][group] for group in header["groups"]] == ["b", "a", "b"]
    assert header["named"] == [{"place": 0, "words": "one"}]
    assert (header["selected"], header["clickable"]) == (None, False)
    assert set(picture.numbers) == {"true", "estimated"}
    assert picture.numbers["true"].axes == {"effect": NAMES}


def test_heads_are_told_by_both_figures():
    groups = ["Encoder", "Encoder", "Cross-attention"]
    options = {"axes": ("entropy", "broad"), "units": ("nats", ""), "groups": groups}
    picture = head_points(TRUE, ESTIMATED, NAMES, **options)
    header, values = unpack(picture, "<f4")
    np.testing.assert_array_equal(values.reshape(2, 3), [TRUE, ESTIMATED])
    assert header["told"][1] == "two: entropy 0.500 nats, broad 0.250"
    assert header["axes"] == ["entropy, nats", "broad"]
    assert (header["equal"], header["clickable"]) == ("", True)
    assert set(picture.numbers) == {"entropy", "broad"}


def test_a_plane_has_no_axes():
    places = np.stack([TRUE, ESTIMATED], axis=1)
    told = ["one: nearest two", "two", "three"]
    picture = head_plane(places, NAMES, told, groups=["1", "1", "2"], named={2: "three"})
    header, values = unpack(picture, "<f4")
    np.testing.assert_array_equal(values.reshape(2, 3), places.T)
    assert (header["axes"], header["told"]) == (None, told)
    np.testing.assert_array_equal(picture.numbers["plane"].values, places)


def test_each_layer_has_a_colour_of_its_own():
    for count in (1, 5, 24):
        colors = layer_colors(count)
        assert len(set(colors)) == count
        assert all(len(color) == 7 for color in colors)
