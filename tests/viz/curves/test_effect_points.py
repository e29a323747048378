import numpy as np
import pytest

from tests.viz.unpacking import unpack
from viz import effect_points

TRUE, ESTIMATED = np.array([-1.0, 0.5, 0.0]), np.array([-0.5, 0.25, 0.125])
NAMES = ["<b>one", "two", "three"]


def test_every_effect_travels_with_its_estimate_and_its_name():
    picture = effect_points(TRUE, ESTIMATED, NAMES, groups=["b", "a", "b"], named={0: "one"})
    header, values = unpack(picture, "<f4")
    np.testing.assert_array_equal(values.reshape(2, 3), [TRUE, ESTIMATED])
    assert header["names"] == NAMES
    assert [header["kinds"][group] for group in header["groups"]] == ["b", "a", "b"]
    assert header["named"] == [{"place": 0, "words": "one"}]
    assert (header["selected"], header["clickable"]) == (None, False)
    assert set(picture.numbers) == {"true", "estimated"}
    assert picture.numbers["true"].axes == {"effect": NAMES}


def test_without_groups_all_points_are_of_one():
    header, _ = unpack(effect_points(TRUE, ESTIMATED, NAMES, selected=2, clickable=True))
    assert (header["groups"], header["kinds"]) == ([0, 0, 0], [""])
    assert (header["selected"], header["clickable"]) == (2, True)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="3 true effects, 2 estimated ones, 3 names"):
        effect_points(TRUE, ESTIMATED[:2], NAMES)
    many = np.zeros(9)
    names = list(map(str, range(9)))
    with pytest.raises(ValueError, match="9 groups are more than the 8 colours"):
        effect_points(many, many, names, groups=names)
