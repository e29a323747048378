"""What other pages learn of trained models."""

from dataclasses import replace

import pytest

from headlight.model.checkpoint import save_checkpoint
from headlight.pages.parts.pages import PAGES
from headlight.pages.shared.runs.readers import entry_of, reader
from headlight.wings.training.small_models import SmallModel, default_options
from headlight.wings.training.tasks import TASKS


def test_the_page_is_listed():
    assert "training" in PAGES


@pytest.mark.parametrize("task", ["reverse", "repeat"])
def test_a_checkpoint_of_a_task_has_examples_that_it_can_read(task, state, loaded, tmp_path):
    small = SmallModel(replace(default_options(task), layers=1, d_model=16, d_ff=16))
    save_checkpoint(tmp_path, small.model, small.tokenizer)
    opened = reader(loaded(tmp_path))
    examples = entry_of(str(tmp_path), opened).examples
    assert TASKS[task].prompt(TASKS[task].example) in examples
    assert not any(each.is_unknown for text in examples for each in opened.tokenizer.encode(text))
