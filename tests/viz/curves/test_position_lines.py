import numpy as np
import pytest

from headlight.viz import position_lines, wavelengths
from headlight.viz.numbers import from_chart


def rows(chart):
    return chart.data.to_dict("records")


def test_every_line_has_its_numbers_by_place():
    chart = position_lines({"sin": np.array([0.0, 0.8]), "cos": np.array([1.0, 0.5])})
    assert [(row["line"], row["place"], row["value"]) for row in rows(chart)] == [
        ("sin", 0, 0.0),
        ("sin", 1, 0.8),
        ("cos", 0, 1.0),
        ("cos", 1, 0.5),
    ]
    assert chart.to_dict()["encoding"]["color"]["scale"]["domain"] == ["sin", "cos"]


def test_names_are_whole_and_so_are_marks_between_whole_places():
    lines = {"sinusoidal, the shipped model": np.zeros(3), "learned": np.ones(3)}
    encoding = position_lines(lines).to_dict()["encoding"]
    assert encoding["color"]["legend"]["labelLimit"] == 0
    assert encoding["x"]["axis"]["tickMinStep"] == 1
    halves = position_lines(lines, [0, 0.5, 1]).to_dict()["encoding"]
    assert "tickMinStep" not in halves["x"].get("axis", {})


def test_a_legend_takes_no_room_from_the_plot_and_a_single_line_has_none():
    one = position_lines({"a": np.zeros(2)}).to_dict()
    assert one["encoding"]["color"]["legend"] is None
    seven = position_lines({f"line {number}": np.zeros(2) for number in range(7)}).to_dict()
    assert seven["height"] > one["height"] > 200


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        (["511 · cos", "sinusoidal"], 3),
        (["smoothing 0.05", "smoothing 0.1"], 2),
        (["Sinusoidal, the shipped model", "Learned"], 1),
    ],
)
def test_names_stand_side_by_side_as_far_as_a_phone_has_room(names, columns):
    encoding = position_lines({name: np.zeros(2) for name in names}).to_dict()["encoding"]
    assert encoding["color"]["legend"]["columns"] == columns


def test_a_line_that_ends_is_not_drawn_on():
    chart = position_lines({"on": np.zeros(3), "ends": np.array([1.0, np.nan, np.nan])})
    assert [row["place"] for row in rows(chart) if row["line"] == "ends"] == [0]
    assert len([row for row in rows(chart) if row["line"] == "on"]) == 3


def test_a_band_lies_around_its_own_line():
    lines = {"a": np.array([1.0, 2.0]), "b": np.array([5.0, 5.0])}
    chart = position_lines(lines, bands={"a": (np.array([0.0, 1.0]), np.array([2.0, 4.0]))})
    assert [(row["low"], row["high"]) for row in rows(chart)] == [
        (0, 2), (1, 4), (5, 5), (5, 5),
    ]  # fmt: skip
    assert chart.to_dict()["layer"][0]["mark"]["type"] == "area"


def test_a_logarithmic_scale_goes_down_to_zero():
    chart = position_lines({"pairs": np.array([1000.0, 0.0])}, logarithmic=True)
    assert chart.to_dict()["encoding"]["y"]["scale"]["type"] == "symlog"
    assert len(rows(chart)) == 2


def test_a_wavelength_names_both_dimensions_of_its_pair():
    chart = wavelengths(np.array([6.28, 62.8]), positions=50)
    points = chart.layer[0].data.to_dict("records")
    assert points[1] == {"pair": 1, "dimensions": "2 and 3", "wavelength": 62.8}
    encoding = chart.to_dict()["layer"][0]["encoding"]
    assert encoding["x"]["axis"]["tickMinStep"] == 1
    assert encoding["y"]["scale"]["type"] == "log"
    assert "2i and 2i + 1" in encoding["x"]["title"]
    assert chart.layer[1].data.to_dict("records")[0]["wavelength"] == 50


def test_the_numbers_are_dots_on_a_curve_that_goes_through_them():
    whole, fine = np.arange(20), np.arange(0, 19.01, 0.25)
    chart = position_lines({"sin": np.sin(whole)}, curves=(fine, {"sin": np.sin(fine)}))
    dots, curve = chart.layer
    assert (dots.mark.type, curve.mark.type) == ("circle", "line")
    on_curve = {row["place"]: row["value"] for row in rows(curve)}
    assert len(rows(dots)) == 20
    assert all(on_curve[row["place"]] == row["value"] for row in rows(dots))
    np.testing.assert_allclose(list(on_curve.values()), np.sin(list(on_curve)))
    (numbers,) = from_chart(chart).values()
    np.testing.assert_array_equal(numbers.values, np.sin(whole))
