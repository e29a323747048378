"""Edges closed all together, and by hand."""

from dataclasses import replace

import torch

from headlight.model.edits import CellEdit, Edits
from headlight.model.insight.knockout import knock_out
from headlight.model.insight.scoring import log_probabilities
from headlight.model.trace import Run


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
