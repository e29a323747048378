"""Write numbers as text, and save a picture's numbers in files for spreadsheets and numpy."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from headlight.viz.arrays import as_floats

if TYPE_CHECKING:
    import altair as alt

MOST_ROWS = 1_000_000  # the most rows of a CSV file, about as many as spreadsheets open
MOST_NUMBERS = 16_000_000  # the most numbers in an NPZ file: 64 MB of float32
DECIMALS = 3  # decimals of a number on the screen, the same everywhere
MOST_TOLD = 3  # how many of the largest numbers screen readers read out
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# Spreadsheets read a cell that begins with =, + and the like as a formula; a leading ' marks text.
FORMULA = tuple("=+-@＝＋－＠\t\r\n'")


@dataclass(frozen=True, repr=False)
class Numbers:
    """An array, and for each axis a name and its texts, such as "key" and the keys' tokens.

    The array may be a list of its parts along the first axis. Bytes are weights times 255.
    """

    values: np.ndarray | Sequence[np.ndarray]
    axes: Mapping[str, Sequence[str]]

    def __post_init__(self) -> None:
        """Raise ValueError if the number of texts of an axis is not the length of that axis."""
        lengths = tuple(len(texts) for texts in self.axes.values())
        in_parts = isinstance(self.values, list)
        first = np.shape(self.values[0] if in_parts else self.values)
        shape = (len(self.values), *first) if in_parts else first
        if lengths != shape:
            raise ValueError(f"There are texts for {self.sizes}, but numbers of the shape {shape}.")

    def __repr__(self) -> str:
        return f"Numbers({self.sizes})"

    @property
    def sizes(self) -> str:
        return ", ".join(f"{name} {len(texts)}" for name, texts in self.axes.items())

    @property
    def size(self) -> int:
        return prod(map(len, self.axes.values()))

    def array(self) -> np.ndarray:
        """Return the numbers as one array; bytes become floats from 0 to 1."""
        if isinstance(self.values, list):
            return np.stack([as_floats(part) for part in self.values])
        return as_floats(np.asarray(self.values))


def bytes_text(count: int) -> str:
    """Return a number of bytes as text, such as "1.2 MB"."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count} bytes"


def number_text(number: float, decimals: int = DECIMALS, *, signed: bool = False) -> str:
    """Return a number as text, such as "−0.125"; -inf is "−∞".

    A positive number that would round to 0 is written as "<0.001". A `signed` number is a change:
    it has a plus above 0, and is written as "<0.001" also if a negative one would round to 0.
    """
    if number == -np.inf:
        return "−∞"
    text = f"{abs(number):.{decimals}f}"
    if float(text) == 0:
        return f"<{10**-decimals:.{decimals}f}" if number > 0 or (signed and number) else text
    return ("−" if number < 0 else "+" if signed else "") + text


def power_text(number: float) -> str:
    """Return a number that may be tiny as text, such as "1.2·10⁻⁷"; 0 is "0"."""
    if number == 0:
        return "0"
    digits, power = f"{number:.1e}".split("e")
    return f"{digits.replace('-', '−')}·10{str(int(power)).translate(RAISED)}"


def count(numbers: Mapping[str, Numbers]) -> int:
    return sum(part.size for part in numbers.values())


def largest(numbers: Mapping[str, Numbers]) -> str:
    """Return a sentence on the largest numbers of the first matrix, for screen readers."""
    part = next((part for part in numbers.values() if len(part.axes) == 2), None)
    if part is None:
        return ""
    values = np.nan_to_num(part.array().astype(np.float32), nan=-np.inf)
    flat = values.ravel()
    # With hundreds of tokens on each axis, sorting all would take as long as the picture itself.
    least = np.partition(flat, -MOST_TOLD)[-MOST_TOLD] if flat.size > MOST_TOLD else -np.inf
    among = np.flatnonzero(flat >= least)
    largest = among[np.argsort(-flat[among], kind="stable")][:MOST_TOLD]
    (rows, columns) = part.axes.items()
    notes = []
    for row, column in zip(*np.unravel_index(largest, values.shape), strict=True):
        if np.isfinite(values[row, column]):
            where = f"{rows[0]} {rows[1][row]}, {columns[0]} {columns[1][column]}"
            notes.append(f"{values[row, column]:.{DECIMALS}f} at {where}")
    return f"Largest: {'; '.join(notes)}." if notes else ""


def check_savable(numbers: Mapping[str, Numbers], most: int) -> None:
    """Raise ValueError if there are more than `most` numbers."""
    if (size := count(numbers)) > most:
        raise ValueError(
            f"These are {size:,} numbers: a CSV file takes up to {MOST_ROWS:,}, and an NPZ file "
            f"up to {MOST_NUMBERS:,}. Save those of a shorter text, or of one head."
        )


def to_csv(numbers: Mapping[str, Numbers]) -> bytes:
    """Return a CSV file with a line for each number: its array, its place on each axis, its value.

    A place is a position, from 1, and its text, such as a token. A float is written so that it
    reads back as the same float of its size. A text that a spreadsheet would take for a formula, or
    that begins with ', gets a ' before it. Raises ValueError for more than MOST_ROWS numbers.
    """
    check_savable(numbers, MOST_ROWS)
    names = list(dict.fromkeys(name for part in numbers.values() for name in part.axes))
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    columns = [column for name in names for column in (f"{name} number", name)]
    writer.writerow(["numbers", *columns, "value"])
    for title, part in numbers.items():
        writer.writerows(_rows(title, part, names))
    # The mark at the beginning, "utf-8-sig", tells spreadsheets that the file is UTF-8.
    return file.getvalue().encode("utf-8-sig")


def _rows(title: str, part: Numbers, names: Sequence[str]) -> Iterator[list[str]]:
    texts = {name: [as_cell(text) for text in part.axes.get(name, ())] for name in names}
    values = part.array()
    flat = values.astype(int) if values.dtype == bool else values
    written = flat.ravel().astype(str)  # the fewest digits that read back as the same float
    for index, value in zip(np.ndindex(values.shape), written, strict=True):
        at = dict(zip(part.axes, index, strict=True))
        cells = [
            cell
            for name in names
            for cell in ((str(at[name] + 1), texts[name][at[name]]) if name in at else ("", ""))
        ]
        yield [as_cell(title), *cells, str(value)]


def as_cell(text: str) -> str:
    """Return a text for a cell of a CSV file, with a ' before it if it would be a formula."""
    text = writable(text)
    return f"'{text}" if text.startswith(FORMULA) else text


def writable(text: str) -> str:
    """Return a text without what files cannot hold: a zero byte becomes ␀, a lone surrogate ?."""
    return text.replace("\0", "␀").encode("utf-8", "replace").decode("utf-8")


def to_npz(numbers: Mapping[str, Numbers], caption: str) -> bytes:
    """Return an NPZ file of the arrays and their texts, for `numpy.load(..., allow_pickle=False)`.

    The texts along an axis are stored as "array.axis", the caption as "caption". Raises ValueError
    for more than MOST_NUMBERS.
    """
    check_savable(numbers, MOST_NUMBERS)
    arrays: dict[str, Any] = {"caption": np.array(writable(caption))}
    for title, part in numbers.items():
        arrays[title] = part.array()
        for name, texts in part.axes.items():
            arrays[f"{title}.{name}"] = np.array([writable(text) for text in texts], dtype=str)
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def from_chart(chart: alt.TopLevelMixin) -> dict[str, Numbers]:
    """Return the columns of floats in a chart's table, without the x axis.

    The other columns name the rows. A column drawn on an axis is called by the axis's title.
    """
    import altair as alt

    layers = getattr(chart, "layer", [chart])
    table = next(part.data for part in (chart, *layers) if hasattr(part.data, "columns"))
    encoded = [layer.encoding for layer in layers if isinstance(layer.encoding.x, alt.X)]
    # The last layer, because the first may be an area, whose y axis is called "low".
    axes = encoded[-1].x, encoded[-1].y
    titles = {axis["shorthand"].partition(":")[0]: axis["title"] for axis in axes}
    x_axis = next(iter(titles))
    floats = table.drop(columns=x_axis).select_dtypes("floating").rename(columns=titles)
    others = table.rename(columns=titles).drop(columns=floats.columns).astype(str)
    rows = [" · ".join(row) for row in others.itertuples(index=False)]
    name = " · ".join(others.columns)
    return {title: Numbers(floats[title].to_numpy(), {name: rows}) for title in floats}


def of_heads(values: Mapping[str, np.ndarray], labels: Mapping[str, str]) -> dict[str, Numbers]:
    """Return arrays (layers, heads) by kind of attention as Numbers, by the label of their kind."""
    return {
        labels[kind]: Numbers(each, {"layer": counted(len(each)), "head": counted(each.shape[-1])})
        for kind, each in values.items()
    }


def counted(length: int, first: int = 1) -> list[str]:
    return [str(number) for number in range(first, first + length)]
