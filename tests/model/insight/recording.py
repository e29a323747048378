"""One sentence and its target, traced by a small model."""

import torch

from model.tokens import END_ID, START_ID, Token
from model.trace import Run, Site, Trace

SITES = [Site(kind, layer) for kind in ("encoder", "decoder", "cross") for layer in (0, 1)]


def tokens(*ids):
    return [Token(index, str(index), 0, 0) for index in ids]


SOURCE = tokens(4, 5, 6, 7, 8, END_ID)
TARGET = tokens(START_ID, 14, 15, 16)


def record(model, edits=None, source=SOURCE, target=TARGET):
    trace = Trace(source, target)
    with torch.inference_mode():
        model(
            torch.tensor([[token.id for token in source]]),
            torch.tensor([[token.id for token in target]]),
            Run(edits or {}, trace),
        )
    return trace
