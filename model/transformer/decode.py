"""Three ways to write a text token by token: greedy, by sampling, and by beam search.

Each calls a `step`, which returns the log-probabilities (R, V) of the next token of R texts.
`ends` says which texts end with their last token, and `longest` is the most tokens of a text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Generator, Tensor


class Texts(NamedTuple):
    """R texts of T tokens each, and the text that each token extended; T is 0 at first."""

    ids: Tensor  # (R, T)
    rows: Tensor  # (R, T) for each token, the index of the text it was appended to at its step
    totals: Tensor  # (R, 1 + T) the log-probability of the first 0, 1, ... T tokens

    def extend(self, ids: Tensor, log_probabilities: Tensor, rows: Tensor | None = None) -> Texts:
        """Append a token (C,) to each text, or to the texts in `rows` (C,)."""
        rows = torch.arange(len(ids), device=ids.device) if rows is None else rows
        last = ids, rows, self.totals[rows, -1] + log_probabilities
        pairs = zip(self, last, strict=True)
        return Texts(*(torch.cat([old[rows], new[:, None]], dim=1) for old, new in pairs))

    def take(self, rows: Sequence[int] | Tensor) -> Texts:
        return Texts(*(part[rows] for part in self))

    def go_on(self, ends: Ends, longest: int) -> bool:
        return self.ids.size(1) < longest and not (self.ids.size(1) and ends.of(self.ids).any())


class Ends(NamedTuple):
    """What ends a text: one of the ids (E,), or `stop`, which maps texts (R, T) to bool (R,)."""

    ids: Tensor
    stop: Callable[[Tensor], Tensor] | None = None

    def of(self, texts: Tensor) -> Tensor:
        """Return which texts (R, T) end with their last token: (R,)."""
        ended = torch.isin(texts[:, -1], self.ids)
        return ended if self.stop is None else ended | self.stop(texts)


Step = Callable[[Texts], Tensor]
Watch = Callable[[Texts, list[int]], None]


def greedy(step: Step, texts: Texts, ends: Ends, longest: int) -> Texts:
    """Append the likeliest token to every text until one of them ends."""
    while texts.go_on(ends, longest):
        likeliest = step(texts).max(dim=-1)  # (R,)
        texts = texts.extend(likeliest.indices, likeliest.values)
    return texts


def sample(
    step: Step, texts: Texts, ends: Ends, longest: int, generator: Generator, **options: Any
) -> Texts:
    """Append a token drawn at random to every text until one of them ends; see `narrow`."""
    while texts.go_on(ends, longest):
        log_probabilities = step(texts)  # (R, V)
        weights = narrow(log_probabilities, **options).softmax(dim=-1)
        ids = torch.multinomial(weights, 1, generator=generator)  # (R, 1)
        texts = texts.extend(ids[:, 0], log_probabilities.gather(1, ids)[:, 0])
    return texts


def narrow(scores: Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> Tensor:
    """Return the scores (R, V) to draw from, with -inf for tokens that must not be drawn.

    A temperature below 1 makes likely tokens likelier, one above 1 less likely. `top_k` keeps the k
    most likely tokens; 0 keeps all. `top_p` keeps the most likely tokens that together reach this
    probability (Holtzman et al. 2020, "The Curious Case of Neural Text Degeneration"). Ties are
    broken as in the transformers library.
    """
    # With 0 as the highest score, a small temperature does not lead to infinity.
    scores = scores - scores.amax(dim=-1, keepdim=True)
    scores = scores / max(temperature, 1e-30)  # in single precision, smaller numbers become 0
    if 0 < top_k < scores.size(-1):
        least = scores.topk(top_k).values[:, -1:]
        scores = scores.masked_fill(scores < least, -torch.inf)
    if top_p < 1:
        ordered, order = scores.sort(dim=-1)  # the likeliest token is last, as in transformers
        unlikely = ordered.softmax(dim=-1).cumsum(dim=-1) <= 1 - top_p
        unlikely[:, -1] = False
        scores = scores.masked_fill(unlikely.scatter(-1, order, unlikely), -torch.inf)
    return scores


def beam(
    step: Step,
    texts: Texts,
    ends: Ends,
    longest: int,
    width: int = 4,
    penalty: float = 1.0,
    watch: Watch | None = None,
) -> Texts:
    """Follow the `width` likeliest continuations of one text, and return the text that scores best.

    A text is finished if it ends while it is among the `width` likeliest. The search stops when no
    other text can still score better than the best finished one. `watch` is called at each step
    with the candidates, the likeliest first, and the indices of those that are kept.
    Source: "Attention Is All You Need", section 6.1.
    """
    # Even if each text ends in every possible way, `width` candidates are left that do not end.
    enough = width * max(2, 1 + len(ends.ids))
    finished: list[Texts] = []
    while len(texts.ids) and texts.ids.size(1) < longest:
        log_probabilities = step(texts)  # (R, V)
        likely = log_probabilities.topk(min(enough, log_probabilities.size(1)))  # (R, N)
        totals = (texts.totals[:, -1:] + likely.values).flatten()
        best = totals.topk(min(enough, len(totals)))  # (C,)
        # in a tiny vocabulary, fewer than `enough` are left
        best = best.indices[best.values.isfinite()]
        ids, values = likely.indices.flatten()[best], likely.values.flatten()[best]
        candidates = texts.extend(ids, values, rows=best // likely.values.size(1))
        is_end = ends.of(candidates.ids).tolist()
        ended = [at for at, end in enumerate(is_end[:width]) if end]
        live = [at for at, end in enumerate(is_end) if not end][:width]
        finished += [candidates.take([at]) for at in ended]
        if live and finished:
            possible = best_possible(candidates.take(live[:1]), longest, penalty)
            live = [] if max(score_of(text, penalty) for text in finished) >= possible else live
        if watch is not None:
            watch(candidates, ended + live)
        texts = candidates.take(live)
    finished += [texts.take([row]) for row in range(len(texts.ids))]
    return max(finished, key=lambda text: score_of(text, penalty))


def score(log_probability: float, length: int, penalty: float) -> float:
    """Return the score by which texts are ranked; the length includes the end token.

    This is the score of the transformers library. Wu et al. 2016 divide by
    ((5 + length) / 6)^penalty instead.
    """
    return log_probability / max(1, length) ** penalty


def score_of(text: Texts, penalty: float) -> float:
    return score(text.totals[0, -1].item(), text.ids.size(1), penalty)


def best_possible(text: Texts, longest: int, penalty: float) -> float:
    """Return the best score that a text can still reach.

    Its log-probability can only fall, so the best score is reached if all further tokens are
    certain, and the text ends at once or at the longest length.
    """
    total = text.totals[0, -1].item()
    return max(score(total, length, penalty) for length in (text.ids.size(1), longest))
