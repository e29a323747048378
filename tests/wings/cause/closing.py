"""Edges and paths closed all together, and by hand."""

from dataclasses import replace

import torch

from headlight.model.edits import CellEdit, Edits
from headlight.model.insight.scoring import log_probabilities
from headlight.model.transformer.trace import Run
from headlight.wings.cause.knockout import knock_out
from headlight.wings.cause.paths import two_steps


def measured(reader, trace, edges, edits=None):
    """The weights and all changes of edges."""
    weights, parts = knock_out(reader, trace, edges, edits)
    return weights, torch.cat(list(parts), dim=-1)


def closed_by_hand(reader, trace, edges, edits=Edits()):
    """The changes of edges, each closed in a run of its own as the page Masks closes a cell."""
    layers = [None] if len(edges.layers) == reader.shape.layers(edges.kind) else edges.layers
    size = len(trace.source_tokens) + len(trace.target_tokens)

    def scores(edits):
        run = Run(edits.at_sites(reader.shape, size))
        with torch.inference_mode():
            return log_probabilities(reader.rerun(trace, run), edges.written)[0]

    whole, changes = scores(edits), []
    for place, row in enumerate(edges.written.rows):
        for word in edges.words:
            cells = tuple(
                CellEdit(edges.kind, row, key, opened=False, layer=layer)
                for key in word.keys
                for layer in layers
            )
            after = scores(replace(edits, cells=edits.cells + cells))
            changes.append(after[place] - whole[place])
    return torch.stack(changes).unflatten(0, (-1, len(edges.words)))


def path_followed(reader, trace, edges, token, word, edits=None):
    """All changes (2, words) without a path's second edge, and without both."""
    return torch.cat(list(two_steps(reader, trace, edges, token, word, edits)), dim=-1)


def without_cells(reader, trace, edges, token, cells, edits=Edits()):
    """What a token loses without some cells, closed in a run of their own as on the page Masks."""
    size = len(trace.source_tokens) + len(trace.target_tokens)

    def score(edits):
        run = Run(edits.at_sites(reader.shape, size))
        with torch.inference_mode():
            return log_probabilities(reader.rerun(trace, run), edges.written)[0, token]

    return score(replace(edits, cells=(*edits.cells, *cells))) - score(edits)


def cells_of(edges, token, word):
    """The cells of the first edge, and those from the word to each word."""
    keys, row = edges.words[word].keys, edges.written.rows[token]
    first = [CellEdit("cross", row, key, False, layer) for key in keys for layer in edges.layers]
    return first, [
        [CellEdit("encoder", query, key, opened=False) for query in keys for key in end.keys]
        for end in edges.words
    ]
