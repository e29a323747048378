"""The ways of choosing the next token, with their words and options, and the choice among them."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from model.decoding.strategies import Strategy, StrategyName
from pages.shared.state.choice import Choice, number, one_of
from pages.shared.state.choices import chosen
from pages.shared.widgets.choose import choose


class Way(NamedTuple):
    """A strategy in words, and the options it looks at, named as those of `Strategy`."""

    words: str
    options: tuple[Choice, ...] = ()


WAYS: dict[StrategyName, Way] = {
    "greedy": Way("Greedy: the likeliest token is written at every step, and never taken back."),
    "beam": Way(
        "Beam search: the most likely texts so far are extended side by side, and the one with "
        "the best final score is returned.",
        (
            number(
                "beam_size",
                Strategy.beam_size,
                (1, 8),
                label="Beam size",
                help="How many texts are followed at once; with 1 it is greedy.",
            ),
            number(
                "length_penalty",
                Strategy.length_penalty,
                (0.0, 2.0),
                label="Length penalty",
                step=0.1,
                help="A finished text's score is its log-probability / length^penalty. 0 favours "
                "short texts, more favours long ones.",
            ),
        ),
    ),
    "sample": Way(
        "Sampling: every token is drawn at random, likelier ones more often. The same seed draws "
        "the same tokens.",
        (
            number(
                "temperature",
                Strategy.temperature,
                (0.0, 2.0),
                label="Temperature",
                step=0.1,
                help="Below 1 likely tokens are drawn more often still, above 1 less often.",
            ),
            number(
                "top_k",
                Strategy.top_k,
                (0, 100),
                label="top-k",
                help="Only this many of the likeliest tokens can be drawn; 0 stands for all.",
            ),
            number(
                "top_p",
                Strategy.top_p,
                (0.05, 1.0),
                label="top-p",
                step=0.05,
                help="Only the likeliest tokens that together reach this probability can be drawn.",
            ),
            number(
                "seed",
                Strategy.seed,
                (0, 9_999),
                label="Seed",
                help="Where the random numbers begin.",
            ),
        ),
    ),
}
STRATEGY = one_of("strategy", {name: name.title() for name in WAYS}, label="Strategy")
LONGEST = number(
    "longest",
    64,
    (1, 255),
    label="Longest",
    help="The most tokens a translation may have; where they are used up, it stops.",
)
OPTIONS = dict.fromkeys(option for way in WAYS.values() for option in way.options)
CHOICES = (STRATEGY, *OPTIONS, LONGEST)


def choose_strategy() -> tuple[Strategy, int]:
    """Draw the choice of a strategy and its options; return it, and the longest translation.

    Raise ValueError for options that make no sense.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        way = WAYS[choose(STRATEGY)]
        for option in (*way.options, LONGEST):
            choose(option, width=130)
    st.caption(way.words)
    options = {option.key: chosen(option) for option in way.options}
    return Strategy(chosen(STRATEGY), **options), chosen(LONGEST)


def strategy_words(strategy: Strategy, longest: int) -> str:
    """Return a strategy and its options in words."""
    options = WAYS[strategy.strategy].options
    parts = [f"{option.label.lower()} {getattr(strategy, option.key)}" for option in options]
    return ", ".join([strategy.strategy, *parts, f"{LONGEST.label.lower()} {longest}"])
