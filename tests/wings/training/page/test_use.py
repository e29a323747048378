"""What a trained model writes for an input of one's own, next to the right answer."""

import pytest

from headlight.model.tokens import Token
from headlight.wings.training.page.use import wrong_positions


def read(text):
    return [Token(ord(letter), letter, place, place + 1) for place, letter in enumerate(text)]


@pytest.mark.parametrize(
    ("made", "wanted", "wrong"),
    [
        ("16661111", "62951413", {0, 1, 2, 3, 5, 7}),
        ("321", "321", set()),
        ("3212", "321", {3}),
        ("13", "321", {0, 1}),
        ("", "321", set()),
    ],
)
def test_what_is_wrong_is_told_place_by_place(made, wanted, wrong):
    assert wrong_positions(read(made), read(wanted)) == wrong
