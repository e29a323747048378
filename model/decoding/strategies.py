"""How a decoding chooses the next token: the strategies, with their names and options.

Each strategy is a record in STRATEGIES, and each option a field of `Strategy`, which several
strategies can share. Pages draw their controls from both, and links read and write them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor

from headlight.model.transformer import decode

# Takes a step, texts, what ends a text and the maximum length; returns the longer texts.
Write = Callable[[decode.Step, decode.Texts, decode.Ends, int], decode.Texts]


def option(default: float, label: str, bounds: tuple, help: str, step: float | None = None) -> Any:
    """Return a field of `Strategy` with its default, and its label, range and help on a page."""
    shown = {"label": label, "bounds": bounds, "help": help, "step": step}
    return field(default=default, metadata=shown)


@dataclass(frozen=True)
class Strategy:
    """A strategy, by its name in STRATEGIES, and its options.

    Each strategy ignores the options of the others. Raises ValueError for options out of range.
    """

    strategy: str = "greedy"
    beam_size: int = option(
        4, "Beam size", (1, 8), "How many texts are followed at once; 1 is the same as greedy."
    )
    length_penalty: float = option(
        1.0,
        "Length penalty",
        (0.0, 2.0),
        "A finished text's score is its log-probability / length^penalty. 0 favours short texts, "
        "larger values favour longer ones.",
        0.1,
    )
    temperature: float = option(
        1.0,
        "Temperature",
        (0.0, 2.0),
        "Below 1, likely tokens are drawn even more often; above 1, less often.",
        0.1,
    )
    top_k: int = option(
        0,
        "top-k",
        (0, 100),
        "Only this many of the likeliest tokens can be drawn; 0 means all.",
    )
    top_p: float = option(
        1.0,
        "top-p",
        (0.05, 1.0),
        "Only the likeliest tokens that together reach this probability can be drawn.",
        0.05,
    )
    seed: int = option(
        0,
        "Seed",
        (0, 9_999),
        "Another seed draws other tokens; the same seed draws the same ones again.",
    )

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise ValueError(
                f"{self.strategy!r} is not a strategy; choose one of {', '.join(STRATEGIES)}."
            )
        looks_at = self.method.options
        if "beam_size" in looks_at and self.beam_size < 1:
            raise ValueError("The beam size must be at least 1.")
        # `not ... > 0` also refuses NaN, which `... <= 0` would let pass
        if "temperature" in looks_at and not self.temperature > 0:
            raise ValueError("The temperature must be above 0; instead of 0, decode greedily.")
        if "top_k" in looks_at and self.top_k < 0:
            raise ValueError("top_k must be 0, which means all tokens, or more.")
        if "top_p" in looks_at and not 0 < self.top_p <= 1:
            raise ValueError("top_p must be above 0 and at most 1.")

    @property
    def method(self) -> Method:
        return STRATEGIES[self.strategy]

    @property
    def width(self) -> int:
        """The number of texts that are followed for one sentence."""
        return self.beam_size if "beam_size" in self.method.options else 1

    def score(self, log_probability: float, length: int) -> float:
        """Return the score by which texts are ranked; `length` includes the end token."""
        return decode.score(log_probability, length, self.length_penalty)

    @property
    def draws(self) -> bool:
        return "seed" in self.method.options

    def drawn_from(self, log_probabilities: Tensor) -> Tensor | None:
        """Return the probabilities (R, V) with which tokens are drawn; None if none are drawn."""
        if not self.draws:
            return None
        how = self.temperature, self.top_k, self.top_p
        return decode.narrow(log_probabilities, *how).softmax(dim=-1)


@dataclass(frozen=True)
class Method:
    """How a strategy works.

    If its options include `beam_size`, it follows that many texts in parallel; if they include
    `seed`, it draws tokens at random.
    """

    words: str  # the description of the strategy on screen
    # Returns the function that writes; each one has its own random state.
    begin: Callable[[Strategy, torch.device, decode.Watch], Write]
    options: tuple[str, ...] = ()  # the fields of `Strategy` that this strategy uses


STRATEGIES = {
    "greedy": Method(
        "Greedy: the likeliest token is written at every step, and never taken back.",
        lambda at, device, watch: decode.greedy,
    ),
    "beam": Method(
        "Beam search: the most likely texts so far are extended side by side, and the one with "
        "the best final score is returned.",
        lambda at, device, watch: (
            partial(decode.beam, width=at.beam_size, penalty=at.length_penalty, watch=watch)
            if at.beam_size > 1
            else decode.greedy
        ),
        ("beam_size", "length_penalty"),
    ),
    "sample": Method(
        "Sampling: every token is drawn at random, likelier ones more often. The same seed draws "
        "the same tokens.",
        lambda at, device, watch: partial(
            decode.sample,
            generator=torch.Generator(device).manual_seed(at.seed),
            temperature=at.temperature,
            top_k=at.top_k,
            top_p=at.top_p,
        ),
        ("temperature", "top_k", "top_p", "seed"),
    ),
}


def allowed(logits: Tensor, banned: Tensor) -> Tensor:
    """Return the log-probabilities (R, V) of logits (R, V), with -inf for the banned ids."""
    return torch.log_softmax(logits.float(), dim=-1).index_fill_(1, banned, -torch.inf)
