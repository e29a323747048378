"""Measure how much less likely each written token gets if it cannot attend to one word."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from headlight.model.decoding.steps import Writing
from headlight.model.edits.attention import Closed, Further
from headlight.model.edits.tensors import check_sites, layers_of
from headlight.model.insight.scoring import log_probabilities, rows_at_once
from headlight.model.library.pieces import as_pieces, whole_words
from headlight.model.questions import Objective
from headlight.model.reader import Reader
from headlight.model.tokens import Token
from headlight.model.trace import Trace
from headlight.model.transformer.attention import UNCHANGED
from headlight.model.transformer.trace import AttentionRecord, Kind, Run, RunEdits, Site

ROWS_AT_ONCE = 16  # runs in a batch: few, so that first results are shown early
WRITTEN = "the log-probability of what was written"
LEAST = 0.1  # nats that a token must lose over all words together to have shares of losses

TokenPair = tuple[int, int]  # the index of a written token, and that of a word


class Word(NamedTuple):
    """A word that can be attended to, and the positions of its pieces' keys."""

    text: str
    keys: tuple[int, ...]


@dataclass(frozen=True)
class Edges:
    """The edges from written tokens to the words they attend to, in all heads of some layers.

    `written` are the written tokens, and the rows of the logits that predict them.
    """

    kind: Kind
    layers: range
    words: tuple[Word, ...]
    written: Objective

    @property
    def sites(self) -> list[Site]:
        return [Site(self.kind, layer) for layer in self.layers]


@dataclass
class OtherRun(Further):
    """Self-attention where each token sees the other tokens as they were in an earlier run.

    `key` and `value` are from that run. Only the token's own key and value are from this run.
    """

    key: Tensor  # (1, H, T, D)
    value: Tensor  # (1, H, T, D)

    def score(self, query: Tensor, key: Tensor, scale: float) -> Tensor:
        scores = super().score(query, self.key, scale)  # (B, H, T, T)
        scores.diagonal(dim1=-2, dim2=-1).copy_((query * key).sum(dim=-1) * scale)
        return scores

    def mix(self, weights: Tensor, value: Tensor) -> Tensor:
        own = weights.diagonal(dim1=-2, dim2=-1).diag_embed()  # (B, H, T, T)
        return super().mix(weights, self.value) + super().mix(own, value - self.value)


@dataclass
class WholeRun(Trace):
    """The run with every edge open: it keeps the keys and values that other tokens see."""

    sites: Sequence[Site] = ()
    others: dict[Site, tuple[Tensor, Tensor]] = field(default_factory=dict)
    looks: Tensor = torch.zeros(())  # (Q, K): mean weights of all heads of the sites

    def record(self, site: Site, record: AttentionRecord) -> None:
        """Keep the decoder self-attention's keys and values, and the mean weights of `sites`."""
        if site.kind == "decoder":
            self.others[site] = record.key, record.value
        if site in self.sites:
            self.looks = self.looks + record.weights[0].mean(dim=0) / len(self.sites)


def edges_of(
    trace: Trace, reader: Reader, layers: range | None = None, writing: Writing | None = None
) -> Edges:
    """Return the edges from the tokens that a decoder wrote to the words that it could attend to.

    They go through cross-attention to the words of the source, or in a model without an encoder to
    those of the prompt; `layers` None means all layers. The written tokens are those of `writing`,
    which the trace read, or of a target that the trace was given. Raises ValueError for layers that
    the model lacks, for no layers, or if nothing was written.
    """
    written = written_objective(trace, reader, writing)
    kind: Kind = "cross" if "cross" in reader.shape.kinds else "decoder"
    read = trace.key_tokens(Site(kind, 0))
    if kind == "decoder":
        read = read[: written.rows[0] + 1]
    layers = range(reader.shape.layers(kind)) if layers is None else layers
    edges = Edges(kind, layers, words_of(read), written)
    check_sites(edges.sites, reader.shape)
    if not edges.sites:
        raise ValueError(f"Give at least one layer: this model has {layers_of(reader.shape)}.")
    return edges


def written_objective(trace: Trace, reader: Reader, writing: Writing | None) -> Objective:
    """Return the written tokens: of `writing`, which the trace read, or of the trace's target.

    Raises ValueError if there are none.
    """
    written = reader.objective(trace) if writing is None else what_was_written(trace, writing)
    if written is None:
        raise ValueError("There are no written tokens to measure: try another text.")
    return written


def what_was_written(trace: Trace, writing: Writing) -> Objective:
    """Return the tokens that a model wrote, with its end, each with its row of the trace's logits.

    Raises ValueError if it wrote nothing.
    """
    tokens = writing.target_tokens
    if not tokens:
        raise ValueError("The model writes nothing after this text: shorten it, or try another.")
    first = len(trace.target_tokens) - (len(tokens) - writing.finished) - 1
    rows = tuple(range(first, first + len(tokens)))
    ids, texts = zip(*((token.id, token.text) for token in tokens), strict=True)
    return Objective(rows, ids, WRITTEN, texts)


def words_of(tokens: Sequence[Token]) -> tuple[Word, ...]:
    """Return the words of tokens; a special token is its own word, and padding belongs to none.

    If every token is one character, as in a model of digits, the tokens are the words.
    """
    numbered = enumerate(as_pieces(tokens))
    present = [(position, piece) for position, piece in numbered if not piece.is_padding]
    if all(piece.is_special or len(piece.text) == 1 for _, piece in present):
        return tuple(Word(piece.text, (position,)) for position, piece in present)
    words = [zip(*word, strict=True) for _, word in groupby(present, lambda each: each[1].word)]
    return tuple(Word(whole_words(pieces)[0].text, keys) for keys, pieces in words)


@torch.inference_mode()
def knock_out(
    reader: Reader, trace: Trace, edges: Edges, edits: RunEdits | None = None
) -> tuple[Tensor, Iterator[Tensor]]:
    """Return the mean weights of edges (N, W), and the changes without them, in blocks of words.

    Each block of changes (N, words) has the change of every written token's log-probability, in
    nats, with its edges to a word closed, on top of `edits`. An edge is closed before the softmax,
    so the row's other keys take over its weight. One run over the trace's tokens serves a word:
    each token has its own edge to the word closed, and sees the other tokens as they are with all
    edges open.

    Source: Geva et al. 2023, "Dissecting Recall of Factual Associations in Auto-Regressive Language
    Models", section 3, which only closes the edges to the last token.
    """
    edits = dict(edits or {})
    whole = WholeRun(sites=edges.sites)
    before = log_probabilities(reader.rerun(trace, Run(edits, whole)), edges.written)  # (1, N)
    held = edits | {
        site: OtherRun(edits.get(site, UNCHANGED), *others) for site, others in whole.others.items()
    }
    looks = whole.looks[list(edges.written.rows)]  # (N, K)
    weights = [looks[:, list(word.keys)].sum(dim=-1) for word in edges.words]
    return torch.stack(weights, dim=-1), changes(reader, trace, edges, held, before)


@torch.inference_mode()
def changes(
    reader: Reader, trace: Trace, edges: Edges, held: RunEdits, before: Tensor
) -> Iterator[Tensor]:
    """Yield the changes (N, words) from `before` with the edges to words closed, block by block."""
    site = edges.sites[0]
    size = len(trace.query_tokens(site)), len(trace.key_tokens(site))
    most = rows_at_once(trace, ROWS_AT_ONCE)
    for first in range(0, len(edges.words), most):
        words = edges.words[first : first + most]
        closed = torch.zeros(len(words), 1, *size, dtype=torch.bool)  # (B, 1, Q, K)
        for row, word in enumerate(words):
            closed[row, ..., list(word.keys)] = True
        without = {site: Closed(held.get(site, UNCHANGED), closed) for site in edges.sites}
        logits = reader.rerun(trace, Run({**held, **without}))
        yield (log_probabilities(logits, edges.written) - before).T


def agreements(weights: np.ndarray, changes: np.ndarray) -> int:
    """Return how many tokens lose most without the very word that they attend to most."""
    return int((weights.argmax(axis=1) == changes.argmin(axis=1)).sum())


def disagreements(weights: np.ndarray, changes: np.ndarray, most: int) -> list[list[TokenPair]]:
    """Return the edges with more weight than effect, and those with more effect than weight.

    Each list has at most `most` edges, the largest difference first: an edge's weight (N, W) is
    compared with the edge's share of its token's losses.
    """
    shares = shares_of_losses(changes)
    return [furthest(weights - shares, most), furthest(shares - weights, most)]


def shares_of_losses(changes: np.ndarray) -> np.ndarray:
    """Return each edge's share of what its token loses to all words together, from 0 to 1.

    Changes (N, W), in nats, are losses if they are below 0. The shares of a token that loses almost
    nothing sum to less than 1.
    """
    losses = losses_of(changes)
    return losses / np.maximum(losses.sum(axis=1, keepdims=True), LEAST)


def loses_something(changes: np.ndarray) -> bool:
    """Return whether a token loses enough to all words together for its losses to have shares."""
    return bool(losses_of(changes).sum(axis=1).max() >= LEAST)


def losses_of(changes: np.ndarray) -> np.ndarray:
    return -np.minimum(changes, 0)


def furthest(apart: np.ndarray, most: int) -> list[TokenPair]:
    """Return the indices of the `most` largest numbers above 0."""
    indices = np.argsort(-apart, axis=None, kind="stable")[:most]
    rows, columns = (part.tolist() for part in np.unravel_index(indices, apart.shape))
    return [cell for cell in zip(rows, columns, strict=True) if apart[cell] > 0]
