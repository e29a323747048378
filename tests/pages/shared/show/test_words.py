from dataclasses import replace

import numpy as np
import pytest

from headlight.model.tokens import Token
from headlight.pages.shared.show.words import formula, notes, reading_of

SIDES = {"source": "English", "target": "French"}
ROWS = np.eye(2)
END = Token(3, "<end>", 2, 2)


HI = [Token(9, "Hi", 0, 2), END]


def test_characters_that_are_spelled_in_bytes_are_counted():
    spelled = [Token(10, "<0xC5>", 0, 1), Token(11, "<0x82>", 0, 1), Token(12, "a", 1, 2), END]
    (note,) = notes(spelled)
    assert note.startswith("1 character has no piece")
    (note,) = notes([*spelled[:2], replace(spelled[0], start=1, end=2), END])
    assert note.startswith("2 characters have no piece")


def test_unknown_tokens_are_counted():
    tokens = [Token(1, "😀", 0, 1), Token(1, "汉", 1, 2), END]
    (note,) = notes(tokens)
    assert "does not know 2 of the tokens, framed in dashes: it" in note
    (note,) = notes(tokens, drawn=False)
    assert "does not know 2 of the tokens: it" in note


def test_a_translation_without_an_end_says_so():
    (note,) = notes(HI, finished=False)
    assert "cut off" in note


@pytest.mark.parametrize(
    ("kind", "query", "key"),
    [
        ("encoder", "English", "English"),
        ("decoder", "French", "French"),
        ("cross", "French", "English"),
    ],
)
def test_the_formula_names_where_queries_and_keys_come_from(kind, query, key):
    text = formula(kind, 32, "English", "French")
    assert f"Q_\\text{{{query}}}" in text
    assert f"K_\\text{{{key}}}" in text
    assert "\\sqrt{32}" in text
    assert ("infty" in text) == (kind == "decoder")
    assert text.count("{") == text.count("}")


def test_what_rows_sum_to_is_said_of_the_numbers_drawn():
    whole = np.full((2, 4), 0.25)
    assert "Every row sums to 1." in reading_of("encoder", 2, whole, **SIDES, row="writes")
    assert "Every row sums to 1." in reading_of("encoder", "mean", whole, **SIDES, row="writes")
    largest = np.array([[0.5, 1.0], [0.9, 0.9]])
    words = reading_of("encoder", "max", largest, **SIDES, row="writes")
    assert "The rows sum to 1.50 to 1.80." in words
    beside_a_sink = np.array([[0.5, 0.0], [0.2, 0.3]])
    assert "The rows sum to 0.50." in reading_of("encoder", 2, beside_a_sink, **SIDES, row="read")


@pytest.mark.parametrize("kind", ["cross", "decoder"])
def test_decoder_rows_are_said_to_name_what_is_read_and_written(kind):
    assert "read → the token it writes next." in reading_of(kind, 0, ROWS, **SIDES, row="writes")
    assert "which it is made to write" in reading_of(kind, 0, ROWS, **SIDES, row="made to write")
    assert "→" not in reading_of("encoder", 0, ROWS, **SIDES, row="writes")
