"""The mask of one head in force, but for the cells changed by hand."""

from dataclasses import replace

import pytest
import torch

from headlight.model.edits import CellEdit, Edits
from headlight.model.transformer.trace import Site
from headlight.pages.parts.masks.stages import Focus, visible_without_cells
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.saving import about_run
from tests.pages.sessions import end, session

SENTENCE, SITE, HEAD = "I love my cat.", Site("decoder", 1), 2
CELLS = (CellEdit("decoder", 3, 2, opened=False), CellEdit("decoder", 0, 4, True, 1, HEAD))


@pytest.fixture(autouse=True)
def visitor():
    with session("stages"):
        yield
    end("stages")


def visible(edits):
    """What a head sees in a run with edits: all of it, and as found without its cell edits."""
    run = ModelRun(SENTENCE, edits=edits, model="en-fr")
    focus = Focus(SITE, HEAD, ([], []), "", about_run(run))
    trained, whole = (
        item.record(SITE).masked_scores[0, HEAD].isfinite() for item in (run.as_trained, run)
    )
    return whole, visible_without_cells(run, focus, trained.numpy())


@pytest.mark.parametrize(
    "edits", [Edits(), Edits(off=("look-ahead",)), Edits(masks={("window", "decoder"): (1,)})]
)
def test_without_its_cell_edits_a_head_sees_what_the_switches_leave(edits):
    expected, _ = visible(edits)
    whole, match = visible(replace(edits, cells=CELLS))
    assert torch.equal(match, expected)
    assert not torch.equal(whole, expected)
