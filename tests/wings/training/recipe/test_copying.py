import random

import pytest

from headlight.model.evaluate import is_copied
from headlight.wings.training.tasks import is_unseen
from recipe.copying import (
    FRAMES,
    TEST_PAIRS,
    VALUE,
    Values,
    elided,
    filled,
    find_names,
    french,
    make_copies,
    make_test,
    replaced,
    with_one_time,
)

PAIRS = [
    ("Tom lives in Boston.", "Tom vit à Boston."),
    ("Alice saw Kyoto.", "Alice a vu Kyoto."),
    ("I think of Edison.", "Je pense à Edison."),
    ("Table for Obama!", "Table pour Obama !"),
    ("The table is 30 years old.", "La table a 30 ans."),
    ("We left Osaka at 7:45.", "Nous avons quitté Osaka à 7 h 45."),
]
NAMES = find_names(PAIRS)


@pytest.fixture
def values():
    return Values(NAMES)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("7:45", "7 h 45"),
        ("30", "30"),
        ("1,234,567", "1 234 567"),
        ("2.5", "2,5"),
        ("$30", "30 $"),
        ("€1,200", "1 200 €"),
        ("$9.99", "9,99 $"),
        ("Boston", "Boston"),
    ],
)
def test_values_as_french_writes_them(value, expected):
    assert french(value) == expected
    assert VALUE.fullmatch(value)


def test_names_are_the_same_on_both_sides_and_never_in_small_letters():
    assert NAMES == ["Alice", "Boston", "Edison", "Kyoto", "Obama", "Osaka", "Tom"]


def test_times_are_written_in_one_way():
    for time in ("7h45", "7H45", "7:45", "7 h 45"):
        pair = with_one_time(("At 7:45.", f"À {time}."))
        assert pair == ("At 7:45.", "À 7 h 45.")
    assert with_one_time(("At 2:30.", "À 14 h 30.")) is None
    assert with_one_time(("Look: a cat.", "Regarde : un chat.")) == (
        "Look: a cat.",
        "Regarde : un chat.",
    )


@pytest.mark.parametrize("kind", list(Values.KINDS))
def test_what_is_drawn_to_train_on_is_never_drawn_to_test(kind, values):
    source, trained = random.Random(1), [(name, name) for name in NAMES]
    tested = Values(NAMES, trained, tested=True)
    for _ in range(50):
        value, test_value = values.draw(kind, source), tested.draw(kind, source)
        assert not is_unseen(value)
        assert is_unseen(test_value)
        assert test_value not in NAMES
        assert VALUE.fullmatch(value)


def test_what_both_sides_share_is_replaced_on_both(values):
    source = random.Random(2)
    for _ in range(30):
        english, target, *new = replaced(PAIRS[5], values, source)
        name, time = new
        assert english == f"We left {name} at {time.replace(' h ', ':')}."
        assert target == f"Nous avons quitté {name} à {time}."
        english, target, number = replaced(PAIRS[4], values, source)
        assert english == f"The table is {number.replace(' ', ',')} years old."
        assert target == f"La table a {number} ans."


@pytest.mark.parametrize(
    "pair",
    [
        ("I love Boston.", "J'aime le Boston."),  # an article, which a new name would not have
        ("Tom saw Tom.", "Tom a vu Tom."),
        ("It is 2:30.", "Il est 14 h 30."),
        ("No. 1", "No 1"),
        ("I see.", "Je vois."),
    ],
)
def test_what_cannot_be_replaced_is_left_out(pair, values):
    assert replaced(pair, values, random.Random(0)) is None


def test_french_elides_before_the_new_name_and_not_before_the_old_one(values):
    assert elided("Le chien de Alice, que Tom") == "Le chien d'Alice, que Tom"
    pair = ("Alice's dog.", "Le chien d'Alice.")
    for seed in range(20):
        _, target, name = replaced(pair, values, random.Random(seed))
        assert target == f"Le chien {'d' + chr(39) if name[0] in 'AEIOU' else 'de '}{name}."


@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_has_the_same_values_on_both_sides(frame, values):
    english, target, *new = filled(frame, values, random.Random(3))
    assert new
    assert "{" not in english + target
    assert all(is_copied(value, target) for value in new)


def test_copies_are_the_same_every_time_and_none_is_in_the_test():
    made = make_copies(PAIRS, 3)
    assert made == make_copies(PAIRS, 3)
    held_out = [(f"{number} people saw Tom.", f"{number} gens ont vu Tom.") for number in range(9)]
    test = make_test(held_out, PAIRS + made)
    assert len({row[0] for row in test}) == len(test) == TEST_PAIRS
    trained = {match[0] for source, _ in PAIRS + made for match in VALUE.finditer(source)}
    for english, target, *new in test:
        tested = {match[0] for match in VALUE.finditer(english)}
        assert len(tested - trained) >= len(new)
        assert all(is_copied(value, target) for value in new)


@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        ("Il est 7 h 45.", True),
        ("Il est 7h45.", True),
        ("Il est 17 h 45.", False),
        ("Il est 7 h 451.", False),
        ("Il est 7 heures 45.", False),
    ],
)
def test_a_value_is_copied_as_a_word_of_its_own(text, is_right):
    assert is_copied("7 h 45", text) == is_right
