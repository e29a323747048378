"""Writing by any model, one token at a time; its prefixes are the texts that it has begun."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import torch
from torch import Tensor

from headlight.model.decoding.cache import CacheSize, sizes_of
from headlight.model.decoding.strategies import Candidates, Strategy, allowed, one_of_each
from headlight.model.edits import opens_the_future
from headlight.model.tokens import END_ID, PAD_ID, START_ID, UNKNOWN_ID
from headlight.model.transformer.cache import KeyValueCache
from headlight.model.transformer.trace import Run, RunEdits, Site, Trace
from headlight.model.transformer.transformer import Transformer

LONGEST = 64  # tokens written after a prompt if nothing else is asked for
NEVER_WRITTEN = (PAD_ID, UNKNOWN_ID, START_ID)


class Prefixes(Protocol):
    """The rows of a decoding in progress, for any model."""

    ends: Set[int]  # the ids that end a text
    vocabulary: int  # the number of ids

    @property
    def written(self) -> Tensor:
        """The ids (R, N) that each row has written so far."""

    def next_log_probabilities(self, trace: Trace | None = None) -> Tensor:
        """Return log-probabilities (R, V) of each row's next token; `trace` records the call.

        Tokens that may not be written have -inf.
        """

    def cache_sizes(self) -> dict[Site, CacheSize]:
        """Return what is held of the positions read so far; nothing if all are computed anew."""

    def extend(self, rows: Tensor, ids: Tensor) -> None:
        """Continue with these rows, in this order, and append one of ids (R,) to each.

        A row may be taken several times or not at all.
        """


class TransformerPrefixes:
    """Translations of a batch of sentences by a model of this project, or continuations of prompts.

    Each step only computes its own position, unless earlier positions may see later ones: then
    every step computes all positions anew. The memory of one sentence serves all its prefixes.
    """

    ends = frozenset({END_ID})

    def __init__(
        self,
        model: Transformer,
        source_ids: Tensor,
        edits: RunEdits | None = None,
        never_written: Sequence[int] = NEVER_WRITTEN,
        begun: Tensor | None = None,
        encoded: Trace | None = None,
    ) -> None:
        """Begin with the tokens in `begun` (B, N), or with a start token if there are none.

        `encoded` records the encoder.
        """
        self.model = model
        self.edits = edits or {}
        sees_later = opens_the_future(self.edits) or not model.config.look_ahead_mask
        self.cache = None if sees_later else KeyValueCache()
        self.memory = model.encode(source_ids, Run(self.edits, encoded))  # (B, S, d_model)
        mask = model.source_mask(source_ids)
        self.memory_mask = None if mask.all() else mask  # a mask that hides nothing costs time
        if begun is None:
            begun = torch.full((source_ids.size(0), 1), START_ID, device=source_ids.device)
        self.ids, self.begun = begun, begun.size(1)
        self.vocabulary = model.config.target_vocab_size
        self.banned = torch.tensor(never_written, device=source_ids.device)

    @property
    def written(self) -> Tensor:
        """The ids (R, N) that each row has written so far."""
        return self.ids[:, self.begun :]

    def next_log_probabilities(self, trace: Trace | None = None) -> Tensor:
        """Return log-probabilities (R, V) of each row's next token; `trace` records the call."""
        read = self.ids if self.cache is None else self.ids[:, self.cache.length :]
        run = Run(self.edits, trace, self.cache)
        logits = self.model.decode(read, self.memory, self.memory_mask, run)[:, -1]
        return allowed(logits, self.banned)

    def cache_sizes(self) -> dict[Site, CacheSize]:
        """Return what is held of the positions read so far; nothing if all are computed anew."""
        return {} if self.cache is None else sizes_of(self.cache)

    def extend(self, rows: Tensor, ids: Tensor) -> None:
        """Continue with these rows, in this order, and append one of ids (R,) to each."""
        if rows.tolist() != list(range(len(self.ids))):
            self.ids = self.ids[rows]
            if len(self.memory) > 1:
                self.memory = self.memory[rows]
                self.memory_mask = None if self.memory_mask is None else self.memory_mask[rows]
            if self.cache is not None:
                self.cache.select(rows)
        self.ids = torch.cat([self.ids, ids[:, None]], dim=1)


@dataclass(frozen=True)
class Decoded:
    """The ids that a decoding chose, without start and end, and their log-probabilities."""

    ids: list[int]
    log_probability: float  # of the ids, and of the end token if it was reached
    end: int | None  # the end token that came; None if the limit did
    log_probabilities: list[float]  # of each of them, the end token last
    rows: list[int]  # the prefix that each of them extends, among those of its step

    @property
    def finished(self) -> bool:
        return self.end is not None

    @property
    def written(self) -> list[int]:
        """The ids, with the end token if it was reached."""
        return self.ids if self.end is None else [*self.ids, self.end]

    @property
    def length(self) -> int:
        """The number of written tokens, including the end token."""
        return len(self.ids) + self.finished


@dataclass(frozen=True)
class Expansion:
    """One step of a decoding: R prefixes, the model's predictions, and the candidates for the next.

    The C candidates are ordered from best to worst. Those that were kept and did not end are, in
    this order, the prefixes of the next step. The attention is that of the newest position.
    """

    weights: dict[Site, Tensor]  # (R, H, 1, K)
    masked_scores: dict[Site, Tensor]  # (R, H, 1, K)
    log_probabilities: Tensor  # (R, V) of each prefix's next token
    rows: Tensor  # (C,) the prefix that a candidate extends
    ids: Tensor  # (C,) the token it adds
    totals: Tensor  # (C,) the log-probability of all its tokens
    kept: Set[int]  # the indices of candidates that were kept, to be extended or as finished
    cached: dict[Site, CacheSize]  # what is held after this step, for each prefix


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
    """Return how many tokens to write after a prompt of `begun` in a model that takes `most`.

    Raises ValueError if there is no room.
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
) -> list[Decoded]:
    """Write a text for each prefix by a strategy; a beam begins with one.

    Every text begins with the `forced` ids, and stops at an end token or after `max_new_tokens`. A
    beam keeps its `beam_size` likeliest texts that have not ended, and a text that ends among the
    `beam_size` likeliest of a step is finished. It continues until no better text is possible; the
    finished one that scores best is returned, as by `generate` of transformers with
    `early_stopping="never"`. The order of texts with exactly equal log-probabilities or scores is
    not defined, as in transformers. `record` receives the steps. Raises ValueError for forced ids
    that cannot be written or are too many.
    """
    batch, device = len(prefixes.written), prefixes.written.device
    if strategy.width > 1 and batch > 1:
        raise ValueError(f"A beam takes one sentence at a time, not {batch}.")
    refuse_impossible(forced, prefixes.vocabulary, max_new_tokens)
    choose = strategy.method.begin(strategy, device)
    totals = torch.zeros(batch, device=device)  # (R,) log-probabilities of the prefixes
    each = torch.zeros(batch, 0, device=device)  # (R, T) and of each token in them
    paths: list[list[int]] = [[] for _ in range(batch)]  # the rows that led to each prefix
    width = batch * strategy.width
    enough = width * max(2, 1 + len(prefixes.ends))  # candidates: all ends, and `width` others
    finished: list[list[Decoded]] = [[] for _ in range(batch)]
    for step in range(max_new_tokens):
        trace = None if record is None else Trace()
        log_probabilities = prefixes.next_log_probabilities(trace)  # (R, V)
        if step < len(forced):
            rows, ids, candidates = force(totals, log_probabilities, forced[step])
        else:
            rows, ids, candidates = choose(totals, log_probabilities, enough)
        possible = int(candidates.isfinite().sum())  # a tiny vocabulary may not have enough
        rows, ids, candidates = rows[:possible], ids[:possible], candidates[:possible]
        each = torch.cat([each[rows], (candidates - totals[rows])[:, None]], dim=1)  # (C, T + 1)
        written = ids.tolist()
        paths = [[*paths[row], row] for row in rows.tolist()]  # of each candidate
        ended = [at for at, index in enumerate(written[:width]) if index in prefixes.ends]
        live = [at for at, index in enumerate(written) if index not in prefixes.ends][:width]
        for at in ended:
            parts = candidates[at].item(), written[at], each[at].tolist(), paths[at]
            text, row = paths[at][0], paths[at][-1]
            finished[text].append(Decoded(prefixes.written[row].tolist(), *parts))
        if strategy.width > 1 and live:
            most = best_possible(strategy, candidates[live[0]].item(), step + 1, max_new_tokens)
            if any(score(strategy, text) >= most for text in finished[0]):
                live = []
        if trace is not None:
            # Not the whole trace: keys and values of every step would fill the memory.
            sites = trace.attention
            weights = {site: newest(sites[site].weights) for site in sites}
            masked = {site: newest(sites[site].masked_scores) for site in sites}
            choice = rows, ids, candidates, {*ended, *live}
            cached = prefixes.cache_sizes()
            record.append(Expansion(weights, masked, log_probabilities, *choice, cached))
        if len(live) < possible:
            rows, ids, candidates, each = rows[live], ids[live], candidates[live], each[live]
            paths = [paths[at] for at in live]
        totals = candidates
        if not paths:
            break
        prefixes.extend(rows, ids)
    for row, path in enumerate(paths):
        parts = totals[row].item(), None, each[row].tolist(), path
        text = path[0] if path else row
        finished[text].append(Decoded(prefixes.written[row].tolist(), *parts))
    return [max(texts, key=partial(score, strategy)) for texts in finished]


def force(totals: Tensor, log_probabilities: Tensor, index: int) -> Candidates:
    """Extend every prefix by the same id; raise ValueError if it cannot be written."""
    wished = log_probabilities[:, index]  # (R,)
    if not wished.isfinite().all():
        raise ValueError(f"The model cannot write a token with the id {index}.")
    return one_of_each(totals, wished, torch.full_like(wished, index, dtype=torch.long))


def score(strategy: Strategy, text: Decoded) -> float:
    return strategy.score(text.log_probability, text.length)


def best_possible(strategy: Strategy, log_probability: float, length: int, longest: int) -> float:
    """Return the best score that a text of this length can still reach.

    Its log-probability can only fall, so the best score is that of a text whose further tokens are
    all certain; it is reached at the shortest or the longest length.
    """
    return max(strategy.score(log_probability, reached) for reached in (length, longest))


def newest(rows: Tensor) -> Tensor:
    """Return the last query's row of weights or scores: (R, H, Q, K) -> (R, H, 1, K).

    The rows of earlier queries, such as a prompt's, would fill the memory.
    """
    return rows if rows.size(2) == 1 else rows[:, :, -1:].clone()


def refuse_impossible(forced: Sequence[int], vocabulary: int, limit: int) -> None:
    """Raise ValueError for forced ids that do not exist, or exceed the limit."""
    if len(forced) > limit:
        raise ValueError(
            f"The forced beginning has {len(forced)} tokens; the text may have {limit}."
        )
    for index in forced:
        if not 0 <= index < vocabulary:
            raise ValueError(f"The model cannot write a token with the id {index}.")
