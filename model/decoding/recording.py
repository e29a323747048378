"""What a batch recorded while it was decoded, taken apart into each text's own, as if alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from headlight.model.attention import attend
from headlight.model.decoding.search import Decoded, Expansion, TransformerPrefixes, newest
from headlight.model.edits.rows import stacked
from headlight.model.masks import look_ahead_mask
from headlight.model.trace import EmbeddingRecord, ResidualRecord, RunEdits, Trace
from headlight.model.transformer import Transformer


class RecordedPrefixes(TransformerPrefixes):
    """Prefixes of texts with edits of their own, which keep what the encoder and steps recorded.

    The edits are all of one `batch_of`, and each step must be recorded.
    """

    def __init__(self, model: Transformer, source_ids: Tensor, edits: Sequence[RunEdits]) -> None:
        self.encoded = Trace()
        self.steps: list[Trace] = []
        self.source_ids = source_ids
        self.edits_of_texts = self.edits_of_rows = edits
        super().__init__(model, source_ids, stacked(edits), encoded=self.encoded)

    def extend(self, rows: Tensor, ids: Tensor) -> None:
        """Continue with these rows, in this order, and append one of ids (R,) to each."""
        self.edits_of_rows = [self.edits_of_rows[row] for row in rows.tolist()]
        if len(rows) < len(self.ids):
            self.edits = stacked(self.edits_of_rows)
        super().extend(rows, ids)

    def next_log_probabilities(self, trace: Trace | None = None) -> Tensor:
        """Return log-probabilities (R, V) of each row's next token; `trace` records the call."""
        log_probabilities = super().next_log_probabilities(trace)
        for site, record in trace.attention.items():
            if site.kind == "decoder":  # earlier keys and values are in the steps before
                own = {"key": newest(record.key), "value": newest(record.value)}
                trace.attention[site] = replace(record, **own)
        self.steps.append(trace)
        return log_probabilities

    def trace_of(self, text: int, decoded: Decoded, trace: Trace) -> Trace | None:
        """Record in `trace`, which has the tokens, the run that wrote a text of the batch.

        It is what a run over all tokens as trained records. None if that is not known: the steps
        were edited, they computed earlier positions anew, or none of them has read the last token.
        """
        if self.edits_of_texts[text] or self.cache is None or not decoded.finished:
            return None
        rows, read = decoded.rows, len(trace.source_tokens)
        source = Rows([self.encoded], [text], read)
        target = Rows(self.steps[: len(rows)], rows, len(rows))
        memory = Rows(target.calls[-1:], rows[-1:], read)
        padding = self.model.source_mask(self.source_ids[text : text + 1, :read])
        ahead = look_ahead_mask(len(rows), device=padding.device)
        parts = {
            "encoder": (source, source, padding),
            "decoder": (target, target, ahead),
            "cross": (target, memory, padding),
        }
        for site in self.model.config.shape.sites:
            queries, keys, mask = parts[site.kind]
            query = queries.joined([call.attention[site].query for call in queries.calls])
            key = keys.joined([call.attention[site].key for call in keys.calls])
            value = keys.joined([call.attention[site].value for call in keys.calls])
            trace.record(site, attend(query, key, value, mask))
        source.join_into(trace)
        target.join_into(trace)
        trace.logits = target.joined([call.logits for call in target.calls])
        return trace


@dataclass(frozen=True)
class Rows:
    """One text's row in each of several calls, which read its positions one after the other."""

    calls: Sequence[Trace]
    rows: Sequence[int]
    length: int  # positions, without padding
    known: dict[int, Tensor] = field(default_factory=dict)  # two records can share a tensor

    def joined(self, tensors: Sequence[Tensor]) -> Tensor:
        """Return the row of all calls' tensors (R, ..., T, D) as one: (1, ..., length, D)."""
        if id(tensors[0]) not in self.known:
            pairs = zip(tensors, self.rows, strict=True)
            parts = [each[row : row + 1, ..., : self.length, :] for each, row in pairs]
            self.known[id(tensors[0])] = torch.cat(parts, dim=-2)
        return self.known[id(tensors[0])]

    def join_into(self, trace: Trace) -> None:
        """Record in a trace the stream of the side that the calls computed."""
        for side in self.calls[0].embedding:
            each = [call.embedding[side] for call in self.calls]
            trace.embedding[side] = EmbeddingRecord(
                self.joined([record.tokens for record in each]),
                self.joined([record.scaled for record in each]),
                torch.cat([record.positions for record in each])[: self.length],
                self.joined([record.states for record in each]),
            )
            trace.outputs[side] = self.joined([call.outputs[side] for call in self.calls])
        for block in self.calls[0].residual:
            each = [vars(call.residual[block]) for call in self.calls]
            parts = {name: self.joined([record[name] for record in each]) for name in each[0]}
            trace.residual[block] = ResidualRecord(**parts)


def steps_of(record: Sequence[Expansion], decoded: Decoded, source: int) -> list[Expansion]:
    """Return the steps of one text of a batch without choices, as if it had been written alone.

    `source` counts its source's tokens, without the padding to those of others.
    """
    steps = []
    for step, row in zip(record, decoded.rows, strict=False):
        at = slice(row, row + 1)
        keys = {site: source if site.kind == "cross" else None for site in step.weights}
        weights, masked = (
            {site: part[site][at, ..., : keys[site]].clone() for site in keys}
            for part in (step.weights, step.masked_scores)
        )
        choice = torch.zeros_like(step.rows[at]), step.ids[at], step.totals[at], {0}
        cached = {site: size.of_first(keys[site]) for site, size in step.cached.items()}
        chances = step.log_probabilities[at].clone()
        steps.append(Expansion(weights, masked, chances, *choice, cached))
    return steps
