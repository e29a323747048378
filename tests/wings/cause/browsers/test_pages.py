"""The page Cause."""

import torch

from headlight.viz.numbers import number_text
from headlight.wings.cause.knockout import edges_of, knock_out
from tests.browsers.pointing import expect_cell, strongest
from tests.browsers.test_pages import MAP, SENTENCE, visit

__all__ = ["visit"]


def test_a_cell_of_the_knockout_map_says_what_its_token_loses(visit, translator):
    page = visit(f"cause?sentence={SENTENCE}")
    written = translator.translate(SENTENCE)
    trace = translator.trace(SENTENCE, written)
    _, parts = knock_out(translator, trace, edges_of(trace, translator, None, written))
    changes = torch.cat(list(parts), dim=-1)
    cell = strongest(-changes)
    change = number_text(changes[cell].item(), signed=True)
    expect_cell(page, MAP, cell, f"change in nats {change}")
