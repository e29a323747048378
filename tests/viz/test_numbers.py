import csv
import io
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from headlight.viz import head_grid, position_lines, wavelengths
from headlight.viz.numbers import (
    FORMULA,
    Numbers,
    as_cell,
    count,
    from_chart,
    largest,
    number_text,
    power_text,
    to_csv,
    to_npz,
    writable,
)

NASTY = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "'=1", 'a"b,c', "a\nb"]
NASTY += ["\0", "a\0", "\ud800", "é😀", "", " =1", "#000001"]
tokens = st.sampled_from(NASTY) | st.text(st.characters(exclude_categories=()), max_size=6)
floats = st.floats(width=32, allow_nan=True, allow_infinity=True)
# What a cell holds, without the sign that makes it a text.
plain = lambda cell: cell[1:] if cell.startswith("'") else cell  # noqa: E731


def rows_of(data):
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


@st.composite
def weights(draw):
    queries, keys = (draw(st.lists(tokens, min_size=1, max_size=4)) for _ in range(2))
    values = draw(arrays.arrays(np.float32, (len(queries), len(keys)), elements=floats))
    return Numbers(values, {"query": queries, "key": keys})


@given(weights())
def test_csv_reads_back_as_the_very_numbers_and_tokens(numbers):
    rows = rows_of(to_csv({"weight": numbers}))
    read = np.array([row["value"] for row in rows]).astype(np.float32)
    np.testing.assert_array_equal(read.reshape(numbers.values.shape), numbers.values)
    places = product(*(enumerate(texts, 1) for texts in numbers.axes.values()))
    for row, ((query, query_token), (key, key_token)) in zip(rows, places, strict=True):
        assert (row["query number"], row["key number"]) == (str(query), str(key))
        assert plain(row["query"]) == writable(query_token)
        assert plain(row["key"]) == writable(key_token)


@given(weights())
def test_no_text_of_a_csv_is_a_formula(numbers):
    for row in csv.reader(io.StringIO(to_csv({"=w": numbers}).decode("utf-8-sig"), newline="")):
        assert not any(cell.startswith(FORMULA[:-1]) for cell in row[:-1])


@pytest.mark.parametrize("sign", list("=+-@\t\r\n＝＋－＠"))
def test_a_sign_that_spreadsheets_calculate_with_is_made_a_text(sign):
    assert as_cell(f"{sign}HYPERLINK") == f"'{sign}HYPERLINK"


@given(weights(), tokens)
def test_npz_reads_back_as_the_very_numbers_and_tokens(numbers, caption):
    read = np.load(io.BytesIO(to_npz({"weight": numbers}, caption)), allow_pickle=False)
    assert read["weight"].dtype == np.float32
    np.testing.assert_array_equal(read["weight"], numbers.values)
    for name, texts in numbers.axes.items():
        assert read[f"weight.{name}"].tolist() == [writable(text) for text in texts]
    assert str(read["caption"]) == writable(caption)


def test_bytes_are_saved_as_the_weights_they_stand_for_and_said_to_be_rounded():
    levels = np.random.default_rng(0).integers(0, 256, (3, 2, 4, 5), np.uint8)
    drawn = head_grid(list(levels), list("abcd"), list("vwxyz")).numbers
    (title,) = drawn
    assert title == "weight rounded to 255ths"
    assert count(drawn) == levels.size
    expected = levels / np.float32(255)
    read = np.load(io.BytesIO(to_npz(drawn, "")), allow_pickle=False)[title]
    np.testing.assert_array_equal(read, expected)
    rows = rows_of(to_csv(drawn))
    assert {row["numbers"] for row in rows} == {title}
    np.testing.assert_array_equal([np.float32(row["value"]) for row in rows], expected.ravel())
    one = {"weight": Numbers(np.array([[0, 255]], np.uint8), {"query": "a", "key": "cd"})}
    assert largest(one) == "Largest: 1.000 at query a, key d; 0.000 at query a, key c."


def test_parts_along_the_first_axis_are_the_whole_array():
    weights = np.random.default_rng(0).random((3, 2, 4, 5), dtype=np.float32)
    words = list("abcd"), list("vwxyz")
    whole, parts = (head_grid(given, *words).numbers for given in (weights, list(weights)))
    assert to_csv(parts) == to_csv(whole)
    with pytest.raises(ValueError, match=r"texts for query 3, key 3, but .* shape \(2, 3\)"):
        Numbers([np.zeros(3)] * 2, {"query": "abc", "key": "cde"})


def test_arrays_of_other_axes_share_a_file():
    one = Numbers(np.array([0.5, 1], np.float32), {"query": ["a", "b"]})
    other = Numbers(np.array([True, False]), {"key": ["c", "d"]})
    rows = rows_of(to_csv({"one": one, "other": other}))
    assert [row["value"] for row in rows] == ["0.5", "1.0", "1", "0"]
    assert [(row["query"], row["key"]) for row in rows] == [
        ("a", ""), ("b", ""), ("", "c"), ("", "d"),
    ]  # fmt: skip


def test_a_picture_keeps_its_numbers_as_they_are():
    drawn = np.random.default_rng(0).random((2, 3, 4, 5)).astype(np.float32)
    numbers = head_grid(drawn, list("abcd"), list("vwxyz")).numbers["weight"]
    assert numbers.values is drawn
    assert list(numbers.axes["key"]) == list("vwxyz")


def test_a_chart_tells_its_numbers():
    line, band = np.arange(3.0), (np.zeros(3), np.ones(3))
    lines = from_chart(position_lines({"x": line}, bands={"x": band}))
    assert lines["value"].values.tolist() == [0, 1, 2]
    assert len(set(lines["value"].axes["position · line"])) == 3
    assert lines["high"].values.tolist() == [1, 1, 1]


def test_the_numbers_of_a_chart_are_called_as_its_axes_are():
    axes = {"x": "probability", "y": "loss in nats"}
    numbers = from_chart(position_lines({"a": np.array([2.0, 1.0])}, [0.25, 0.5], **axes))
    assert list(numbers) == ["loss in nats"]
    assert numbers["loss in nats"].values.tolist() == [2, 1]
    assert numbers["loss in nats"].axes == {"probability · line": ["0.25 · a", "0.5 · a"]}
    assert list(from_chart(wavelengths(np.ones(2), positions=5))) == ["wavelength in positions"]


def test_the_largest_numbers_are_told_with_their_tokens():
    weights = np.array([[np.nan, 0.9], [np.nan, 0.3]], dtype=np.float32)
    numbers = {"weight": Numbers(weights, {"query": ["a", "b"], "key": ["c", "d"]})}
    assert largest(numbers) == "Largest: 0.900 at query a, key d; 0.300 at query b, key d."
    assert largest({"all": Numbers(np.zeros(2), {"row": ["a", "b"]})}) == ""


def test_of_equal_numbers_the_first_are_told():
    axes = {"query": list("abcd"), "key": list("efg")}
    numbers = np.tile(np.float32([0.25, 0.5, 0.25]), (4, 1))
    assert largest({"weight": Numbers(numbers, axes)}) == (
        "Largest: 0.500 at query a, key f; 0.500 at query b, key f; 0.500 at query c, key f."
    )


@pytest.mark.parametrize(
    ("number", "text"),
    [(-0.683, "−0.683"), (-0.0001, "0.000"), (-0.0, "0.000"), (-np.inf, "−∞"), (2.0, "2.000")],
)
def test_a_number_has_a_true_minus_and_no_sign_at_zero(number, text):
    assert number_text(number) == text


def test_a_positive_number_reads_as_0_only_if_it_is_0():
    assert number_text(1e-9) == "<0.001"
    assert number_text(0.0) == "0.000"


def test_a_signed_number_has_a_plus():
    assert number_text(0.25, 2, signed=True) == "+0.25"


@pytest.mark.parametrize("change", [0.0004, -0.0004, 1e-9])
def test_a_change_reads_as_0_only_if_it_is_0(change):
    assert number_text(change, signed=True) == "<0.001"
    assert number_text(change, 1, signed=True) == "<0.1"
    assert number_text(0.0, signed=True) == number_text(-0.0, signed=True) == "0.000"


@pytest.mark.parametrize(("number", "text"), [(1.23e-7, "1.2·10⁻⁷"), (-4e9, "−4.0·10⁹"), (0, "0")])
def test_a_tiny_number_has_a_true_power(number, text):
    assert power_text(number) == text


def test_numbers_are_one_line_in_a_shell():
    picture = head_grid(np.zeros((1, 2, 3, 3)), ["a", "b", "c"])
    assert repr(picture.numbers) == "{'weight': Numbers(layer 1, head 2, query 3, key 3)}"


@pytest.mark.parametrize("queries", [6, 7])
def test_a_file_of_more_numbers_than_it_holds_is_refused(queries, monkeypatch):
    """The bounds themselves are those of spreadsheets, and of memory."""
    monkeypatch.setattr("headlight.viz.numbers.MOST_ROWS", 24)
    monkeypatch.setattr("headlight.viz.numbers.MOST_NUMBERS", 24)
    tokens = ["a"] * queries
    drawn = head_grid(np.zeros((1, 2, queries, 2)), tokens, ["a", "b"]).numbers
    for save in (to_csv, lambda numbers: to_npz(numbers, "")):
        if queries == 6:
            assert save(drawn)
        else:
            with pytest.raises(ValueError, match="These are 28 numbers: a CSV file takes up to 24"):
                save(drawn)


@pytest.mark.parametrize(("save", "most"), [(to_csv, 10**6), (lambda n: to_npz(n, ""), 16 * 10**6)])
def test_the_bound_is_told_before_memory_is_taken(save, most):
    endless = np.broadcast_to(np.float32(0), (10**6, 10**6))
    numbers = Numbers(endless, {"query": range(10**6), "key": range(10**6)})
    with pytest.raises(ValueError, match=f"1,000,000,000,000 numbers: .*{most:,}"):
        save({"weight": numbers})
