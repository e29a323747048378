"""Which signs of doubt a text has."""

import pytest
import torch

from headlight.model.insight import doubt
from headlight.model.insight.doubt import doubts_of_text, most_pieces


def doubts(text, tokens, written, log_probabilities, *, unread=()):
    """The signs of a translation that looks at all tokens, but for those `unread`."""
    alignment = torch.ones(1, len(tokens))
    alignment[:, list(unread)] = 0.0
    return doubt.doubts(text, tokens, written, log_probabilities, alignment)


@pytest.mark.parametrize(
    ("text", "sign", "what"),
    [
        ("J'aime mon chat.", "language", "French"),
        ("Ich liebe meine Katze.", "language", "German"),
        ("¿Dónde está mi perro?", "language", "Spanish"),
        ("WHERE IS MY CAT?", "capitals", ""),
        ("Я люблю кошку.", "script", ""),
        ("12345 !", "no words", ""),
    ],
)
def test_what_is_not_english_is_named(text, sign, what):
    assert [(item.sign, item.what) for item in doubts_of_text(text)] == [(sign, what)]


@pytest.mark.parametrize(
    "text",
    [
        "Tom and Mary were in Boston.",
        "I",
        "OK.",
        "I'm in the USA.",
        "He ordered a café au lait.",
        "Is it on the plus side?",
        "The die is cast, and so was the main part.",
        "x = y + 2",
    ],
)
def test_english_with_a_name_or_a_foreign_word_is_english(text):
    assert not list(doubts_of_text(text))


def test_a_curly_apostrophe_elides_as_a_straight_one(shipped):
    result = doubts("J’aime l’été.", shipped.read("J’aime l’été."), "", [0.0])
    assert [item.what for item in result] == ["French"]


def test_the_word_with_the_most_pieces_is_found_with_their_number(shipped):
    text = "I met Schwarzenegger."
    tokens = shipped.read(text)
    word, pieces = most_pieces(text, tokens)
    start, end = text.index(word), text.index(word) + len(word)
    assert word == "Schwarzenegger"
    assert pieces == sum(start <= token.start < end for token in tokens if not token.is_special)
    assert pieces > doubt.MOST_PIECES
    # A name that is written with another end is no sign.
    for written, is_sign in (("J'ai vu Schwarzeneggère.", False), ("J'ai vu Schwarz.", True)):
        signs = [item.sign for item in doubts(text, tokens, written, [0.0])]
        assert ("pieces" in signs) == is_sign
    unread = doubts(text, tokens, "Je l'ai vu.", [0.0])
    assert [(item.sign, item.what) for item in unread] == [("missing", word), ("pieces", word)]
    assert not list(doubts(text, tokens, f"J'ai vu {word}.", [0.0]))  # a name that is copied


def test_unsure_says_the_mean(shipped):
    text = "I love my cat."
    low = [2 * doubt.LEAST_SURE, doubt.LEAST_SURE]
    (match,) = doubts(text, shipped.read(text), "", low)
    assert match.sign == "unsure"
    assert match.number == pytest.approx(1.5 * doubt.LEAST_SURE)
    assert not list(doubts(text, shipped.read(text), "", [doubt.LEAST_SURE]))


@pytest.mark.parametrize(
    ("text", "written", "missing"),
    [
        ("We saw Angela Merkel.", "Nous vîmes l'Ouela Merkel.", ["Angela"]),
        ("We saw Angela Merkel.", "Nous vîmes Angèle Merkel.", []),
        ("It is 7:45.", "Il est 7 heures45.", ["45"]),
        ("It is 7:45.", "Il est 7h45.", []),
        ("I have 1,000 books.", "J'ai 1 000 livres.", []),
        ("I have 12,345 books.", "J'ai des livres.", ["12,345"]),
        ("I have 12,345 books.", "J'ai 12 livres.", ["12,345"]),
        ("I have 12,345 books, 10.", "J'ai 12 345 livres.", ["10"]),
        ("I saw him on Monday.", "Je l'ai vu lundi.", []),
        ("I am at home on Sundays.", "Je suis chez moi le dimanche.", []),
        ("Dinner is at 8 pm.", "Le dîner est à 8 heures.", ["pm"]),
        ("Dinner is at 8:30 p.m.", "Le dîner est à 8 h 30.", ["p.m."]),
        ("Dinner is at 8 pm.", "Le dîner est à huit heures du soir.", []),
        ("Dinner is at 8 PM.", "Le dîner est à 20 h.", []),
        ("Breakfast is at 8 am.", "Le petit déjeuner est à 8 h.", []),
    ],
)
def test_names_and_numbers_that_were_not_copied_are_named(text, written, missing, shipped):
    assert list(doubt.missing_in(written, text, shipped.read(text), lost=[])) == missing


def test_all_names_and_numbers_that_are_missing_are_named_once(shipped):
    text = "We saw Angela Merkel at 7:45, and Angela at 9:45."
    tokens, written = shipped.read(text), "Nous vîmes cela à 7 heures45."
    (sign,) = [item for item in doubts(text, tokens, written, [0.0]) if item.sign == "missing"]
    assert sign.what == "Angela”, “Merkel”, “45"


def test_a_name_that_nothing_written_looks_at_is_missing_unless_it_was_copied(shipped):
    text = "Maria gave Tom a ball."
    tokens = shipped.read(text)
    assert sum(token.text == "Tom" for token in tokens) == 1  # a single piece, as of a common word
    for written, missing in {"Maria donna une balle.": ["Tom"], "Maria lança à Tom.": []}.items():
        assert list(doubt.missing_in(written, text, tokens, lost=["Tom"])) == missing
    assert not list(doubt.missing_in("Maria donna une balle.", text, tokens, lost=[]))


def test_a_text_that_was_not_translated_is_a_sign(shipped):
    signs = [item.sign for item in doubts("Hello", shipped.read("Hello"), "hello", [0.0])]
    assert signs == ["repeated"]


def test_words_that_nothing_written_looks_at_are_lost(shipped):
    text = "We bought milk, and we baked a cake."
    tokens = shipped.read(text)

    def lost(*words):
        pieces = [
            at
            for at, token in enumerate(tokens)
            if any(text.index(word) <= token.start < text.index(word) + len(word) for word in words)
        ]
        result = doubts(text, tokens, "Nous avons acheté du lait.", [0.0], unread=pieces)
        return [item.what for item in result if item.sign == "lost"]

    assert lost("baked", "cake") == ["baked … cake"]
    assert lost("cake") == []  # one word may be part of an idiom
    assert lost("We", "and", "a") == []  # in other languages these may have no word of their own


def test_a_weight_on_several_pieces_of_a_word_counts_as_one(shipped):
    text = "Schwarzenegger laughed."
    tokens = shipped.read(text)
    assert len(tokens) > 4
    alignment = torch.full((1, len(tokens)), doubt.UNREAD / 2)
    assert "Schwarzenegger" not in doubt.lost_words(text, tokens, alignment)
