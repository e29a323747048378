"""The loss of a written token over two edges: to a source word, and from that to another word."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from headlight.model.attention import UNCHANGED
from headlight.model.insight.knockout import ROWS_AT_ONCE, Edges, Word, with_closed
from headlight.model.insight.scoring import log_probabilities, rows_at_once
from headlight.model.reader import Reader
from headlight.model.trace import Run, RunEdits, Site, Trace

NO_WORD = Word("", ())
NO_ENCODER = "Only a model with an encoder and a decoder has paths over a word of its source."


@torch.inference_mode()
def two_steps(
    reader: Reader, trace: Trace, edges: Edges, token: int, word: int, edits: RunEdits | None = None
) -> tuple[Tensor, Iterator[Tensor]]:
    """Return the change without the edge to a word, and those without a second edge, in blocks.

    The first edge leads from a written token to a word, both by their indices in `edges`. The
    second leads from that word to a word of the source, in all heads and layers of the encoder.
    Each block (2, words) has the change of the token's log-probability, in nats, with only the
    second edge closed, and with both, on top of `edits`. Raises ValueError without an encoder.
    """
    if edges.kind != "cross":
        raise ValueError(NO_ENCODER)
    edits = edits or {}
    before = log_probabilities(reader.rerun(trace, Run(edits)), edges.written)[0, token]
    ((_, first),) = changes(reader, trace, edges, token, word, [NO_WORD], edits, before)
    return first[0], changes(reader, trace, edges, token, word, edges.words, edits, before)


@torch.inference_mode()
def changes(
    reader: Reader,
    trace: Trace,
    edges: Edges,
    token: int,
    word: int,
    ends: Sequence[Word],
    edits: RunEdits,
    before: Tensor,
) -> Iterator[Tensor]:
    """Yield the changes (2, ends) without the edge to an end, alone and with the first edge."""
    source, target = len(trace.source_tokens), len(trace.target_tokens)
    keys = list(edges.words[word].keys)
    most = max(1, rows_at_once(trace, ROWS_AT_ONCE) // 2)
    for at in range(0, len(ends), most):
        block = ends[at : at + most]
        looks = torch.zeros(2, len(block), 1, target, source, dtype=torch.bool)
        looks[1, ..., edges.written.rows[token], keys] = True
        within = torch.zeros(2, len(block), 1, source, source, dtype=torch.bool)
        for place, end in enumerate(block):
            within[:, place] |= between(keys, end.keys, source)
        encoder = [site for site in reader.shape.sites if site.kind == "encoder"]
        closed = dict.fromkeys(edges.sites, looks) | dict.fromkeys(encoder, within)
        without = {
            site: with_closed(edits.get(site, UNCHANGED), cells.flatten(0, 1))  # (2 ends, 1, Q, K)
            for site, cells in closed.items()
        }
        logits = reader.rerun(trace, Run({**edits, **without}))
        after = log_probabilities(logits, edges.written)[:, token]
        yield after.unflatten(0, (2, -1)) - before


def between(queries: Sequence[int], keys: Sequence[int], size: int) -> Tensor:
    """Return the cells (size, size) from some queries to some keys, as a mask."""
    cells = torch.zeros(size, size, dtype=torch.bool)
    rows = torch.tensor(queries, dtype=torch.long)
    cells[rows[:, None], list(keys)] = True
    return cells


@torch.inference_mode()
def in_one_head(
    reader: Reader,
    trace: Trace,
    edges: Edges,
    token: int,
    word: int,
    end: int,
    edits: RunEdits | None = None,
) -> tuple[Site, int, float, float]:
    """Return the encoder's head that looks from a word at another most, and what it alone costs.

    The result is its site, its index, its weight from the word to the `end` (summed over the end's
    pieces, a mean over the word's), and the change of a written token's log-probability, in nats,
    with that edge closed in this head only.
    """
    edits = edits or {}
    whole = Trace(trace.source_tokens, trace.target_tokens)
    logits = [reader.rerun(trace, Run(edits, whole))]
    cells = between(edges.words[word].keys, edges.words[end].keys, len(trace.source_tokens))
    weights = whole.weights("encoder") * cells  # (layers, H, S, S)
    sums = weights.sum(dim=(-2, -1)) / len(edges.words[word].keys)
    layer, head = divmod(int(sums.argmax()), sums.size(1))
    site = Site("encoder", layer)
    closed = torch.zeros(1, sums.size(1), *cells.shape, dtype=torch.bool)
    closed[:, head] = cells
    without = with_closed(edits.get(site, UNCHANGED), closed)
    logits.append(reader.rerun(trace, Run({**edits, site: without})))
    before, after = (log_probabilities(each, edges.written)[0, token] for each in logits)
    return site, head, sums.max().item(), (after - before).item()
