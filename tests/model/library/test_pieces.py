from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.model.library.pieces import Piece, as_pieces, merge_words, whole_words
from headlight.model.tokenizer import Tokenizer

lengths = st.lists(st.integers(1, 4), min_size=1, max_size=6)


def numbers(lengths):
    return [word for word, length in enumerate(lengths) for _ in range(length)]


def test_a_word_sums_over_its_keys_and_averages_over_its_queries():
    weights = np.array([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2], [0.3, 0.3, 0.4]])
    merged = merge_words(weights, [0, 1, 1])
    np.testing.assert_allclose(merged, [[0.1, 0.9], [0.4, 0.6]])


@given(lengths, lengths, st.integers(0, 99))
def test_rows_still_sum_to_one(queries, keys, seed):
    generator = np.random.default_rng(seed)
    weights = generator.dirichlet(np.ones(sum(keys)), (2, 3, sum(queries)))
    merged = merge_words(weights, numbers(queries), numbers(keys))
    assert merged.shape == (2, 3, len(queries), len(keys))
    np.testing.assert_allclose(merged.sum(axis=-1), 1)


@given(lengths, st.integers(0, 99))
def test_it_is_a_product_with_the_words_of_the_pieces(lengths, seed):
    words = np.array(numbers(lengths))
    weights = np.random.default_rng(seed).random((len(words), len(words)))
    belongs = np.eye(len(lengths))[words]  # (pieces, words)
    expected = belongs.T @ weights @ belongs / np.array(lengths)[:, None]
    np.testing.assert_allclose(merge_words(weights, words), expected)


def test_words_of_one_piece_stay_as_they_are_and_keep_their_type():
    weights = np.random.default_rng(0).random((4, 5)).astype(np.float32)
    merged = merge_words(weights, range(4), range(5))
    np.testing.assert_array_equal(merged, weights)
    assert merged.dtype == np.float32


def test_whole_words_carry_the_text_and_span_of_their_pieces():
    pieces = [
        Piece(2, "[CLS]", 0, 0, 0, role="special"),
        Piece(9, "play", 0, 4, 1),
        Piece(10, "##ing", 4, 7, 1),
        Piece(11, "##", 8, 10, 2),
        Piece(3, "[SEP]", 10, 10, 3, role="special"),
    ]
    words = whole_words(pieces)
    assert [word.text for word in words] == ["[CLS]", "playing", "##", "[SEP]"]
    assert [(word.start, word.end) for word in words] == [(0, 0), (0, 7), (8, 10), (10, 10)]
    assert [word.word for word in words] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("role", "special", "unknown"),
    [
        ("written", False, False),
        ("unknown", False, True),
        ("mask", False, False),
        ("special", True, False),
    ],
)
def test_a_piece_knows_what_it_is_whatever_its_id(role, special, unknown):
    for index in (0, 1, 2, 3, 999):
        piece = Piece(index, "x", 0, 1, role=role)
        assert (piece.is_special, piece.is_unknown) == (special, unknown)


@pytest.fixture(scope="module")
def spelling():
    """A vocabulary that spells what it has not learned in bytes."""
    return Tokenizer.train_byte_pairs(["I love my cat & dog </b>"] * 9, 320)


def words_in(spelling, text):
    return [word.text for word in whole_words(as_pieces(spelling.encode(text)))]


@pytest.mark.parametrize(
    "text",
    ["שלום עולם אני", "I 🙂 love <b>my</b> cat & dog 🐱", "日本 語"],
)
def test_words_of_bytes_are_those_that_were_typed(spelling, text):
    assert any(token.is_byte for token in spelling.encode(text))
    assert words_in(spelling, text) == text.split()


def test_words_in_another_order_stay_apart(spelling):
    words = [
        list(word) for _, word in groupby(spelling.encode("cat dog"), lambda token: token.end > 3)
    ]
    swapped = [token for word in reversed(words) for token in word]
    assert [word.text for word in whole_words(as_pieces(swapped))][:2] == ["dog", "cat"]


def test_bytes_that_spell_nothing_seen_keep_their_names(spelling):
    override = "".join(f"<0x{byte:02X}>" for byte in "\u202e".encode())
    assert words_in(spelling, "cat \u202etac") == ["cat", f"{override}tac"]
    cut = spelling.encode("cat 日")[:-1]
    assert whole_words(as_pieces(cut))[-1].text == "<0xE6><0x97>"


def test_what_is_typed_like_a_byte_is_none():
    pieces = [Piece(place, sign, place, place + 1) for place, sign in enumerate("<0x41>")]
    assert whole_words(pieces)[0].text == "<0x41>"
