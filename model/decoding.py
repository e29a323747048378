"""From source ids to target ids, one token at a time: greedy, sampled, or with beams."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from model.edits import opens_the_future
from model.tokenizer import END_ID, PAD_ID, START_ID, UNKNOWN_ID
from model.trace import AttentionEdit, KeyValueCache, Run, Site
from model.transformer import Transformer

NEVER_WRITTEN = (PAD_ID, UNKNOWN_ID, START_ID)

Edits = Mapping[Site, AttentionEdit]
Pick = Callable[[Tensor], Tensor]  # from log-probabilities (B, V) to ids (B,)


@dataclass(frozen=True)
class Decoded:
    """The ids a decoding chose, without start and end, and what the model thought of them."""

    ids: list[int]
    log_probability: float  # of the ids, and of the end token where it was reached
    finished: bool  # True where the end token came, False where the limit did


class Prefixes:
    """The rows of one decoding under way: what each has read, and what the model keeps of it.

    Each step computes its own position only, unless earlier positions may see later ones: then all
    are computed anew at every step.
    """

    def __init__(self, model: Transformer, source_ids: Tensor, edits: Edits | None = None) -> None:
        edits = edits or {}
        sees_later = opens_the_future(edits) or not model.config.look_ahead_mask
        self.model = model
        self.memory = model.encode(source_ids, Run(edits))  # (B, S, d_model)
        self.memory_mask = model.source_mask(source_ids)
        self.run = Run(edits, cache=None if sees_later else KeyValueCache())
        self.ids = torch.full((source_ids.size(0), 1), START_ID, device=source_ids.device)

    def next_log_probabilities(self) -> Tensor:
        """Log-probabilities (B, V) of each row's next token; -inf for what is never written."""
        read = self.ids if self.run.cache is None else self.ids[:, -1:]
        logits = self.model.decode(read, self.memory, self.memory_mask, self.run)[:, -1]
        log_probabilities = torch.log_softmax(logits.float(), dim=-1)
        log_probabilities[:, NEVER_WRITTEN] = -torch.inf
        return log_probabilities

    def append(self, ids: Tensor) -> None:
        """Let each row read one more id, of ids (B,)."""
        self.ids = torch.cat([self.ids, ids[:, None]], dim=1)

    def select(self, rows: Tensor) -> None:
        """Go on from these rows, in this order; a row may be taken several times or not at all."""
        self.ids = self.ids[rows]
        self.memory = self.memory[rows]
        self.memory_mask = self.memory_mask[rows]
        if self.run.cache is not None:
            self.run.cache.select(rows)


@torch.inference_mode()
def decode(
    model: Transformer,
    source_ids: Tensor,
    pick: Pick,
    *,
    max_new_tokens: int,
    edits: Edits | None = None,
) -> list[Decoded]:
    """Let `pick` choose every next token, for each row of `source_ids` (B, S).

    Padding, unknown and start tokens are never chosen. Stops at the end token, or after
    `max_new_tokens`.
    """
    batch, device = source_ids.size(0), source_ids.device
    prefixes = Prefixes(model, source_ids, edits)
    finished = torch.zeros(batch, dtype=torch.bool, device=device)
    totals = torch.zeros(batch, device=device)
    chosen: list[Tensor] = []
    while len(chosen) < max_new_tokens and not finished.all():
        log_probabilities = prefixes.next_log_probabilities()  # (B, V)
        ids = pick(log_probabilities)  # (B,)
        taken = log_probabilities.gather(1, ids[:, None])[:, 0]
        totals += taken.masked_fill(finished, 0.0)
        chosen.append(ids.masked_fill(finished, PAD_ID))
        finished |= ids == END_ID
        prefixes.append(ids)
    rows = torch.stack(chosen, dim=1).tolist() if chosen else [[]] * batch  # (B, T)
    return [
        Decoded([i for i in row if i not in (PAD_ID, END_ID)], total, done)
        for row, total, done in zip(rows, totals.tolist(), finished.tolist(), strict=True)
    ]


def greedy(
    model: Transformer, source_ids: Tensor, *, max_new_tokens: int, edits: Edits | None = None
) -> list[Decoded]:
    """Take the likeliest token at every step, for each row of `source_ids` (B, S)."""
    return decode(
        model,
        source_ids,
        lambda log_probabilities: log_probabilities.argmax(dim=-1),
        max_new_tokens=max_new_tokens,
        edits=edits,
    )


def sample(
    model: Transformer,
    source_ids: Tensor,
    *,
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    seed: int = 0,
    edits: Edits | None = None,
) -> list[Decoded]:
    """Draw every token at random, for each row of `source_ids` (B, S); the same seed, the same ids.

    See `narrow` for temperature, top_k and top_p.
    """
    generator = torch.Generator(source_ids.device).manual_seed(seed)

    def draw(log_probabilities: Tensor) -> Tensor:
        scores = narrow(log_probabilities, temperature, top_k, top_p)
        return torch.multinomial(scores.softmax(dim=-1), 1, generator=generator)[:, 0]

    return decode(model, source_ids, draw, max_new_tokens=max_new_tokens, edits=edits)


def narrow(scores: Tensor, temperature: float, top_k: int, top_p: float) -> Tensor:
    """Scores (B, V) to draw from: sharpened, and -inf for tokens too unlikely to be drawn.

    A temperature below 1 sharpens and above 1 flattens; `top_k` keeps the k likeliest, 0 all;
    `top_p` keeps the likeliest that together reach that probability (Holtzman et al. 2020,
    "The Curious Case of Neural Text Degeneration"). Raises ValueError for a temperature of 0.
    """
    if temperature <= 0:
        raise ValueError("The temperature must be above 0; for 0, decode greedily.")
    scores = scores / temperature
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


@torch.inference_mode()
def beam_search(
    model: Transformer,
    source_ids: Tensor,
    *,
    max_new_tokens: int,
    beam_size: int = 4,
    length_penalty: float = 1.0,
    edits: Edits | None = None,
) -> Decoded:
    """Follow the `beam_size` likeliest prefixes at once, for one sentence (1, S).

    A prefix that ends gives its place up. Of those that ended or reached the limit, the one with
    the best log-probability / length ** length_penalty is returned, the end token counted.
    """
    prefixes = Prefixes(model, source_ids, edits)
    totals = torch.zeros(1, device=source_ids.device)  # log-probabilities of the prefixes
    found: list[Decoded] = []
    for _ in range(max_new_tokens):
        candidates = totals[:, None] + prefixes.next_log_probabilities()  # (beams, V)
        places = min(beam_size - len(found), int(candidates.isfinite().sum()))
        totals, best = candidates.flatten().topk(places)
        rows, ids = best // candidates.size(-1), best % candidates.size(-1)
        ended = ids == END_ID
        found += [
            Decoded(prefixes.ids[row, 1:].tolist(), total, True)
            for row, total in zip(rows[ended].tolist(), totals[ended].tolist(), strict=True)
        ]
        totals = totals[~ended]
        prefixes.select(rows[~ended])
        prefixes.append(ids[~ended])
        if not len(totals):
            break
    found += [
        Decoded(row, total, False)
        for row, total in zip(prefixes.ids[:, 1:].tolist(), totals.tolist(), strict=True)
    ]
    return max(
        found,
        key=lambda one: one.log_probability / max(1, len(one.ids) + one.finished) ** length_penalty,
    )
