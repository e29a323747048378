"""A run of a tiny model with edits, and what its queries see."""

import torch

from headlight.model.shape import shape_of
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run, Site

SOURCE = torch.tensor([[4, 5, 6, 7, 3, 0, 0]])
TARGET = torch.tensor([[2, 8, 9, 10, 11]])


def traced(model, edits, source=SOURCE, target=TARGET, **lengths):
    trace = Trace()
    sites = edits.at_sites(shape_of(model.config), 12, **lengths)
    model(source, target, Run(sites, trace))
    return trace


def visible(trace, kind, layer=0, head=0):
    return trace.attention[Site(kind, layer)].masked_scores[0, head].isfinite()
