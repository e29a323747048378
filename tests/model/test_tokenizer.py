import itertools
import json
import random
import re
import statistics
import time
import unicodedata
from types import SimpleNamespace

import pytest
import tokenizers
import transformers
from hypothesis import assume, given
from hypothesis import strategies as st
from tokenizers import models

from headlight.model.library.piece_tokenizer import PieceTokenizer
from headlight.model.tokenizer import VISIBLE_SPACE as SPACE_SHOWN
from headlight.model.tokenizer import Tokenizer, forget_texts
from headlight.model.tokens import BYTES, END_ID, PAD_ID, SPECIAL_TOKENS, START_ID, UNKNOWN_ID

AWKWARD = [
    "I don't know.",
    "L’amour",
    "QU'IL",
    "cafe\u0301",
    "\u00e9te\u0301",
    "\U0001f600",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "  ",
    "\t",
    "\n",
    "\u00a0",
    "\u3000",
    "<b>bold</b>",
    "&amp;",
    "</script>",
    "\u05e9\u05dc\u05d5\u05dd",
    "\u0645\u0631\u062d\u0628\u0627",
    "\x00",
    "\x1b[31m",
    "\u200b",
    "\u202e",
    "▁",
    "␣",
    "1984",
    "…",
    "a\u0323\u0307",
]
TEXTS = st.lists(st.sampled_from(AWKWARD) | st.text(max_size=4), max_size=8).map("".join)
KNOWN = st.text("abcdefghijklmnopqrstuvwxyzéèêçœIJLEà'’.,?0123456789 \t", max_size=40)


@pytest.fixture(scope="session")
def spelling(pairs):
    """A tokenizer that spells rare characters in bytes, and has the common words whole."""
    texts = [text for pair in pairs for text in pair] + ["an unbreakable bread"] * 4
    return Tokenizer.train_byte_pairs(texts * 3, 420)


@pytest.fixture(scope="session")
def characters():
    return Tokenizer.train_characters(["the cat sat", "on a mat!"])


def shown(tokens):
    return [token.text for token in tokens]


def normalised(text):
    text = unicodedata.normalize("NFC", text).replace("’", "'").replace("ʼ", "'")
    # The library does not count four separators as space.
    return re.sub(r"(?:(?![\x1c-\x1f])[\s▁])+", " ", text).strip(" ")


def expect_covered(text, tokens):
    """Every written character belongs to a token."""
    covered = {i for token in tokens for i in range(token.start, token.end)}
    missing = [text[i] for i in range(len(text)) if i not in covered]
    assert not [character for character in missing if character not in "▁" and character.strip()]


@given(text=TEXTS)
def test_tokens_show_exactly_what_was_typed_in_its_order(tokenizer, text):
    tokens = tokenizer.encode(text)
    for token in tokens:
        assert 0 <= token.start <= token.end <= len(text)
        typed = text[token.start : token.end]
        assert token.text == typed or (token.text == SPACE_SHOWN and not typed.strip())
    for earlier, later in itertools.pairwise(tokens):
        assert earlier.start <= later.start
        assert earlier.end <= later.end
    expect_covered(text, tokens)


@given(text=TEXTS)
def test_no_character_is_shown_by_two_tokens(tokenizer, text):
    assume(unicodedata.is_normalized("NFC", text))
    tokens = tokenizer.encode(text)
    for earlier, later in itertools.pairwise(tokens):
        assert earlier.end <= later.start


def test_a_letter_typed_in_conjoining_parts_is_shown_whole(tokenizer):
    # The Korean syllable "han" in three code points, none of them a combining mark.
    text = "\u1112\u1161\u11ab"
    assert shown(tokenizer.encode(text))[-1] == text


@pytest.mark.parametrize("text", ["a cat", "4 cats", "\U0001f600", "z"])
def test_the_first_letter_is_shown_once(tokenizer, text):
    spans = [(token.start, token.end) for token in tokenizer.encode(text) if token.end]
    assert len(spans) == len(set(spans))


@given(text=KNOWN)
def test_ids_of_known_characters_read_back_as_the_normalised_text(tokenizer, text):
    tokens = tokenizer.encode(text)
    assert not [token for token in tokens if token.is_unknown]
    assert tokenizer.decode([token.id for token in tokens]) == normalised(text)


@given(ids=st.lists(st.integers(0, 259), max_size=20))
def test_spans_of_written_ids_make_up_the_text(tokenizer, ids):
    text, tokens = tokenizer.decode_tokens(ids)
    assert tokenizer.decode(ids) == text
    assert [token.id for token in tokens] == ids
    end = 0
    for token in tokens:
        assert text[end : token.start].strip(" ") == ""
        assert token.start >= end or token.text == SPACE_SHOWN
        end = token.end
        if token.id < len(SPECIAL_TOKENS):
            assert (token.text, token.start) == (SPECIAL_TOKENS[token.id], token.end)
        else:
            assert token.text in (text[token.start : token.end], SPACE_SHOWN)
    assert end == len(text)


@given(texts=st.lists(TEXTS, min_size=1, max_size=5))
def test_encoding_many_texts_equals_encoding_each(tokenizer, texts):
    each = [[token.id for token in tokenizer.encode(text)] for text in texts]
    assert tokenizer.encode_ids(texts) == each


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("CAFÉ", "CAFÉ"),
        ("cafe\u0301", "cafe\u0301"),
        ("don’t", "don’t"),
        ("l’amour", "l’amour"),
        ("Ou\u0300  e\u0302tes-vous ?", "Ou\u0300e\u0302tes-vous?"),
    ],
)
def test_what_was_typed_is_kept_letter_by_letter(tokenizer, text, tokens):
    written = shown(tokenizer.encode(f"a {text}"))[1:]
    assert "".join(written).replace(SPACE_SHOWN, "") == tokens


def test_curly_and_straight_apostrophes_are_one_token_id(tokenizer):
    straight, curly = tokenizer.encode("don't"), tokenizer.encode("don’t")
    assert [token.id for token in straight] == [token.id for token in curly]
    assert "’" in "".join(shown(curly))


def test_decomposed_and_composed_accents_are_one_token_id(tokenizer):
    composed, decomposed = tokenizer.encode("été"), tokenizer.encode("e\u0301te\u0301")
    assert [token.id for token in composed] == [token.id for token in decomposed]


@pytest.mark.parametrize(
    ("word", "cut"),
    [("l'amour", 2), ("L’amour", 2), ("j'aime", 2), ("qu'il", 3), ("lorsqu'il", 7), ("D'UN", 2)],
)
def test_french_elisions_are_split_after_the_apostrophe(tokenizer, word, cut):
    for text in (word, f"a {word}"):
        start = text.index(word)
        ends = [token.end for token in tokenizer.encode(text)]
        assert start + cut in ends


@pytest.mark.parametrize("word", ["don't", "don’t", "aujourd'hui"])
def test_words_with_an_apostrophe_inside_stay_in_one_piece(tokenizer, word):
    assert shown(tokenizer.encode(f"I {word}"))[-1] == word


def test_digits_stand_alone(tokenizer):
    assert shown(tokenizer.encode("in 1984"))[-4:] == ["1", "9", "8", "4"]


def test_unknown_characters_become_unk_and_keep_what_was_typed(tokenizer):
    tokens = tokenizer.encode("cat \u732b")
    assert (tokens[-1].id, tokens[-1].text) == (UNKNOWN_ID, "\u732b")
    assert tokens[-1].is_unknown
    assert not tokens[-1].is_special
    assert tokenizer.decode([token.id for token in tokens]).strip() == "cat"


@pytest.mark.parametrize("name", ["<pad>", "<start>", "<end>"])
@pytest.mark.parametrize("frame", ["{}", "I love {} my cat.", "my{}cat", " {}{} "])
def test_typing_the_name_of_a_special_token_makes_no_special_token(
    tokenizer, name, frame, tmp_path
):
    tokenizer.save(tmp_path / "tokenizer.json")
    text = frame.format(name, name)
    for each in (tokenizer, Tokenizer.from_file(tmp_path / "tokenizer.json")):
        assert not {PAD_ID, START_ID, END_ID} & {token.id for token in each.encode(text)}
        assert not {PAD_ID, START_ID, END_ID} & set(each.encode_ids([text])[0])


@pytest.mark.parametrize("text", ["", " ", "\n\t  ", "▁"])
def test_nothing_written_gives_no_tokens(tokenizer, text):
    assert tokenizer.encode(text) == []


def test_special_tokens_stand_for_no_characters(tokenizer):
    for index, name in enumerate(SPECIAL_TOKENS):
        token = tokenizer.special_token(index, 7)
        assert (token.id, token.text, token.start, token.end) == (index, name, 7, 7)
        assert token.is_special == (index != UNKNOWN_ID)


@pytest.mark.parametrize("name", ["tokenizer", "characters", "spelling"])
def test_a_saved_tokenizer_reads_back_the_same(name, request, tmp_path):
    tokenizer = request.getfixturevalue(name)
    tokenizer.save(tmp_path / "tokenizer.json")
    again = Tokenizer.from_file(tmp_path / "tokenizer.json")
    assert again.vocab_size == tokenizer.vocab_size
    for text in AWKWARD:
        assert again.encode(text) == tokenizer.encode(text)


def test_a_vocabulary_without_our_special_tokens_is_refused():
    backend = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "b": 1}, unk_token="a"))
    with pytest.raises(ValueError, match=r"first tokens are .*'a', 'b'"):
        Tokenizer(backend)


def test_a_character_tokenizer_has_one_token_a_character(characters):
    tokens = characters.encode("a cat!\u00e9")
    assert shown(tokens) == ["a", SPACE_SHOWN, "c", "a", "t", "!", "\u00e9"]
    assert [(token.start, token.end) for token in tokens] == [(i, i + 1) for i in range(7)]
    assert tokens[-1].is_unknown
    assert characters.vocab_size == len(SPECIAL_TOKENS) + len(set("the cat sat on a mat!"))


@given(text=st.text("theca smon!", max_size=30))
def test_a_character_tokenizer_reads_back_what_was_typed(characters, text):
    assert characters.decode([token.id for token in characters.encode(text)]) == text


def test_a_character_tokenizer_knows_no_special_names(characters):
    assert [token.id for token in characters.encode("<end>")].count(END_ID) == 0


SPELT = st.lists(
    st.sampled_from(AWKWARD) | st.text(max_size=4) | st.sampled_from(["the", " cat", "l'", "9"]),
    max_size=8,
).map("".join)


@given(text=SPELT)
def test_nothing_typed_is_unknown_to_a_tokenizer_with_bytes(spelling, text):
    tokens = spelling.encode(text)
    assert not [token for token in tokens if token.is_unknown or token.is_special]
    written = spelling.decode([token.id for token in tokens])
    assert written.replace(" ", "") == normalised(text).replace(" ", "")
    if "'" not in normalised(text):
        assert written == normalised(text)
    assert spelling.encode_ids([text]) == [[token.id for token in tokens]]


@given(text=SPELT)
def test_bytes_show_their_number_and_stand_for_their_character(spelling, text):
    tokens = spelling.encode(text)
    for token in tokens:
        assert 0 <= token.start <= token.end <= len(text)
        typed = text[token.start : token.end]
        if token.text in BYTES:
            assert typed
        else:
            assert token.text == typed or (token.text == SPACE_SHOWN and not typed.strip())
    for earlier, later in itertools.pairwise(tokens):
        assert earlier.start <= later.start
        assert earlier.end <= later.start or earlier.text in BYTES
    expect_covered(text, tokens)


def test_a_face_is_four_bytes_that_all_stand_for_it(spelling):
    text = "the \U0001f600 cat"
    tokens = spelling.encode(text)
    assert shown(tokens)[-5:-1] == ["<0xF0>", "<0x9F>", "<0x98>", "<0x80>"]
    assert {(token.start, token.end) for token in tokens[-5:-1]} == {(4, 5)}
    written, read = spelling.decode_tokens([token.id for token in tokens])
    assert written == text
    assert read == tokens


@given(ids=st.lists(st.integers(0, 300), max_size=20))
def test_spans_of_written_bytes_make_up_the_text(spelling, ids):
    text, tokens = spelling.decode_tokens(ids)
    assert spelling.decode(ids) == text
    assert [token.id for token in tokens] == ids
    written = ""
    for index in ids:
        written, _ = spelling.append(written, index)
    assert written == text
    for earlier, later in itertools.pairwise(tokens):
        assert earlier.end <= later.start or earlier.text in BYTES
        assert text[earlier.end : later.start].strip(" ") == ""
    for token in tokens:
        assert 0 <= token.start <= token.end <= len(text)


def test_an_unfinished_character_becomes_one_with_its_last_byte(spelling):
    ids = [token.id for token in spelling.encode("\U0001f600")][-4:]
    text = ""
    for index in ids[:3]:
        text, token = spelling.append(text, index)
        assert text[token.start : token.end] == text[-1]
    assert len(text) == 3
    text, token = spelling.append(text, ids[3])
    assert (text, token.start, token.end) == ("\U0001f600", 0, 1)


@pytest.mark.parametrize(
    ("typed", "written"),
    [("l' the", "l'the"), ("the qu' the", "the qu'the"), ("I don' the", "I don' the")],
)
def test_no_space_is_written_after_an_elided_word(spelling, typed, written):
    assert spelling.decode([token.id for token in spelling.encode(typed)]) == written


def test_a_word_after_an_elided_one_is_whole_if_it_is_one_alone(spelling):
    assert shown(spelling.encode("l'unbreakable bread")) == ["l", "'", "unbreakable", "bread"] or (
        shown(spelling.encode("l'unbreakable bread")) == ["l'", "unbreakable", "bread"]
    )
    assert spelling.decode(spelling.encode_ids(["l'unbreakable"])[0]) == "l'unbreakable"


def test_typing_the_name_of_a_byte_makes_no_byte_of_that_number(spelling):
    ids = [token.id for token in spelling.encode("the <0xF0>")]
    assert spelling.decode(ids) == "the <0xF0>"
    assert spelling.backend.token_to_id("<0xF0>") not in ids


def test_a_common_word_is_one_token_whatever_the_pairs_are(spelling):
    assert shown(spelling.encode("unbreakable bread")) == ["unbreakable", "bread"]


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
        for item in times.values():
            began = time.perf_counter()
            model.tokenize(word)
            item.append(time.perf_counter() - began)
    return statistics.median(times["second"]) / statistics.median(times["first"])


def test_a_word_that_was_split_before_is_not_split_faster():
    usual, forgetful = (tokenizers.Tokenizer(models.BPE(IDS, MERGES)) for _ in range(2))
    forget_texts(forgetful)
    assert speed_up(forgetful.model) > 1.15 * speed_up(usual.model)


def test_every_tokenizer_of_ours_has_no_cache(monkeypatch, tokenizer):
    forgotten = []
    monkeypatch.setattr("headlight.model.tokenizer.forget_texts", forgotten.append)
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
