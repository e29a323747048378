"""How a decoding chooses the next token: the strategies, with their names and options.

Each strategy is a record in STRATEGIES, and each option a field of `Strategy`, which several
strategies can share. Pages draw their controls from both, and links read and write them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

LEAST_TEMPERATURE = 1e-30  # smaller ones are 0 in single precision

# From the log-probabilities of R prefixes (R,), those of their next tokens (R, V), and how many
# candidates a beam needs, to candidates, best first: their rows, ids and log-probabilities (C,).
Candidates = tuple[Tensor, Tensor, Tensor]
Choose = Callable[[Tensor, Tensor, int], Candidates]


def option(default: float, label: str, bounds: tuple, help: str, step: float | None = None) -> Any:
    """Return a field with its default, its text on a page, and the range that the page offers."""
    shown = {"label": label, "bounds": bounds, "help": help, "step": step}
    return field(default=default, metadata=shown)


@dataclass(frozen=True)
class Strategy:
    """A strategy by its name in STRATEGIES, with its options.

    Each strategy only looks at its own options. Raises ValueError for options that make no sense.
    """

    strategy: str = "greedy"
    beam_size: int = option(
        4, "Beam size", (1, 8), "How many texts are followed at once; with 1 it is greedy."
    )
    length_penalty: float = option(
        1.0,
        "Length penalty",
        (0.0, 2.0),
        "A finished text's score is its log-probability / length^penalty. 0 favours short texts, "
        "more favours long ones.",
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
            raise ValueError("A beam needs at least 1 prefix.")
        if "temperature" in looks_at and not self.temperature > 0:  # nor NaN
            raise ValueError("The temperature must be above 0; for 0, decode greedily.")
        if "top_k" in looks_at and self.top_k < 0:
            raise ValueError("top_k must be 0, for all tokens, or more.")
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
        return log_probability / max(1, length) ** self.length_penalty

    def drawn_from(self, log_probabilities: Tensor) -> Tensor | None:
        """Return the probabilities (R, V) that tokens are drawn from; None if none are drawn."""
        weigh = self.method.weigh
        return None if weigh is None else weigh(self, log_probabilities).softmax(dim=-1)


def most_likely_of_each(totals: Tensor, log_probabilities: Tensor, _: int) -> Candidates:
    ids = log_probabilities.argmax(dim=-1, keepdim=True)  # (R, 1)
    return one_of_each(totals, log_probabilities.gather(1, ids)[:, 0], ids[:, 0])


def one_of_each(totals: Tensor, log_probabilities: Tensor, ids: Tensor) -> Candidates:
    """Extend every prefix by one token, whose log-probability (R,) and id (R,) are given."""
    return torch.arange(len(ids), device=ids.device), ids, totals + log_probabilities


def best_of_all(totals: Tensor, log_probabilities: Tensor, count: int) -> Candidates:
    """Return the most likely texts with one more token."""
    best_of_each = log_probabilities.topk(min(count, log_probabilities.size(-1)))
    candidates = totals[:, None] + best_of_each.values  # (R, count)
    best = candidates.flatten().topk(min(count, candidates.numel()))
    rows = best.indices // candidates.size(-1)
    return rows, best_of_each.indices.flatten()[best.indices], best.values


def sampling(strategy: Strategy, device: torch.device) -> Choose:
    """Return a function that extends every prefix by a token drawn at random."""
    generator = torch.Generator(device).manual_seed(strategy.seed)

    def draw(totals: Tensor, log_probabilities: Tensor, _: int) -> Candidates:
        ids = torch.multinomial(strategy.drawn_from(log_probabilities), 1, generator=generator)
        return one_of_each(totals, log_probabilities.gather(1, ids)[:, 0], ids[:, 0])

    return draw


def narrow(scores: Tensor, temperature: float, top_k: int, top_p: float) -> Tensor:
    """Return scores (R, V) to draw from, -inf for tokens that are too unlikely to be drawn.

    A temperature below 1 sharpens and above 1 flattens. `top_k` keeps the k most likely tokens, 0
    keeps all. `top_p` keeps the most likely tokens that together reach that probability (Holtzman
    et al. 2020, "The Curious Case of Neural Text Degeneration"). Ties are broken as in the
    transformers library.
    """
    scores = scores - scores.amax(dim=-1, keepdim=True)  # else a small temperature gives infinity
    scores = scores / max(temperature, LEAST_TEMPERATURE)
    if 0 < top_k < scores.size(-1):
        least = scores.topk(top_k).values[:, -1:]
        scores = scores.masked_fill(scores < least, -torch.inf)
    if top_p < 1:
        ordered, order = scores.sort(dim=-1)  # the likeliest last, as in transformers
        unlikely = ordered.softmax(dim=-1).cumsum(dim=-1) <= 1 - top_p
        unlikely[:, -1] = False
        scores = scores.masked_fill(unlikely.scatter(-1, order, unlikely), -torch.inf)
    return scores


@dataclass(frozen=True)
class Method:
    """How a strategy works.

    A strategy with a `beam_size` follows that many texts in parallel. One with `weigh` draws tokens
    by the softmax of the scores (R, V) that it computes from log-probabilities (R, V).
    """

    words: str
    begin: Callable[
        [Strategy, torch.device], Choose
    ]  # makes the function that chooses, with its own random state
    options: tuple[str, ...] = ()  # the fields of `Strategy` that it looks at
    weigh: Callable[[Strategy, Tensor], Tensor] | None = None


STRATEGIES = {
    "greedy": Method(
        "Greedy: the likeliest token is written at every step, and never taken back.",
        lambda strategy, device: most_likely_of_each,
    ),
    "beam": Method(
        "Beam search: the most likely texts so far are extended side by side, and the one with "
        "the best final score is returned.",
        lambda strategy, device: best_of_all if strategy.width > 1 else most_likely_of_each,
        ("beam_size", "length_penalty"),
    ),
    "sample": Method(
        "Sampling: every token is drawn at random, likelier ones more often. The same seed draws "
        "the same tokens.",
        sampling,
        ("temperature", "top_k", "top_p", "seed"),
        weigh=lambda at, scores: narrow(scores, at.temperature, at.top_k, at.top_p),
    ),
}


def allowed(logits: Tensor, banned: Tensor) -> Tensor:
    """Return log-probabilities (R, V) of logits, with -inf for ids that are never written."""
    return torch.log_softmax(logits.float(), dim=-1).index_fill_(1, banned, -torch.inf)
