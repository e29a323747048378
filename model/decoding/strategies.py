"""How a decoding chooses the next token: the most likely, a drawn one, or the best of a beam."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

StrategyName = Literal["greedy", "beam", "sample"]
STRATEGIES: tuple[StrategyName, ...] = get_args(StrategyName)
LEAST_TEMPERATURE = 1e-30  # smaller ones are 0 in single precision

# From the log-probabilities of R prefixes (R,), those of their next tokens (R, V), and how many
# texts are still wanted, to candidates, best first: their rows, ids and log-probabilities (C,).
Candidates = tuple[Tensor, Tensor, Tensor]
Choose = Callable[[Tensor, Tensor, int], Candidates]


@dataclass(frozen=True)
class Strategy:
    """A way of choosing tokens and its options; each way looks only at its own.

    A beam follows the `beam_size` most likely prefixes and ranks the texts it finds by
    log-probability / length ** length_penalty. See `narrow` for temperature, top_k and top_p.
    Raises ValueError for options that make no sense.
    """

    strategy: StrategyName = "greedy"
    beam_size: int = 4
    length_penalty: float = 1.0
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise ValueError(
                f"{self.strategy!r} is not a strategy; choose one of {', '.join(STRATEGIES)}."
            )
        if self.strategy == "beam" and self.beam_size < 1:
            raise ValueError("A beam needs at least 1 prefix.")
        if self.strategy == "sample":
            if self.temperature <= 0:
                raise ValueError("The temperature must be above 0; for 0, decode greedily.")
            if self.top_k < 0:
                raise ValueError("top_k must be 0, for all tokens, or more.")
            if not 0 < self.top_p <= 1:
                raise ValueError("top_p must be above 0 and at most 1.")

    @property
    def width(self) -> int:
        """How many texts are followed for one sentence."""
        return self.beam_size if self.strategy == "beam" else 1

    def score(self, log_probability: float, length: int) -> float:
        """Return what texts are ranked by; `length` counts the end token too."""
        return log_probability / max(1, length) ** self.length_penalty

    def chooser(self, device: torch.device) -> Choose:
        """Return the function that chooses, with its own random state if it draws."""
        if self.strategy == "beam":
            return best_of_all
        if self.strategy == "greedy":
            return most_likely_of_each
        generator = torch.Generator(device).manual_seed(self.seed)

        def draw(totals: Tensor, log_probabilities: Tensor, _: int) -> Candidates:
            probabilities = self.drawn_from(log_probabilities)
            ids = torch.multinomial(probabilities, 1, generator=generator)  # (R, 1)
            return one_of_each(totals, log_probabilities.gather(1, ids)[:, 0], ids[:, 0])

        return draw

    def drawn_from(self, log_probabilities: Tensor) -> Tensor:
        """Return the probabilities (R, V) that a sample is drawn from."""
        return narrow(log_probabilities, self.temperature, self.top_k, self.top_p).softmax(dim=-1)


def most_likely_of_each(totals: Tensor, log_probabilities: Tensor, _: int) -> Candidates:
    """Extend every prefix by its most likely token."""
    ids = log_probabilities.argmax(dim=-1, keepdim=True)  # (R, 1)
    return one_of_each(totals, log_probabilities.gather(1, ids)[:, 0], ids[:, 0])


def one_of_each(totals: Tensor, log_probabilities: Tensor, ids: Tensor) -> Candidates:
    """Extend every prefix by one token, whose log-probability (R,) and id (R,) are given."""
    return torch.arange(len(ids), device=ids.device), ids, totals + log_probabilities


def best_of_all(totals: Tensor, log_probabilities: Tensor, wanted: int) -> Candidates:
    """Return the most likely texts that are one token longer: twice as many as are `wanted`."""
    count = 2 * wanted
    best_of_each = log_probabilities.topk(min(count, log_probabilities.size(-1)))
    candidates = totals[:, None] + best_of_each.values  # (R, count)
    best = candidates.flatten().topk(min(count, candidates.numel()))
    rows = best.indices // candidates.size(-1)
    return rows, best_of_each.indices.flatten()[best.indices], best.values


def narrow(scores: Tensor, temperature: float, top_k: int, top_p: float) -> Tensor:
    """Scores (R, V) to draw from: sharpened, and -inf for tokens too unlikely to be drawn.

    A temperature below 1 sharpens and above 1 flattens; `top_k` keeps the k most likely, 0 all;
    `top_p` keeps the most likely that together reach that probability (Holtzman et al. 2020,
    "The Curious Case of Neural Text Degeneration").
    """
    scores = scores - scores.amax(dim=-1, keepdim=True)  # else a small temperature gives infinity
    scores = scores / max(temperature, LEAST_TEMPERATURE)
    if 0 < top_k < scores.size(-1):
        least = scores.topk(top_k).values[:, -1:]
        scores = scores.masked_fill(scores < least, -torch.inf)
    if top_p < 1:
        ordered, order = scores.sort(dim=-1, descending=True)
        probabilities = ordered.softmax(dim=-1)
        before = probabilities.cumsum(dim=-1) - probabilities  # of the likelier ones
        ordered = ordered.masked_fill(before >= top_p, -torch.inf)
        scores = torch.full_like(scores, -torch.inf).scatter(-1, order, ordered)
    return scores
