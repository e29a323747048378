"""From source ids to target ids, one token at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.decoding.strategies import Strategy, one_of_each
from model.edits import opens_the_future
from model.tokens import END_ID, PAD_ID, START_ID, UNKNOWN_ID
from model.trace import KeyValueCache, Run, RunEdits, Site, Trace
from model.transformer import Transformer

NEVER_WRITTEN = (PAD_ID, UNKNOWN_ID, START_ID)


@dataclass(frozen=True)
class Decoded:
    """The ids a decoding chose, without start and end, and what the model thought of them."""

    ids: list[int]
    log_probability: float  # of the ids, and of the end token if it was reached
    finished: bool  # True if the end token came, False if the limit did

    @property
    def length(self) -> int:
        """How many tokens were written, the end token included."""
        return len(self.ids) + self.finished


@dataclass(frozen=True)
class Expansion:
    """One step of a decoding: R prefixes, what the model made of them, and how they continued.

    The C candidates stand best first. The first `kept` of them were extended; those among them that
    did not end are, in this order, the prefixes of the next step. The last row of the attention is
    that of the newest position, and the only one if earlier ones were cached.
    """

    weights: dict[Site, Tensor]  # (R, H, Q, K)
    masked_scores: dict[Site, Tensor]  # (R, H, Q, K)
    log_probabilities: Tensor  # (R, V) of each prefix's next token
    rows: Tensor  # (C,) the prefix that a candidate extends
    ids: Tensor  # (C,) the token it adds
    totals: Tensor  # (C,) the log-probability of all its tokens
    kept: int


class Prefixes:
    """The rows of one decoding under way: what each has read, and what the model keeps of it.

    Each step computes its own position only, unless earlier positions may see later ones: then all
    are computed anew at every step. The memory of one sentence serves all its prefixes.
    """

    def __init__(
        self, model: Transformer, source_ids: Tensor, edits: RunEdits | None = None
    ) -> None:
        self.model = model
        self.edits = edits or {}
        sees_later = opens_the_future(self.edits) or not model.config.look_ahead_mask
        self.cache = None if sees_later else KeyValueCache()
        self.memory = model.encode(source_ids, Run(self.edits))  # (B, S, d_model)
        mask = model.source_mask(source_ids)
        self.memory_mask = None if mask.all() else mask  # a mask that hides nothing costs time
        self.ids = torch.full((source_ids.size(0), 1), START_ID, device=source_ids.device)

    def next_log_probabilities(self, trace: Trace | None = None) -> Tensor:
        """Return log-probabilities (R, V) of each row's next token; `trace` records the call."""
        read = self.ids if self.cache is None else self.ids[:, -1:]
        run = Run(self.edits, trace, self.cache)
        logits = self.model.decode(read, self.memory, self.memory_mask, run)[:, -1]
        return torch.log_softmax(logits.float(), dim=-1)

    def extend(self, rows: Tensor, ids: Tensor) -> None:
        """Continue with these rows, in this order, each of which reads one more of ids (R,).

        A row may be taken several times or not at all.
        """
        if rows.tolist() != list(range(len(self.ids))):
            self.ids = self.ids[rows]
            if len(self.memory) > 1:
                self.memory = self.memory[rows]
                self.memory_mask = None if self.memory_mask is None else self.memory_mask[rows]
            if self.cache is not None:
                self.cache.select(rows)
        self.ids = torch.cat([self.ids, ids[:, None]], dim=1)


@torch.inference_mode()
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
    """Write a text for each row of `source_ids` (B, S) by a strategy; a beam takes one row.

    Every text begins with the `forced` ids, and stops at the end token or after `max_new_tokens`.
    A prefix that ends gives its place in a beam up; of the texts found, the one that scores best
    is returned. `record` is filled with the steps. Raises ValueError for forced ids that cannot be
    written or are too many.
    """
    if strategy.width > 1 and len(source_ids) > 1:
        raise ValueError(f"A beam takes one sentence at a time, not {len(source_ids)}.")
    refuse_impossible(forced, model.config.target_vocab_size, never_written, max_new_tokens)
    batch, device = source_ids.size(0), source_ids.device
    prefixes = Prefixes(model, source_ids, edits)
    choose = strategy.chooser(device)
    totals = torch.zeros(batch, device=device)  # (R,) log-probabilities of the prefixes
    sentences = list(range(batch))  # what each prefix is a translation of
    banned = torch.tensor(never_written, device=device)
    wanted = batch * strategy.width
    found: list[list[Decoded]] = [[] for _ in range(batch)]
    for place in range(max_new_tokens):
        trace = None if record is None else Trace()
        log_probabilities = prefixes.next_log_probabilities(trace)  # (R, V)
        log_probabilities.index_fill_(1, banned, -torch.inf)
        if place < len(forced):
            ids = torch.full((len(totals),), forced[place], device=device)
            rows, ids, candidates = one_of_each(totals, log_probabilities[:, forced[place]], ids)
        else:
            rows, ids, candidates = choose(totals, log_probabilities, wanted)
        possible = int(candidates.isfinite().sum())  # a tiny vocabulary may not have enough
        kept = min(wanted, possible)
        if trace is not None:
            # Not the whole trace: keys and values of every step would fill the memory.
            weights = {site: one.weights for site, one in trace.attention.items()}
            masked = {site: one.masked_scores for site, one in trace.attention.items()}
            choice = (part[:possible] for part in (rows, ids, candidates))
            record.append(Expansion(weights, masked, log_probabilities, *choice, kept))
        rows, ids, totals = rows[:kept], ids[:kept], candidates[:kept]
        if END_ID in ids.tolist():
            ended = ids == END_ID
            for row, total in zip(rows[ended].tolist(), totals[ended].tolist(), strict=True):
                found[sentences[row]].append(Decoded(prefixes.ids[row, 1:].tolist(), total, True))
                wanted -= 1
            rows, ids, totals = rows[~ended], ids[~ended], totals[~ended]
        prefixes.extend(rows, ids)
        sentences = [sentences[row] for row in rows.tolist()]
        if not sentences:
            break
    for row, sentence in enumerate(sentences):
        ids, total = prefixes.ids[row, 1:].tolist(), totals[row].item()
        found[sentence].append(Decoded(ids, total, False))
    return [
        max(texts, key=lambda text: strategy.score(text.log_probability, text.length))
        for texts in found
    ]


def refuse_impossible(
    forced: Sequence[int], vocabulary: int, never_written: Sequence[int], limit: int
) -> None:
    """Raise ValueError for forced ids that cannot be written, or are more than the limit."""
    if len(forced) > limit:
        raise ValueError(
            f"The forced beginning has {len(forced)} tokens; the translation may have {limit}."
        )
    for index in forced:
        if index in never_written or not 0 <= index < vocabulary:
            raise ValueError(f"The model cannot write a token with the id {index}.")
