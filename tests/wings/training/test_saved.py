"""A model that the page Training has saved, on every page."""

from dataclasses import replace

import pytest

from headlight.model.checkpoint import save_checkpoint
from headlight.wings.training.small_models import SmallModel, default_options
from tests.pages.apps import open_page
from tests.pages.test_models import ask_for, expect_on_every_page


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The unzipped download of a model that reverses numbers."""
    folder = tmp_path_factory.mktemp("saved")
    small = SmallModel(replace(default_options("reverse"), layers=1, heads=2, d_model=16, d_ff=16))
    save_checkpoint(folder, small.model, small.tokenizer)
    return folder


def test_every_page_takes_a_checkpoint_of_ones_own(saved):
    app = ask_for(open_page("models"), saved)
    assert app.session_state["sentence"] == "31415926"
    expect_on_every_page(app)
