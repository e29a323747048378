import pytest

from headlight.model.decoding.strategies import STRATEGIES, Strategy
from headlight.model.translator import load
from headlight.pages.parts.decoding.request import CHOICES, OPTIONS, STRATEGY, strategy_words
from headlight.pages.shared.address import read_parameters

CONFIG = load("en-fr").model.config


def test_every_strategy_of_the_model_is_offered():
    assert tuple(STRATEGY.options) == tuple(STRATEGIES)
    assert {*OPTIONS} == {option for method in STRATEGIES.values() for option in method.options}


@pytest.mark.parametrize(
    "wrong",
    [
        {"strategy": "luck"},
        {"beam_size": "9"},
        {"beam_size": "2.5"},
        {"beam_size": "9" * 5_000},
        {"top_p": "nan"},
        {"temperature": "-1"},
        {"seed": ""},
        {"longest": "0"},
    ],
)
def test_what_is_beyond_bounds_in_a_link_is_left_out(wrong):
    values, refused = read_parameters(wrong, CHOICES, CONFIG)
    assert values == {choice.key: choice.default for choice in CHOICES}
    assert refused == tuple(wrong)


def test_a_strategy_is_told_with_its_own_options_alone():
    assert strategy_words(Strategy(), 64) == "greedy, at most 64 tokens"
    words = "beam, beam size 3, length penalty 0.5, at most 20 tokens"
    assert strategy_words(Strategy("beam", 3, 0.5), 20) == words
