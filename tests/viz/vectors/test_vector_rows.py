import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from headlight.viz import Row, vector_rows
from headlight.viz.vectors.vector_rows import rounded_parts
from tests.viz.unpacking import unpack


def shown(text):
    return round(float(text.replace("−", "-")) * 1_000)


@given(arrays(np.float64, st.integers(1, 60), elements=st.floats(-50, 50)))
def test_what_is_shown_adds_up_and_is_off_by_one_step_at_most(values):
    total = values.sum()
    parts = rounded_parts(values, total, 4)
    assert round(parts.sum() * 10_000) == round(total * 10_000)
    assert np.abs(parts - values).max() < 1.001e-4


def test_the_texts_of_a_row_with_a_total_sum_to_the_total_in_its_note():
    values = np.random.default_rng(0).normal(size=32)
    header, body = unpack(vector_rows([Row("q·k", values, total=values.sum())]), "<f4")
    (row,) = header["rows"]
    assert sum(shown(text) for text in row["texts"]) == shown(row["note"].removeprefix("sum "))
    np.testing.assert_allclose(body, values, rtol=1e-6)


def test_rows_share_a_scale_but_probabilities_have_their_own():
    rows = [Row("a", np.array([-3.0, 1.0])), Row("p", np.array([0.9, 0.1]), probabilities=True)]
    header, _ = unpack(vector_rows(rows, columns=["<b>", "x"], marked=[1]))
    assert header["rows"][0]["limit"] == 3.0
    assert (header["columns"], header["marked"]) == (["<b>", "x"], [1])


def test_what_is_blocked_is_shown_as_minus_infinity_and_has_no_colour():
    header, body = unpack(vector_rows([Row("masked", np.array([1.0, -np.inf]))]), "<f4")
    assert header["rows"][0]["texts"] == ["1.000", "−∞"]
    assert np.isnan(body[1])
    assert header["rows"][0]["limit"] == 1.0


def test_rows_of_different_units_have_scales_of_their_own():
    rows = [Row("a", np.array([-3.0, 1.0])), Row("b", np.array([0.5, 0.0]))]
    for own, expected in ((False, [3.0, 3.0]), (True, [3.0, 0.5])):
        header, _ = unpack(vector_rows(rows, own_scales=own))
        assert [row["limit"] for row in header["rows"]] == expected


def test_notes_say_where_scales_of_their_own_end():
    rows = [
        Row("a", np.array([-3.0, 1.0])),
        Row("p", np.array([0.9]).repeat(2), probabilities=True),
    ]
    header, _ = unpack(vector_rows(rows, own_scales=True))
    assert [row["note"] for row in header["rows"]] == ["±3.000", ""]


def test_one_outlier_among_dimensions_takes_no_colour_from_the_others():
    values = np.linspace(-1, 1, 64)
    values[7] = 40.0
    header, body = unpack(vector_rows([Row("stream", values)]), "<f4")
    assert header["clipped"]
    assert header["rows"][0]["limit"] <= 1
    assert body[7] == 40.0
    header, _ = unpack(vector_rows([Row("scores", values)], columns=[""] * 64))
    assert (header["clipped"], header["rows"][0]["limit"]) == (False, 40.0)
