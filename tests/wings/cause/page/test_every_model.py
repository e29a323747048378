"""The page Cause with a model of every sort: its pictures, or what the model lacks."""

import pytest

from headlight.wings.cause import patching
from tests.pages.apps import drawn
from tests.pages.test_every_model import (
    OF_EVERY_PAGE,
    expect_loaded_on,
    folders,
    open_tiny,
    said,
    tiny,
)

__all__ = ["folders", "tiny"]

NEEDS = ["write", "take apart"]


def test_the_page_has_its_pictures_or_says_what_the_model_lacks(tiny):
    app = open_tiny(tiny, "cause")
    lacks = [need for need in NEEDS if need in tiny.reader.missing]
    if lacks:
        assert tiny.reader.missing[lacks[0]] in said(app)
        assert not {*drawn(app)} - OF_EVERY_PAGE - {"source", "target-tokens"}
    else:
        assert {"knockout", "looked-at"} <= {*drawn(app)}
    assert not app.error


def test_patching_is_drawn_or_says_what_the_model_lacks(tiny, monkeypatch):
    monkeypatch.setattr(patching, "LEAST", 0)  # what has learned nothing tells texts hardly apart
    app = open_tiny(tiny, "cause", cause_tab="patching")
    lacks = [need for need in NEEDS if need in tiny.reader.missing]
    if lacks:
        assert tiny.reader.missing[lacks[0]] in said(app)
    else:
        assert {"patch-heads", "patch-tokens"} <= {*drawn(app)}
    assert not app.exception


@pytest.mark.matrix
def test_a_model_that_is_not_in_memory_can_be_loaded_here(transformers_folders):
    expect_loaded_on(transformers_folders, "cause")
