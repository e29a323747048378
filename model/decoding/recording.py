"""Splits the record of a decoded batch into one trace for each text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, zip_longest

import torch
from torch import Tensor

from headlight.model.decoding.cache import CacheSize
from headlight.model.decoding.prefixes import TransformerPrefixes
from headlight.model.decoding.search import Decoded, Expansion, newest
from headlight.model.decoding.strategies import allowed
from headlight.model.edits.tensors import stacked
from headlight.model.shape import shape_of
from headlight.model.trace import Trace
from headlight.model.transformer.attention import UNCHANGED, attend
from headlight.model.transformer.masks import look_ahead_mask
from headlight.model.transformer.trace import RunEdits, Site
from headlight.model.transformer.transformer import Transformer

# The query, key and value (R, H, T, D) of each attention block, and the "outputs" (R, T, d_model)
# and "logits" (R, T, V) of the decoder, the "memory" (B, S, d_model) of the encoder.
Parts = dict[tuple[Site, str] | str, Tensor]


class RecordedPrefixes(TransformerPrefixes):
    """The prefixes of a batch that also keep the record of the encoder and of every step.

    Each text has its own edits; `batch_of` must return the same key for all these edits. Steps that
    recompute earlier positions are not kept.
    """

    def __init__(self, model: Transformer, source_ids: Tensor, edits: Sequence[RunEdits]) -> None:
        self.encoded = Trace()
        self.memory_parts: Parts = {}
        self.steps: list[Parts] = []
        self.source_ids = source_ids
        self.edits_of_texts = self.edits_of_rows = edits
        super().__init__(model, source_ids, stacked(edits), encoded=self.encoded)

    def extend(self, rows: Tensor, ids: Tensor) -> None:
        """Keep these `rows` (R,), in this order, and append to each row its id in `ids` (R,)."""
        self.edits_of_rows = [self.edits_of_rows[row] for row in rows.tolist()]
        if len(rows) < len(self.ids):
            self.edits = stacked(self.edits_of_rows)
        super().extend(rows, ids)

    def next_log_probabilities(self, trace: Trace | None = None) -> Tensor:
        """Return log-probabilities (R, V) of each row's next token; `trace` records the call."""
        trace = Trace() if trace is None else trace
        log_probabilities = super().next_log_probabilities(trace)
        if self.cache is not None:
            step = parts_of(trace)
            keys = [part for part in step if part[0].kind == "cross" and part[1] != "query"]
            memory: Parts = {part: step.pop(part) for part in keys}
            # cross-attention has the same keys and values at every step
            self.memory_parts = self.memory_parts or memory
            results = {"outputs": trace.outputs["decoder"], "logits": trace.logits}
            self.steps.append(newest(step) | results)
        return log_probabilities

    def record(self, batch: Sequence[Decoded], traces: Sequence[Trace]) -> None:
        """Add the activations of the run that wrote each text to the text's trace.

        Each trace already has its tokens. Its attention, last states and logits equal those of one
        run over all these tokens with the text's edits.
        """
        if not self.steps:
            return
        rows = list(zip_longest(*(decoded.rows for decoded in batch), fillvalue=0))
        steps = [rows_of(parts, row) for parts, row in zip(self.steps, rows, strict=False)]
        target = {name: torch.cat([step[name] for step in steps], dim=-2) for name in steps[0]}
        source = parts_of(self.encoded) | self.memory_parts
        source["memory"] = self.encoded.outputs["encoder"]
        for text, trace in enumerate(traces):
            read, written = len(trace.source_tokens), len(trace.target_tokens)
            parts = own(source, text, read) | own(target, text, written)
            padding = self.model.source_mask(self.source_ids[text : text + 1, :read])
            ahead = look_ahead_mask(written, device=padding.device)
            for site in shape_of(self.model.config).sites:
                query, key, value = (parts[site, name] for name in ("query", "key", "value"))
                mask = ahead if site.kind == "decoder" else padding
                edit = self.edits_of_texts[text].get(site, UNCHANGED)
                trace.record(site, attend(query, key, value, mask, edit))
            trace.outputs = {"encoder": parts["memory"], "decoder": parts["outputs"]}
            trace.logits = parts["logits"]


def parts_of(trace: Trace) -> dict[tuple[Site, str], Tensor]:
    """Return the query, key and value that a trace has of each attention block."""
    return {
        (site, name): getattr(record, name)
        for site, record in trace.attention.items()
        for name in ("query", "key", "value")
    }


def rows_of(parts: Parts, rows: Sequence[int]) -> Parts:
    """Return the tensors of a step with one row for each text of a batch: the row of its prefix."""
    if rows == tuple(range(len(parts["logits"]))):
        return parts
    index = torch.tensor(rows, device=parts["logits"].device)
    return {name: part[index] for name, part in parts.items()}


def own(parts: Parts, text: int, length: int) -> Parts:
    """Return copies of one text's row and positions, so that the whole tensors can be freed."""
    return {
        name: part if len(part) == 1 else part[text : text + 1, ..., :length, :].clone()
        for name, part in parts.items()
    }


@dataclass(frozen=True)
class GreedySteps:
    """The steps of a greedily written text, computed from its trace when they are needed."""

    trace: Trace
    decoded: Decoded
    banned: Tensor  # ids of the tokens that are never written

    def __iter__(self) -> Iterator[Expansion]:
        if not self.decoded.written:
            return
        log_probabilities = allowed(self.trace.logits[0], self.banned)  # (T, V)
        attention = self.trace.attention
        sites = [site for site in attention if site.kind != "encoder"]
        totals = accumulate(self.decoded.log_probabilities)
        for at, (index, total) in enumerate(zip(self.decoded.written, totals, strict=True)):
            last = slice(at, at + 1)
            keys = {site: slice(at + 1 if site.kind == "decoder" else None) for site in sites}
            yield Expansion(
                weights={site: attention[site].weights[..., last, keys[site]] for site in sites},
                masked_scores={
                    site: attention[site].masked_scores[..., last, keys[site]] for site in sites
                },
                log_probabilities=log_probabilities[last],
                rows=torch.tensor([0]),
                ids=torch.tensor([index]),
                totals=torch.tensor([total]),
                kept={0},
                cached={
                    site: CacheSize.of(
                        attention[site].key[..., keys[site], :],
                        attention[site].value[..., keys[site], :],
                    )
                    for site in sites
                },
            )
