"""The ways of choosing the next token, with their words and options, and the choice among them."""

from __future__ import annotations

from itertools import chain

from model.decoding.strategies import Strategy, StrategyName
from pages.shared.state.choice import Choice, number, one_of
from pages.shared.state.choices import chosen
from pages.shared.widgets.choose import choose

WORDS: dict[StrategyName, str] = {
    "greedy": "Greedy: the likeliest token is written at every step, and never taken back.",
    "beam": (
        "Beam search: the most likely texts so far are extended side by side, and the one with "
        "the best final score is returned."
    ),
    "sample": (
        "Sampling: every token is drawn at random, likelier ones more often. The same seed draws "
        "the same tokens."
    ),
}
HELP = {
    "beam_size": "How many texts are followed at once; with 1 it is greedy.",
    "length_penalty": (
        "A finished text's score is its log-probability / length^penalty. 0 favours short texts, "
        "more favours long ones."
    ),
    "temperature": "Below 1 likely tokens are drawn more often still, above 1 less often.",
    "top_k": "Only this many of the likeliest tokens can be drawn; 0 stands for all.",
    "top_p": "Only the likeliest tokens that together reach this probability can be drawn.",
    "seed": "Where the random numbers begin.",
    "longest": "The most tokens that are written; where they are used up, it stops.",
}


def option(name: str, label: str, bounds: tuple[float, float], step: float | None = None) -> Choice:
    """Return the choice of an option of `Strategy`, whose default it has."""
    default = getattr(Strategy, name)
    return number(name, default, bounds, label=label, step=step, help=HELP[name])


OPTIONS: dict[StrategyName, tuple[Choice, ...]] = {  # that each strategy looks at
    "greedy": (),
    "beam": (
        option("beam_size", "Beam size", (1, 8)),
        option("length_penalty", "Length penalty", (0.0, 2.0), 0.1),
    ),
    "sample": (
        option("temperature", "Temperature", (0.0, 2.0), 0.1),
        option("top_k", "top-k", (0, 100)),
        option("top_p", "top-p", (0.05, 1.0), 0.05),
        option("seed", "Seed", (0, 9_999)),
    ),
}
STRATEGY = one_of("strategy", {name: name.title() for name in OPTIONS}, label="Strategy")
LONGEST = number("longest", 64, (1, 255), label="Most tokens", help=HELP["longest"])
CHOICES = (STRATEGY, *chain(*OPTIONS.values()), LONGEST)


def choose_strategy() -> None:
    """Draw the choice of a strategy and its options."""
    for choice in (*OPTIONS[choose(STRATEGY)], LONGEST):
        choose(choice, width=130)


def chosen_strategy() -> tuple[Strategy, int]:
    """Return the chosen strategy, and the most tokens to write.

    Raise ValueError for options that make no sense.
    """
    name = chosen(STRATEGY)
    return Strategy(name, **{one.key: chosen(one) for one in OPTIONS[name]}), chosen(LONGEST)


def strategy_words(strategy: Strategy, longest: int) -> str:
    """Return a strategy and its options in words."""
    options = OPTIONS[strategy.strategy]
    parts = [f"{option.label.lower()} {getattr(strategy, option.key)}" for option in options]
    return ", ".join([strategy.strategy, *parts, f"at most {longest} tokens"])
