"""Files of lines, whatever is in them."""

import gzip

import pytest

from headlight.model.corpus import LONGEST, CorpusLine, windows

HOSTILE = [
    b"One.\n",
    b"\n",
    b"   \t \n",
    b"Two.\tDeux.\r\n",
    b"\xff\xfe broken\n",
    b"h\0i\0\n",
    b"x" * (LONGEST + 5) + b"\n",
    b"y" * (3 * LONGEST) + b"\n",
    b"\tonly a target\n",
    b"Three.\tTrois.\tmore\n",
    "Vier – ” '<b>&amp;\u202e.\n".encode(),
    b"Five, without an end",
]
READ = [
    CorpusLine(0, "One."), CorpusLine(3, "Two.", "Deux."), CorpusLine(9, "Three.", "Trois."),
    CorpusLine(10, "Vier – ” '<b>&amp;\u202e."), CorpusLine(11, "Five, without an end"),
]  # fmt: skip


@pytest.fixture(params=["plain", "gzip"])
def hostile(request, tmp_path):
    path = tmp_path / "lines"
    data = b"".join(HOSTILE)
    path.write_bytes(gzip.compress(data) if request.param == "gzip" else data)
    return path


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_each_line_is_read_or_counted(hostile, size):
    result = list(windows(hostile, size))
    assert [line for window in result for line in window.lines] == READ
    became = sum((window.became for window in result), start=type(result[0].became)())
    assert became == {"empty": 3, "not text in UTF-8": 2, "over 64 KB": 2}
    assert [window.number for window in result] == list(range(len(result)))
    assert all(window.read <= size for window in result)
    assert sum(window.read for window in result) == len(HOSTILE)
    assert result[-1].at == hostile.stat().st_size


def test_only_wanted_windows_are_read(hostile):
    result = list(windows(hostile, 2, lambda number: number % 2 == 1))
    assert [window.number for window in result] == [1, 3, 5]
    assert result[0].lines == [READ[1]]


def test_a_file_that_was_cut_is_read_to_where_it_was(tmp_path):
    path = tmp_path / "cut.gz"
    data = gzip.compress("".join(f"Line {n * n} of many.\n" for n in range(40_000)).encode())
    path.write_bytes(data[: len(data) // 2])
    read = []
    with pytest.raises(ValueError, match=r"cut.gz is cut off or damaged after line \d+"):
        read.extend(line for window in windows(path, 10) for line in window.lines)
    assert len(read) > 1_000
    assert read[-1].text == f"Line {(len(read) - 1) ** 2} of many."


def test_a_mark_of_the_byte_order_is_no_text(tmp_path):
    path = tmp_path / "marked"
    path.write_bytes(b"\xef\xbb\xbfOne.\n")
    assert next(windows(path, 5)).lines == [CorpusLine(0, "One.")]


def test_an_empty_file_has_no_window(tmp_path):
    path = tmp_path / "empty"
    path.touch()
    assert list(windows(path, 5)) == []
