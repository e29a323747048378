"""No tokenizer keeps words of a text: the next visitor who types them is not answered faster."""

import json
import random
import statistics
import time
from types import SimpleNamespace

import pytest
import tokenizers
import transformers
from tokenizers import models

from model.library.piece_tokenizer import PieceTokenizer
from model.text_caches import forget_texts
from model.tokenizer import Tokenizer

WORDS = ("<unk>", "a", "b", "c", "ab", "abc")
MERGES = [("a", "b"), ("ab", "c")]
IDS = {word: index for index, word in enumerate(WORDS)}


@pytest.mark.parametrize(
    "model",
    [
        models.BPE(IDS, MERGES),
        models.Unigram([(word, -1.0 - index) for index, word in enumerate(WORDS)], unk_id=0),
        models.WordPiece(IDS, unk_token="<unk>"),
        models.WordLevel(IDS, unk_token="<unk>"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_tokenizer_splits_as_before(model):
    backend = tokenizers.Tokenizer(model)
    before = [backend.encode(text).tokens for text in ("abc", "abcab", "cab")]
    forget_texts(backend)
    assert [backend.encode(text).tokens for text in ("abc", "abcab", "cab")] == before


def speed_up(model):
    """How much of the first time the second one takes for the same word."""
    times = {"first": [], "second": []}
    draw = random.Random(0)
    for _ in range(1_000):
        word = "".join(draw.choices("abc", k=250))  # longer ones are not kept anyway
        for found in times.values():
            began = time.perf_counter()
            model.tokenize(word)
            found.append(time.perf_counter() - began)
    return statistics.median(times["second"]) / statistics.median(times["first"])


def test_a_word_that_was_split_before_is_not_split_faster():
    usual, forgetful = (tokenizers.Tokenizer(models.BPE(IDS, MERGES)) for _ in range(2))
    forget_texts(forgetful)
    assert speed_up(forgetful.model) > 1.15 * speed_up(usual.model)


def test_every_tokenizer_of_ours_has_no_cache(monkeypatch, tokenizer):
    forgotten = []
    monkeypatch.setattr("model.tokenizer.forget_texts", forgotten.append)
    again = Tokenizer(tokenizers.Tokenizer.from_str(tokenizer.backend.to_str()))
    assert forgotten == [again.backend]


def test_a_tokenizer_in_python_keeps_no_words():
    tokenizer = SimpleNamespace(cache={})
    forget_texts(tokenizer)
    tokenizer.cache["secret"] = "sec ret"
    assert "secret" not in tokenizer.cache
    assert isinstance(tokenizer.cache, dict)


def test_a_tokenizer_of_the_library_in_python_splits_as_before(tmp_path):
    words = ["f o", "fo o</w>", "b a", "ba r</w>"]
    names = {"<unk>": 0, "foo": 1, "bar": 2, "f@@": 3, "o": 4, "b@@": 5, "a@@": 6, "r": 7}
    (tmp_path / "vocab.json").write_text(json.dumps(names), encoding="utf-8")
    (tmp_path / "merges.txt").write_text("#version: 0.2\n" + "\n".join(words), encoding="utf-8")
    files = str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt")
    theirs = transformers.CTRLTokenizer(*files)
    expected = [theirs("foo bar fob")["input_ids"] for _ in range(2)]
    assert theirs.cache  # what this is about
    ours = PieceTokenizer(transformers.CTRLTokenizer(*files), 20)
    for ids in expected:
        assert [piece.id for piece in ours.read("foo bar fob")] == ids
    assert not ours.tokenizer.cache
