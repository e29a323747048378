import pytest
import torch

from headlight.model.tokens import (
    END_ID,
    PAD_ID,
    SPECIAL_TOKENS,
    START_ID,
    UNKNOWN_ID,
    Token,
    check_characters,
    pad,
    source_sequence,
    target_sequence,
)


def test_the_special_tokens_have_the_first_ids():
    assert list(range(len(SPECIAL_TOKENS))) == [PAD_ID, UNKNOWN_ID, START_ID, END_ID]


@pytest.mark.parametrize("index", [PAD_ID, START_ID, END_ID])
def test_a_special_token_stands_for_nothing_that_was_written(index):
    token = Token(index, SPECIAL_TOKENS[index], 7, 7)
    assert token.is_special
    assert not token.is_unknown


def test_an_unknown_token_stands_for_what_was_written():
    token = Token(UNKNOWN_ID, "☃", 0, 1)
    assert token.is_unknown
    assert not token.is_special


@pytest.mark.parametrize("text", ["", "a😀é", "\u0000", "e\u0301"])
def test_whole_characters_are_read(text):
    check_characters(text)


def test_half_a_character_is_refused_with_its_place():
    for half in ("\ud83d", "\ude00"):
        with pytest.raises(ValueError, match=r"^Character 3 of this text is not valid Unicode"):
            check_characters(f"ab{half}")


def test_padding_goes_to_the_right_up_to_the_longest():
    assert pad([[4, 5], [6], []]).tolist() == [[4, 5], [6, 0], [0, 0]]
    assert pad([[4, 5]], length=4).tolist() == [[4, 5, 0, 0]]
    assert pad([[4, 5, 6]], length=2).tolist() == [[4, 5, 6]]


def test_ids_are_whole_numbers_even_where_there_are_none():
    assert pad([[4]]).dtype == torch.long
    assert pad([[]], length=2).dtype == torch.long


def test_the_encoder_reads_an_end_and_the_decoder_a_start():
    assert source_sequence([7, 8]) == [7, 8, 3]
    assert target_sequence([7, 8]) == [2, 7, 8]
