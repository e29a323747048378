"""From what a model has read to what it writes, one token at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.decoding.prefixes import NEVER_WRITTEN, Prefixes, TransformerPrefixes
from model.decoding.strategies import Strategy, one_of_each
from model.trace import RunEdits, Site, Trace
from model.transformer import Transformer


@dataclass(frozen=True)
class Decoded:
    """The ids a decoding chose, without start and end, and what the model thought of them."""

    ids: list[int]
    log_probability: float  # of the ids, and of the end token if it was reached
    end: int | None  # the end token that came; None if the limit did
    log_probabilities: list[float]  # of each of them, the end token last

    @property
    def finished(self) -> bool:
        """Whether the end token came before the limit."""
        return self.end is not None

    @property
    def written(self) -> list[int]:
        """The ids, and the end token if it came."""
        return self.ids if self.end is None else [*self.ids, self.end]

    @property
    def length(self) -> int:
        """How many tokens were written, the end token included."""
        return len(self.ids) + self.finished


@dataclass(frozen=True)
class Expansion:
    """One step of a decoding: R prefixes, what the model made of them, and how they continued.

    The C candidates stand best first. The first `kept` of them were extended; those among them that
    did not end are, in this order, the prefixes of the next step. The attention is that of the
    newest position.
    """

    weights: dict[Site, Tensor]  # (R, H, 1, K)
    masked_scores: dict[Site, Tensor]  # (R, H, 1, K)
    log_probabilities: Tensor  # (R, V) of each prefix's next token
    rows: Tensor  # (C,) the prefix that a candidate extends
    ids: Tensor  # (C,) the token it adds
    totals: Tensor  # (C,) the log-probability of all its tokens
    kept: int


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

    Every text begins with the `forced` ids, and stops at an end token or after `max_new_tokens`.
    A prefix that ends gives its place in a beam up; of the texts found, the one that scores best
    is returned. `record` is filled with the steps. Raises ValueError for forced ids that cannot be
    written or are too many.
    """
    batch, device = len(prefixes.written), prefixes.written.device
    if strategy.width > 1 and batch > 1:
        raise ValueError(f"A beam takes one sentence at a time, not {batch}.")
    refuse_impossible(forced, prefixes.vocabulary, max_new_tokens)
    choose = strategy.chooser(device)
    totals = torch.zeros(batch, device=device)  # (R,) log-probabilities of the prefixes
    each = torch.zeros(batch, 0, device=device)  # (R, T) and of each token in them
    sentences = list(range(batch))  # which text of the batch each prefix begins
    wanted = batch * strategy.width
    found: list[list[Decoded]] = [[] for _ in range(batch)]
    for place in range(max_new_tokens):
        trace = None if record is None else Trace()
        log_probabilities = prefixes.next_log_probabilities(trace)  # (R, V)
        if place < len(forced):
            wished = log_probabilities[:, forced[place]]  # (R,)
            if not wished.isfinite().all():
                raise ValueError(f"The model cannot write a token with the id {forced[place]}.")
            ids = torch.full((len(totals),), forced[place], device=device)
            rows, ids, candidates = one_of_each(totals, wished, ids)
        else:
            rows, ids, candidates = choose(totals, log_probabilities, wanted)
        possible = int(candidates.isfinite().sum())  # a tiny vocabulary may not have enough
        kept = min(wanted, possible)
        if trace is not None:
            # Not the whole trace: keys and values of every step would fill the memory.
            weights = {site: newest(one.weights) for site, one in trace.attention.items()}
            masked = {site: newest(one.masked_scores) for site, one in trace.attention.items()}
            choice = (part[:possible] for part in (rows, ids, candidates))
            record.append(Expansion(weights, masked, log_probabilities, *choice, kept))
        rows, ids, candidates = rows[:kept], ids[:kept], candidates[:kept]
        each = torch.cat([each[rows], (candidates - totals[rows])[:, None]], dim=1)
        totals, written = candidates, ids.tolist()
        if not prefixes.ends.isdisjoint(written):
            ended = torch.tensor([index in prefixes.ends for index in written], device=device)
            ends = (part[ended].tolist() for part in (rows, totals, ids, each))
            for row, *what in zip(*ends, strict=True):
                found[sentences[row]].append(Decoded(prefixes.written[row].tolist(), *what))
                wanted -= 1
            rows, ids, totals, each = (part[~ended] for part in (rows, ids, totals, each))
        sentences = [sentences[row] for row in rows.tolist()]
        if not sentences:
            break
        prefixes.extend(rows, ids)
    for row, sentence in enumerate(sentences):
        parts = totals[row].item(), None, each[row].tolist()
        found[sentence].append(Decoded(prefixes.written[row].tolist(), *parts))
    return [
        max(texts, key=lambda text: strategy.score(text.log_probability, text.length))
        for texts in found
    ]


def newest(rows: Tensor) -> Tensor:
    """Return the last query's row of weights or scores: (R, H, Q, K) -> (R, H, 1, K).

    The rows of earlier queries, such as a prompt's, would fill the memory.
    """
    return rows if rows.size(2) == 1 else rows[:, :, -1:].clone()


def refuse_impossible(forced: Sequence[int], vocabulary: int, limit: int) -> None:
    """Raise ValueError for forced ids that do not exist, or are more than the limit."""
    if len(forced) > limit:
        raise ValueError(
            f"The forced beginning has {len(forced)} tokens; the text may have {limit}."
        )
    for index in forced:
        if not 0 <= index < vocabulary:
            raise ValueError(f"The model cannot write a token with the id {index}.")
