"""The badges of a head: what it does on this sentence, next to what it usually does."""

import re

import pytest

from headlight.model.insight.rows import badges
from headlight.model.transformer.trace import Site
from tests.pages.apps import open_page

SENTENCE = "My sister sold seven boats."
BADGE = re.compile(r":blue-badge\[([a-z ]+) ([\d.]+)(?: here; usually ([\d.]+) ± ([\d.]+))?\]")


@pytest.fixture(scope="module")
def places(shipped):
    """Heads that have a badge on the sentence, one of each kind of attention."""
    trace, match = shipped.trace(SENTENCE, shipped.translate(SENTENCE)), {}
    for kind, (layers, heads) in shipped.shape.kinds.items():
        for layer in range(layers):
            weights = trace.attention[Site(kind, layer)].weights[0].numpy()
            for head in range(heads):
                if badges(weights[head], kind):
                    match.setdefault(kind, (layer, head))
    return match


def opened(kind, layer, head, **parameters):
    place = {"kind": kind, "layer": str(layer + 1), "head": str(head + 1)}
    app = open_page("heads", sentence=SENTENCE, **place, **parameters)
    assert not app.exception
    return app


def said(app):
    """The badges on the page."""
    return [item for block in app.markdown for item in BADGE.findall(block.value)]


def test_a_model_without_an_atlas_has_badges_of_the_sentence_alone():
    for head in range(8):
        if found := said(app := opened("encoder", 0, head, model="en-fr-learned")):
            break
    assert found
    assert not any(mean for _, _, mean, _ in found)
    assert not any(caption.value.startswith("Usually") for caption in app.caption)
