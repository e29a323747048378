"""Measure what a written token loses without a path from a source word by way of another."""

from collections.abc import Iterator

import torch
from torch import Tensor

from headlight.model.edits.attention import Closed
from headlight.model.insight.scoring import log_probabilities, rows_at_once
from headlight.model.reader import Reader
from headlight.model.trace import Trace
from headlight.model.transformer.attention import UNCHANGED
from headlight.model.transformer.trace import Run, RunEdits
from headlight.wings.cause.knockout import ROWS_AT_ONCE, Edges

NO_ENCODER = "Only a model with an encoder and a decoder has paths over a word of its source."


@torch.inference_mode()
def two_steps(
    reader: Reader, trace: Trace, edges: Edges, token: int, word: int, edits: RunEdits | None = None
) -> Iterator[Tensor]:
    """Yield the changes (2, words) without a path's second edge, and without both, in blocks.

    The first edge leads from a written token to a word, both by their indices in `edges`; the
    second from that word to each word, in all heads and layers of the encoder. The changes are
    those of the token's log-probability, in nats, on top of `edits`. Raises ValueError without an
    encoder.
    """
    if edges.kind != "cross":
        raise ValueError(NO_ENCODER)
    edits, keys = edits or {}, list(edges.words[word].keys)
    before = log_probabilities(reader.rerun(trace, Run(edits)), edges.written)[0, token]
    sites = [site for site in reader.shape.sites if site.kind == "encoder"]
    source, most = len(trace.source_tokens), max(1, rows_at_once(trace, ROWS_AT_ONCE) // 2)
    for at in range(0, len(edges.words), most):
        ends = edges.words[at : at + most]
        first = torch.zeros(2, len(ends), 1, len(trace.target_tokens), source, dtype=torch.bool)
        first[1, ..., edges.written.rows[token], keys] = True
        second = torch.zeros(2, len(ends), 1, source, source, dtype=torch.bool)
        for cells, end in zip(second.unbind(1), ends, strict=True):
            for key in end.keys:
                cells[..., keys, key] = True
        closed = dict.fromkeys(edges.sites, first) | dict.fromkeys(sites, second)
        without = {
            site: Closed(edits.get(site, UNCHANGED), cells.flatten(0, 1))  # (B, 1, Q, K)
            for site, cells in closed.items()
        }
        after = log_probabilities(reader.rerun(trace, Run({**edits, **without})), edges.written)
        yield after[:, token].unflatten(0, (2, -1)) - before
