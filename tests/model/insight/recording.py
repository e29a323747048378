"""One sentence and its target, traced by a small model."""

import pytest
import torch

from headlight.model.edits.attention import AttentionEdit
from headlight.model.insight.anatomy import Weight
from headlight.model.tokens import END_ID, START_ID, Token
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run, Site
from headlight.model.translator import Translator

HEADS = 4
SITES = [Site(kind, layer) for kind in ("encoder", "decoder", "cross") for layer in (0, 1)]
EDITS = {
    Site("encoder", 0): AttentionEdit(gate=torch.tensor([1.0, 0.5, 0.0, 1.0])),
    Site("encoder", 1): AttentionEdit(block=torch.eye(9, dtype=torch.bool)),
    Site("decoder", 0): AttentionEdit(open=torch.ones(9, 9, dtype=torch.bool), scale=0.3),
    Site("cross", 1): AttentionEdit(gate=torch.tensor([0.25, 1.0, 1.0, 1.0])),
}
IN_FORCE = pytest.mark.parametrize("edits", [{}, EDITS], ids=["as trained", "with edits"])
AT_SITES = pytest.mark.parametrize("site", SITES, ids=str)


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


class Recorded:
    """A run as the app's own are: with its reader, its trace and its changes."""

    def __init__(self, reader, trace, changes):
        self.reader, self._trace, self._changes = reader, trace, changes

    def trace(self):
        return self._trace

    def streamed(self):
        return self._trace

    def changes(self):
        return self._changes

    def record(self, site):
        return self._trace.attention[site]


def reader_of(model):
    """A translator of ids, without texts."""
    return Translator(model, tokenizer=None)


def weight_of(model, trace, site, head, query, edits=None, key=0):
    reader = model if hasattr(model, "rerun") else reader_of(model)
    return Weight(Recorded(reader, trace, edits or {}), site, head, query, key)
