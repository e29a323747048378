from types import SimpleNamespace

import pytest

from headlight.model.tokenizer import Tokenizer
from headlight.wings.cause.page.two_texts import NEXT, WORD, texts_beside
from tests.odd_texts import ODD_TEXTS


def test_a_word_is_exchanged_for_one_like_it_the_most_telling_first(shipped):
    assert texts_beside(shipped, "Love my old cat.") == {
        "cat → dog": "Love my old dog.",
        "old → young": "Love my young cat.",
        "my → your": "Love your old cat.",
        "Love → Hate": "Hate my old cat.",
    }


def test_if_there_is_none_it_is_exchanged_for_its_neighbour(shipped):
    assert "monde → le" in texts_beside(shipped, "Bonjour le monde.")


def test_a_text_of_one_word_has_none_beside_it(shipped):
    assert texts_beside(shipped, "Hello") == {}


def test_where_every_token_is_a_letter_or_a_digit_that_is_exchanged_for_the_one_before_it():
    reader = SimpleNamespace(begin=Tokenizer.train_characters(["31x"]).encode)
    assert texts_beside(reader, "31x") == {"x → 1": "311", "1 → 3": "33x"}
    assert texts_beside(reader, "11") == {}


def test_each_word_is_exchanged_for_another():
    assert all(word != other.lower() and WORD.fullmatch(other) for word, other in NEXT.items())


@pytest.mark.parametrize("name", ODD_TEXTS)
def test_names_have_letters_alone_whatever_was_typed(name, shipped):
    for called, text in texts_beside(shipped, ODD_TEXTS[name][:4000]).items():
        first, arrow, second = called.partition(" → ")
        assert arrow
        assert WORD.fullmatch(first)
        assert WORD.fullmatch(second)
        assert text != ODD_TEXTS[name]
        assert len(shipped.begin(text)) == len(shipped.begin(ODD_TEXTS[name][:4000]))
