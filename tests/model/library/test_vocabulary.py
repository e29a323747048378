"""Pieces written one after the other, against the tokenizer's decoding of all of them at once."""

import random

import pytest
import transformers

from headlight.model.library.piece_tokenizer import PieceTokenizer
from headlight.model.library.pieces import whole_words
from headlight.model.library.vocabulary import CONTROLS, Vocabulary

TEXTS = ("I love my cat.", "  two  spaces\n\nand lines", "a ☃☃ 漢字 é")


@pytest.fixture(scope="module", params=["GPT-2", "T5"])
def vocabulary(request, transformers_folders):
    folder = transformers_folders[request.param]
    return Vocabulary(transformers.AutoTokenizer.from_pretrained(folder))


def whole(vocabulary, ids):
    return vocabulary.decode([index for index in ids if vocabulary.role(index) != "special"])


def test_any_ids_make_the_text_that_the_tokenizer_makes_of_them(vocabulary):
    size = len(vocabulary.tokenizer)
    for seed in range(100):
        draw = random.Random(seed)
        ids = [draw.randrange(size) for _ in range(30)]
        text, pieces = vocabulary.written(ids)
        assert text == whole(vocabulary, ids)
        assert [piece.id for piece in pieces] == ids
        for piece in pieces:
            shown = "" if piece.is_special else text[piece.start : piece.end]
            assert piece.text in (shown.translate(CONTROLS), vocabulary.name(piece.id))


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_written_as_it_was_read(text, vocabulary):
    ids = vocabulary.tokenizer(text)["input_ids"]
    written, pieces = vocabulary.written(ids)
    assert written == whole(vocabulary, ids)
    for position in range(len(ids)):  # what is written later is written the same
        before, begun = vocabulary.written(ids[:position])
        _, rest = vocabulary.written(ids[position:], begun)
        assert [piece.text for piece in rest] == [piece.text for piece in pieces[position:]]
        assert [piece.word for piece in rest] == [piece.word for piece in pieces[position:]]
        text, piece = vocabulary.append(before, begun, ids[position])
        assert piece == pieces[position]
        assert text == vocabulary.written(ids[: position + 1])[0]


def test_each_byte_of_a_character_is_shown_by_its_number_and_their_word_whole(vocabulary):
    ids = vocabulary.tokenizer("a ☃b")["input_ids"]
    if vocabulary.tokenizer.unk_token_id in ids:
        pytest.skip("this vocabulary has no bytes")
    text, written = vocabulary.written(ids)
    assert text == "a ☃b"
    for pieces in (written, PieceTokenizer(vocabulary.tokenizer, 64).read(text)):
        bytes_shown = [piece.text for piece in pieces if piece.text.startswith("<0x")]
        assert "".join(bytes_shown) == "<0xE2><0x98><0x83>"
        assert "☃" in [text[piece.start : piece.end] for piece in pieces]
        assert "☃b" in [piece.text for piece in whole_words(pieces)]


def test_parts_of_a_character_and_spaces_are_no_letters(vocabulary):
    ids = vocabulary.tokenizer("a é  b\n", add_special_tokens=False)["input_ids"]
    if vocabulary.tokenizer.unk_token_id in ids:
        pytest.skip("this vocabulary has no bytes")
    names = [vocabulary.name(index) for index in ids]
    spelled = [name.replace("␣", " ").replace("⏎", "\n") for name in names]
    assert "".join(spelled).replace("<0xC3><0xA9>", "é") == "a é  b\n"
    assert not {"Ġ", "Ċ", "Ã", "©"}.intersection("".join(names))


def test_characters_that_no_font_has_are_shown_as_pictures_of_them(vocabulary):
    text = "a\x00\x1b\tb\x7f"
    ids = vocabulary.tokenizer(text, add_special_tokens=False)["input_ids"]
    if vocabulary.tokenizer.unk_token_id in ids:
        pytest.skip("this vocabulary has no bytes")
    for pieces in (vocabulary.written(ids)[1], PieceTokenizer(vocabulary.tokenizer, 64).read(text)):
        shown = "".join(piece.text for piece in pieces if not piece.is_special)
        assert all(picture in shown for picture in "␀␛␡")
        assert shown.isprintable()


def test_an_id_that_only_the_model_has_is_shown_as_a_number(vocabulary):
    text, piece = vocabulary.append("a", vocabulary.written([5])[1], 399_999)
    assert (text, piece.text) == ("a", "<399999>")
