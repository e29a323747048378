"""What each part of a decoder adds to a logit."""

from __future__ import annotations

from model.insight.attribution import Attribution, attribute
from pages.shared.runs.door import model_call
from pages.shared.runs.run import ModelRun


@model_call("Adding up …")
def attributed(run: ModelRun, row: int, token: int, other: int) -> Attribution:
    """Return what each part adds to the logit of a token less that of another, after a row."""
    return attribute(run.reader, run.tokens, row, token, other, run.changes)
