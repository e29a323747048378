"""Riddles: what is asked of a picture, and what is said of a guess."""

from functools import partial

import numpy as np
import pytest

from headlight.pages.shared.show import riddle as riddles
from headlight.pages.shared.show.riddle import NO_GUESS, Riddle, which_head
from headlight.viz.numbers import number_text

RIDDLE = Riddle(
    asks="Encoder, layer 1, head 1: which token does “it” look at most?",
    finds="“it” looks most at",
    options=["the", "cat", "dog"],
    names=["“the”", "“cat”", "“dog”"],
    told=["weight 0.040", "weight 0.480", "weight 0.480"],
    right=[1, 2],
)
WEIGHTS = np.array([[0.5, 0.5, 0, 0], [0.1, 0.2, 0.7, 0], [0, 0, 0, 0]])
TOKENS = ["the", "cat", "the", "end"]


@pytest.fixture
def looked_at(monkeypatch):
    """The riddle of a row, counted from 0, that a visitor has chosen."""

    def ask(row, **more):
        monkeypatch.setattr(riddles, "choose_token", lambda choice, tokens, **more: row)
        return riddles.most_looked_at("Head", WEIGHTS, ["it", "was", "it"], TOKENS, **more)

    return ask


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (0, "You guessed “the”, weight 0.040: “it” looks most at “cat”, weight 0.480."),
        (1, "You guessed “cat”: right, “it” looks most at “cat”, weight 0.480."),
        (2, "You guessed “dog”: right, “it” looks most at “dog”, weight 0.480."),
        (NO_GUESS, "“it” looks most at “cat”, weight 0.480."),
    ],
)
def test_a_guess_is_told_beside_the_answer_and_any_of_equal_answers_is_right(place, said):
    assert RIDDLE.verdict(place) == said


def test_the_token_that_a_row_looks_at_most_is_the_answer(looked_at):
    riddle = looked_at(1)
    assert riddle.asks == "Head: which token does “was” look at most?"
    assert riddle.options == TOKENS
    assert riddle.right == [2]
    assert riddle.verdict(1) == (
        "You guessed “cat”, weight 0.200: “was” looks most at “the” (token 3), weight 0.700."
    )


def test_equal_rows_are_told_apart_and_equal_weights_are_all_right(looked_at):
    riddle = looked_at(0)
    assert riddle.asks == "Head: which token does “it” (token 1) look at most?"
    assert riddle.right == [0, 1]


def test_what_a_mask_closes_cannot_be_guessed_unless_it_closes_all(looked_at):
    blocked = np.array([[False] * 4, [False, False, False, True], [True] * 4])
    assert looked_at(1, blocked=blocked).options == ["the", "cat", "the"]
    assert looked_at(1, blocked=blocked).names == ["“the” (token 1)", "“cat”", "“the” (token 3)"]
    assert looked_at(2, blocked=blocked).options == TOKENS


def test_heads_stand_on_boards_by_kind_and_the_least_number_may_be_the_answer():
    numbers = {"encoder": np.array([[0.1, -0.2]]), "cross": np.array([[-3.0], [np.nan]])}
    told = partial(number_text, signed=True)
    least = which_head("?", "least:", numbers, told, least=True)
    assert least.boards == [("Encoder", 1, 2), ("Cross-attention", 2, 1)]
    assert least.names[least.right[0]] == "Cross-attention, layer 1, head 1"
    most = which_head("?", "most:", numbers, told)
    assert most.verdict(1) == (
        "You guessed Encoder, layer 1, head 2, −0.200: most: Encoder, layer 1, head 1, +0.100."
    )


def test_something_is_right_even_where_nothing_is_known():
    assert riddles.places_of_most(np.array([np.nan, 1.0, 1.0])) == [1, 2]
    assert riddles.places_of_most(np.full(2, np.nan)) == [0, 1]
