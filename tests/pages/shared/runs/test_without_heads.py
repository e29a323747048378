from dataclasses import replace

import pytest

from model.edits import Edits
from pages.shared.runs import without_heads
from pages.shared.runs.run import ModelRun, written
from pages.shared.runs.without_heads import heads_that_change, written_without_heads

pytestmark = pytest.mark.usefixtures("one_session")
RUN = ModelRun("The dog ate the meat because it was hungry.", model="en-fr-learned")


def every_head(run):
    sizes = run.reader.shape.kinds.items()
    return [
        (kind, layer, head)
        for kind, (layers, heads) in sizes
        for layer in range(layers)
        for head in range(heads)
    ]


def without(run, head):
    return written(replace(run, edits=replace(run.edits, gates={**run.edits.gates, head: 0.0})))


@pytest.mark.parametrize("edits", [Edits(), Edits(gates={("cross", 0, 1): 0.0})])
def test_the_heads_that_change_a_text_are_those_whose_removal_writes_another_one(edits):
    run = replace(RUN, edits=edits)
    own = [token.id for token in written(run).target_tokens]
    others = [
        head
        for head in every_head(run)
        if [token.id for token in without(run, head).target_tokens] != own
    ]
    assert others
    assert sorted(heads_that_change(run)) == sorted(others)
    found = written_without_heads(run, lambda share: None)
    assert found.untried == ()
    assert {head: one.text for head, one in found.written.items()} == {
        head: without(run, head).text for head in others
    }


def test_a_model_of_the_library_is_tried_alike(loaded, transformers_folders):
    run = ModelRun("I love my cat.", model=loaded(transformers_folders["T5"]))
    changing = heads_that_change(run)
    own = written(run).text
    for head in every_head(run):
        assert head in changing or without(run, head).text == own


def test_what_there_is_no_time_for_is_left_untried(monkeypatch):
    monkeypatch.setattr(without_heads, "SECONDS", -1.0)
    found = written_without_heads(RUN, lambda share: None)
    assert found.written == {}
    assert found.untried == heads_that_change(RUN)
