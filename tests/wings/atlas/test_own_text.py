"""A text that somebody typed or uploaded, whatever it is."""

import gzip
import re

import pytest

from headlight.model.corpus import (
    LARGEST,
    NOTHING,
    UNREADABLE,
    WINDOW,
    CorpusLine,
    as_windows,
    in_words,
)

TEXT = "One.\tUn.\r\n\nDeux <b>&amp;\u202e\n".encode()


def lines_of(text):
    return [line for window in text.windows for line in window.lines]


@pytest.mark.parametrize("packed", [False, True])
def test_lines_and_pairs_are_read_gzipped_or_not(packed):
    text = as_windows(gzip.compress(TEXT) if packed else TEXT, 2_000)
    assert lines_of(text) == [CorpusLine(0, "One.", "Un."), CorpusLine(2, "Deux <b>&amp;\u202e")]
    assert text.windows[0].became == {"empty": 1}
    assert text.notes == ()


def test_no_more_than_the_first_lines_are_read():
    text = as_windows(b"a b\n" * 71, 70)
    assert [window.read for window in text.windows] == [WINDOW, WINDOW, 70 - 2 * WINDOW]
    assert text.notes == ("Only the first 70 lines are counted.",)
    assert as_windows(b"a b\n" * 70, 70).notes == ()


def test_a_window_of_long_lines_has_few():
    text = as_windows((b"x" * 1_500 + b"\n") * 5 + b"a\n" * 3, 2_000)
    assert [window.read for window in text.windows] == [2, 2, 4]
    assert [line.number for line in lines_of(text)] == list(range(8))


@pytest.mark.parametrize("packed", [False, True])
def test_no_more_than_the_first_megabytes_are_read(packed):
    data = b"x" * 50_000 + b"\n"
    data *= 200
    text = as_windows(gzip.compress(data) if packed else data, 2_000)
    assert len(lines_of(text)) == LARGEST // 50_001
    assert text.notes == ("Only the first 4 MB of the text are counted.",)


@pytest.mark.parametrize(
    "data",
    [b"", b"\n\n \t\n", gzip.compress(b""), gzip.compress(bytes(50_000_000))],
    ids=["nothing", "blank lines", "nothing packed", "zeros packed"],
)
def test_a_text_without_any_is_refused(data):
    with pytest.raises(ValueError, match=re.escape(NOTHING)):
        as_windows(data, 2_000)


def test_a_text_in_another_encoding_is_refused_with_what_it_is():
    with pytest.raises(ValueError, match="can be counted: 1 line: empty; 2 lines: not text in UTF"):
        as_windows(b"\xff\xfea\0\n\0\n\n", 2_000)


def test_a_gzip_file_is_not_unpacked_twice():
    with pytest.raises(ValueError, match="not text in UTF-8"):
        as_windows(gzip.compress(gzip.compress(TEXT)), 2_000)


@pytest.mark.parametrize("data", [b"\x1f\x8b", b"\x1f\x8b\x08" + b"\xff" * 40])
def test_what_only_begins_like_a_gzip_file_is_refused(data):
    with pytest.raises(ValueError, match=re.escape(UNREADABLE)):
        as_windows(data, 2_000)


def test_what_stands_before_a_cut_is_read():
    text = as_windows(gzip.compress(b"a b c\n" * 1_000)[:-9], 2_000)
    assert len(lines_of(text)) > 900
    assert "is damaged" in text.notes[0]


def test_what_became_of_lines_is_said_in_words():
    assert in_words({"counted": 3, "empty": 1, "over 64 KB": 2_000, "none": 0}) == (
        "1 line: empty; 2,000 lines: over 64 KB"
    )
    assert in_words({"counted": 3}) == ""
