"""Pieces of tokenizers: by their places in the text, or without, if transformers runs them."""

import json

import pytest
import tokenizers
import torch
import transformers

from headlight.model.library.piece_tokenizer import PieceTokenizer
from headlight.model.library.pieces import whole_words
from headlight.model.library.transformers_loading import load_transformers_reader
from tests.model.library.conftest import BART

TEXT, TARGET = "I love my cat.", "J'aime mon chat."


@pytest.fixture(scope="module")
def reader(tmp_path_factory, pairs):
    """A Marian with its own tokenizer, which has a file for each language."""
    sentencepiece = pytest.importorskip("sentencepiece")
    folder = tmp_path_factory.mktemp("marian")
    texts = [text for pair in pairs for text in pair]
    (folder / "texts").write_text("\n".join(texts * 9), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "texts"),
        model_prefix=str(folder / "pieces"),
        vocab_size=60,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    pieces = sentencepiece.SentencePieceProcessor(str(folder / "pieces.model"))
    names = [pieces.id_to_piece(index) for index in range(pieces.get_piece_size())]
    vocabulary = {name: index for index, name in enumerate([*names, "<pad>"])}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    tokenizer = transformers.MarianTokenizer(
        source_spm=str(folder / "pieces.model"),
        target_spm=str(folder / "pieces.model"),
        vocab=str(folder / "vocab.json"),
    )
    options = {
        "vocab_size": len(vocabulary) + 5,  # some that the tokenizer has not
        "pad_token_id": vocabulary["<pad>"],
        "decoder_start_token_id": vocabulary["<pad>"],
        "eos_token_id": vocabulary["</s>"],
    }
    torch.manual_seed(0)
    transformers.MarianMTModel(transformers.MarianConfig(**BART | options)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return load_transformers_reader(folder)


def test_pieces_have_their_places_in_what_is_decoded(reader):
    assert not reader.tokens.tokenizer.is_fast
    trace = reader.trace(TEXT, TARGET)
    for text, tokens in ((TEXT, trace.source_tokens), (TARGET, trace.target_tokens)):
        written = [piece for piece in tokens if not piece.is_special]
        drawn = [piece for piece in written if piece.end > piece.start]
        assert "".join(piece.text for piece in drawn) == text.replace(" ", "")
        assert all(text[piece.start : piece.end] == piece.text for piece in drawn)
        assert len({piece.word for piece in written}) == len(text.split())
    assert [piece.is_special for piece in trace.target_tokens][:2] == [True, False]
    assert trace.source_tokens[-1].text == "</s>"


def test_it_reads_one_text(reader):
    assert not reader.tokens.takes_pairs
    with pytest.raises(ValueError, match="one text at a time"):
        reader.trace(TEXT, second=TARGET)


def test_a_long_text_keeps_its_end(reader):
    pieces = reader.tokens.read(TEXT * 20)
    assert len(pieces) == 40
    assert pieces[-1].text == "</s>"
    assert reader.is_cut(TEXT * 20)


def test_a_token_without_a_name_can_be_drawn(reader):
    last = reader.model.config.vocab_size - 1
    assert reader.tokens.piece(last).text
    _, pieces = reader.tokens.written([last, last])
    assert all(piece.text for piece in pieces)


@pytest.mark.parametrize("text", ["The dog", " The dog"])
def test_a_space_added_before_a_text_is_a_token_without_letters(text):
    names = ["<unk>", "▁", "T", "he", "d", "og"]
    backend = tokenizers.Tokenizer(tokenizers.models.Unigram([(name, -1.0) for name in names], 0))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>")
    pieces = PieceTokenizer(tokenizer, 9).read(text)
    assert [piece.text for piece in pieces] == ["▁", "T", "he", "▁", "d", "og"]
    letters = [piece for piece in pieces if piece.end > piece.start]
    assert [text[piece.start : piece.end] for piece in letters] == ["T", "he", "d", "og"]
    assert [piece.text for piece in whole_words(pieces)] == ["The", "dog"]
