from dataclasses import replace

import pytest

from model.tokens import Token
from model.translator import Translation
from pages.shared.show.words import formula, notes, reading_of

END = Token(3, "<end>", 2, 2)


def translation(source="Hi", source_tokens=None, target_tokens=None):
    tokens = source_tokens or [Token(9, "Hi", 0, 2), END]
    return Translation(source, "Salut", tokens, target_tokens or [Token(8, "Salut", 0, 5), END], 0)


def test_an_ordinary_sentence_needs_no_note():
    assert notes(translation()) == []


def test_characters_that_are_spelled_in_bytes_are_counted():
    spelled = [Token(10, "<0xC5>", 0, 1), Token(11, "<0x82>", 0, 1), Token(12, "a", 1, 2), END]
    (note,) = notes(translation("ła", spelled))
    assert note.startswith("1 character has no piece")
    (note,) = notes(translation("łł", [*spelled[:2], replace(spelled[0], start=1, end=2), END]))
    assert note.startswith("2 characters have no piece")


def test_unknown_tokens_are_counted():
    tokens = [Token(1, "😀", 0, 1), Token(1, "汉", 1, 2), END]
    (note,) = notes(translation("😀汉", tokens))
    assert "does not know 2" in note


def test_a_cut_sentence_says_how_much_was_read():
    (note,) = notes(translation("Hi there"))
    assert "first 1 tokens" in note


def test_a_translation_without_an_end_says_so():
    (note,) = notes(translation(target_tokens=[Token(8, "Salut", 0, 5)]))
    assert "stopped" in note


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


def test_only_the_maximum_says_that_rows_do_not_sum_to_one():
    assert "sum to more than 1" in reading_of("encoder", "max", "English", "French")
    assert "row sums to 1" in reading_of("encoder", "3", "English", "French")
    assert "still sum to 1" in reading_of("encoder", "mean", "English", "French")


def test_decoder_rows_are_said_to_be_shifted():
    assert "`<start>`" in reading_of("cross", "1", "English", "French")
    assert "`<start>`" in reading_of("decoder", "1", "English", "French")
    assert "start" not in reading_of("encoder", "1", "English", "French")
