"""Writes texts with any model, one token at a time."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import torch
from torch import Tensor

from headlight.model.decoding.cache import CacheSize
from headlight.model.decoding.prefixes import NEVER_WRITTEN, Prefixes, TransformerPrefixes
from headlight.model.decoding.strategies import Strategy
from headlight.model.trace import Trace
from headlight.model.transformer.decode import Ends, Step, Texts
from headlight.model.transformer.trace import RunEdits, Site
from headlight.model.transformer.transformer import Transformer

Part = TypeVar("Part")  # the key of a recorded tensor, such as its attention block
LONGEST = 64  # tokens written after a prompt by default
NOT_A_NUMBER = (
    "The model's scores of the next token are not numbers, so it cannot write. Undo changes of its "
    "heads and cells, or choose another text."
)


@dataclass(frozen=True)
class Decoded:
    """The ids that a decoding chose, without start and end token, and their log-probabilities."""

    ids: list[int]
    log_probability: float  # the log-probability of the ids, and of the end token if it was reached
    end: int | None  # the end token; None if the length limit ended the text
    log_probabilities: list[float]  # the log-probability of each token, and of a reached end token
    rows: list[int]  # for each token, the index of the prefix that it extends
    stopped: bool = False  # True if `stop` ended the text at its last token; see `search`

    @property
    def finished(self) -> bool:
        return self.end is not None

    @property
    def written(self) -> list[int]:
        """The ids, with the end token if it was reached."""
        return self.ids if self.end is None else [*self.ids, self.end]


@dataclass(frozen=True)
class Expansion:
    """One step of a decoding: R prefixes, the model's predictions, and C candidates to go on with.

    A candidate is a prefix and its next token. Candidates are ordered from best to worst. The kept
    ones, except those with an end token, are the prefixes of the next step, in the same order. The
    weights and masked scores are of the newest query.
    """

    weights: dict[Site, Tensor]  # (R, H, 1, K)
    masked_scores: dict[Site, Tensor]  # (R, H, 1, K)
    log_probabilities: Tensor  # (R, V) the log-probabilities of each prefix's next token
    cached: dict[Site, CacheSize]  # the size of the cache after this step, for one prefix
    rows: Tensor  # (C,) the prefix that a candidate extends
    ids: Tensor  # (C,) the token that a candidate adds
    totals: Tensor  # (C,) the log-probability of all tokens of a candidate
    kept: Set[int]  # the indices of the candidates that were kept, as prefixes or finished texts
    ended: Set[int] = frozenset()  # the indices of the candidates that end their text


def decode(
    model: Transformer,
    source_ids: Tensor,
    strategy: Strategy = Strategy(),
    *,
    max_new_tokens: int,
    forced: Sequence[int] = (),
    edits: RunEdits | None = None,
    never_written: Sequence[int] = NEVER_WRITTEN,
    record: list[Expansion] | None = None,
) -> list[Decoded]:
    """Write a translation for each row of `source_ids` (B, S) by a strategy; see `search`."""
    with torch.inference_mode():
        prefixes = TransformerPrefixes(model, source_ids, edits, never_written)
        return search(
            prefixes, strategy, max_new_tokens=max_new_tokens, forced=forced, record=record
        )


def room_to_write(begun: int, most: int, longest: int | None) -> int:
    """Return how many tokens may be written after a prompt of `begun` tokens.

    `most` is the number of tokens that the model takes, prompt included; `longest` is the caller's
    limit, LONGEST by default. Raises ValueError if there is no room.
    """
    if begun >= most:
        raise ValueError(
            f"The prompt has {begun} tokens, which leaves no room to write: the model takes "
            f"{most}. Shorten the prompt."
        )
    return min(LONGEST if longest is None else longest, most - begun)


@torch.inference_mode()
def search(
    prefixes: Prefixes,
    strategy: Strategy = Strategy(),
    *,
    max_new_tokens: int,
    forced: Sequence[int] = (),
    record: list[Expansion] | None = None,
    stop: Callable[[Tensor], Tensor] | None = None,
) -> list[Decoded]:
    """Write a text for each prefix by a strategy; beam search takes only one prefix.

    Every text begins with the `forced` ids, and stops at an end token or after `max_new_tokens`.
    `stop` returns which texts (R, T) stop at their last token for another reason: bool (R,). Beam
    search returns what `generate` of transformers does with `early_stopping="never"`. The order of
    texts with exactly equal log-probabilities or scores is not defined, as in transformers. Each
    step is appended to `record`. Raises ValueError for forced ids that cannot be written or are too
    many, and if the model's scores are not numbers.
    """
    begun = prefixes.ids[:, :0]  # (B, 0), because nothing is written yet
    if strategy.width > 1 and len(begun) > 1:
        raise ValueError(f"Beam search takes one sentence at a time, not {len(begun)}.")
    refuse_impossible(forced, prefixes.vocabulary, max_new_tokens)
    ends = Ends(torch.tensor([*prefixes.ends], dtype=torch.long, device=begun.device), stop)
    step = Steps(prefixes, ends, record)
    write = strategy.method.begin(strategy, begun.device, step.note)
    texts = Texts(begun, begun, torch.zeros(len(begun), 1, device=begun.device))
    finished: list[Decoded] = []
    while len(texts.ids) and texts.ids.size(1) < max_new_tokens:
        go_on = partial(force, forced) if texts.ids.size(1) < len(forced) else write
        texts = go_on(step, texts, ends, max_new_tokens)
        step.note(texts)
        stops, has_end = ends.of(texts.ids), torch.isin(texts.ids[:, -1], ends.ids)
        finished += texts_of(texts.take(has_end), ended=True)
        finished += texts_of(texts.take(stops & ~has_end), ended=False, stopped=True)
        texts = texts.take(~stops)
    finished += texts_of(texts, ended=False)
    return sorted(finished, key=lambda text: text.rows[:1])


def force(forced: Sequence[int], step: Step, texts: Texts, ends: Ends, longest: int) -> Texts:
    """Append the forced ids to every text; raise ValueError if one cannot be written."""
    while texts.go_on(ends, len(forced)):
        index = forced[texts.ids.size(1)]
        wished = step(texts)[:, index]  # (R,)
        if not wished.isfinite().all():
            raise ValueError(f"The model cannot write a token with the id {index}.")
        texts = texts.extend(torch.full_like(wished, index, dtype=torch.long), wished)
    return texts


class Steps:
    """Computes the steps of a decoding: extends the prefixes, and adds each step to `record`."""

    def __init__(self, prefixes: Prefixes, ends: Ends, record: list[Expansion] | None) -> None:
        self.prefixes, self.ends, self.record = prefixes, ends, record
        # Makes the Expansion of the last step once the candidates of this step are known.
        self.expanded: Callable[..., Expansion] | None = None

    def __call__(self, texts: Texts) -> Tensor:
        """Return log-probabilities (R, V) of the next token of texts that grew by one token."""
        if texts.ids.size(1):
            self.note(texts)
            self.prefixes.extend(texts.rows[:, -1], texts.ids[:, -1])
        trace = None if self.record is None else Trace()
        log_probabilities = self.prefixes.next_log_probabilities(trace)
        if log_probabilities.amax().isnan():
            raise ValueError(NOT_A_NUMBER)
        if trace is None:
            return log_probabilities
        # Only weights and scores are kept: the keys and values of all steps would fill the memory.
        sites, cached = trace.attention, self.prefixes.cache_sizes()
        weights = newest({site: record.weights for site, record in sites.items()})
        masked = newest({site: record.masked_scores for site, record in sites.items()})
        self.expanded = partial(Expansion, weights, masked, log_probabilities, cached)
        return log_probabilities

    def note(self, candidates: Texts, kept: Sequence[int] | None = None) -> None:
        """Record the candidates of the last step, unless they were recorded before.

        `kept` has the indices of the kept candidates; by default all are kept.
        """
        if self.record is not None and self.expanded is not None:
            ids, rows, totals = (part[:, -1] for part in candidates)
            kept = range(len(ids)) if kept is None else kept
            ended = {*self.ends.of(candidates.ids).nonzero()[:, 0].tolist()}
            self.record.append(self.expanded(rows, ids, totals, {*kept}, ended))
            self.expanded = None


def texts_of(texts: Texts, ended: bool, stopped: bool = False) -> list[Decoded]:
    parts = texts.ids, texts.totals[:, -1], texts.totals.diff(dim=1), texts.rows
    return [
        Decoded(ids[: len(ids) - ended], total, ids[-1] if ended else None, each, rows, stopped)
        for ids, total, each, rows in zip(*(part.tolist() for part in parts), strict=True)
    ]


def newest(parts: Mapping[Part, Tensor]) -> dict[Part, Tensor]:
    """Return the last query's row of each tensor: (R, H, Q, K) -> (R, H, 1, K).

    The rows of earlier queries, such as a prompt's, are dropped: they would fill the memory.
    """
    last = {name: rows[:, :, -1:] for name, rows in parts.items()}
    return {name: part if parts[name].size(2) == 1 else part.clone() for name, part in last.items()}


def refuse_impossible(forced: Sequence[int], vocabulary: int, limit: int) -> None:
    """Raise ValueError for a forced id that does not exist, or for more ids than the limit."""
    if len(forced) > limit:
        raise ValueError(
            f"The forced beginning has {len(forced)} tokens, but the text may have only {limit}."
        )
    if unknown := [index for index in forced if not 0 <= index < vocabulary]:
        raise ValueError(f"The model cannot write a token with the id {unknown[0]}.")
