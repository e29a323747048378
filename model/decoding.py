"""From source ids to target ids, one token at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.edits import opens_the_future
from model.strategies import Strategy
from model.tokenizer import END_ID, PAD_ID, START_ID, UNKNOWN_ID
from model.trace import AttentionEdit, KeyValueCache, Run, Site, Trace
from model.transformer import Transformer

NEVER_WRITTEN = (PAD_ID, UNKNOWN_ID, START_ID)

Edits = Mapping[Site, AttentionEdit]


@dataclass(frozen=True)
class Decoded:
    """The ids a decoding chose, without start and end, and what the model thought of them."""

    ids: list[int]
    log_probability: float  # of the ids, and of the end token where it was reached
    finished: bool  # True where the end token came, False where the limit did

    @property
    def length(self) -> int:
        """How many tokens were written, the end token included."""
        return len(self.ids) + self.finished


class Expansion:
    """One step of a decoding: R prefixes, what the model made of them, and how they went on.

    The C candidates stand best first. The first `kept` of them were gone on with; those among them
    that did not end are, in this order, the prefixes of the next step. The attention is that of
    the newest position alone.
    """

    def __init__(
        self,
        trace: Trace,
        log_probabilities: Tensor,
        rows: Tensor,
        ids: Tensor,
        totals: Tensor,
        kept: int,
    ) -> None:
        self.log_probabilities = log_probabilities  # (R, V) of each prefix's next token
        self.rows = rows  # (C,) the prefix that a candidate goes on from
        self.ids = ids  # (C,) the token it goes on with
        self.totals = totals  # (C,) the log-probability of all its tokens
        self.kept = kept
        # Only what is asked for later: keys and values of every step would fill the memory.
        sites = trace.attention.items()
        self.weights = {site: record.weights[:, :, -1] for site, record in sites}  # (R, H, K)
        self.masked_scores = {site: record.masked_scores[:, :, -1] for site, record in sites}


class Prefixes:
    """The rows of one decoding under way: what each has read, and what the model keeps of it.

    Each step computes its own position only, unless earlier positions may see later ones: then all
    are computed anew at every step. The memory of one sentence serves all its prefixes.
    """

    def __init__(self, model: Transformer, source_ids: Tensor, edits: Edits | None = None) -> None:
        self.model = model
        self.edits = edits or {}
        sees_later = opens_the_future(self.edits) or not model.config.look_ahead_mask
        self.cache = None if sees_later else KeyValueCache()
        self.memory = model.encode(source_ids, Run(self.edits))  # (B, S, d_model)
        self.memory_mask = model.source_mask(source_ids)
        self.ids = torch.full((source_ids.size(0), 1), START_ID, device=source_ids.device)

    def next_log_probabilities(self, trace: Trace | None = None) -> Tensor:
        """Log-probabilities (R, V) of each row's next token; what is computed goes to `trace`."""
        read = self.ids if self.cache is None else self.ids[:, -1:]
        run = Run(self.edits, trace, self.cache)
        logits = self.model.decode(read, self.memory, self.memory_mask, run)[:, -1]
        return torch.log_softmax(logits.float(), dim=-1)

    def go_on(self, rows: Tensor, ids: Tensor) -> None:
        """Go on from these rows, in this order, each of which reads one more of ids (R,).

        A row may be taken several times or not at all.
        """
        if rows.tolist() != list(range(len(self.ids))):
            self.ids = self.ids[rows]
            if len(self.memory) > 1:
                self.memory, self.memory_mask = self.memory[rows], self.memory_mask[rows]
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
    edits: Edits | None = None,
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
    wanted = batch * strategy.width
    found: list[list[Decoded]] = [[] for _ in range(batch)]
    for place in range(max_new_tokens):
        trace = None if record is None else Trace()
        log_probabilities = prefixes.next_log_probabilities(trace)  # (R, V)
        log_probabilities[:, never_written] = -torch.inf
        if place < len(forced):
            rows = torch.arange(len(totals), device=device)
            ids = torch.full_like(rows, forced[place])
        else:
            rows, ids = choose(totals, log_probabilities, wanted)
        candidates = totals[rows] + log_probabilities[rows, ids]  # (C,)
        kept = min(wanted, len(candidates))
        if trace is not None:
            record.append(Expansion(trace, log_probabilities, rows, ids, candidates, kept))
        rows, ids, totals = rows[:kept], ids[:kept], candidates[:kept]
        ended = ids == END_ID
        for row, total in zip(rows[ended].tolist(), totals[ended].tolist(), strict=True):
            found[sentences[row]].append(Decoded(prefixes.ids[row, 1:].tolist(), total, True))
            wanted -= 1
        rows, ids, totals = rows[~ended], ids[~ended], totals[~ended]
        prefixes.go_on(rows, ids)
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
