"""What the rows and columns of attention maps are called."""

from __future__ import annotations

from model.tokens import END_ID, SPECIAL_TOKENS
from model.trace import Kind
from model.training.snapshots import Snapshots
from pages.shared.runs.arrays import tokens_of
from pages.shared.runs.run import ModelRun, written
from viz.tokens import and_written


def labels_of(run: ModelRun, kind: Kind) -> tuple[list[str], list[str]]:
    """Return the labels of the queries and of the keys of a kind of attention.

    A query of a decoder beside an encoder has the token that was read and the one it served to
    write: that of the text that was followed, be it the model's own or a given one.
    """
    queries, keys = tokens_of(run.trace, kind)
    if kind == "encoder" or not run.trace.source_tokens or run.objective is None:
        return queries, keys
    after = dict(zip(run.objective.rows, run.objective.texts, strict=True))
    if not (run.target or written(run.as_trained).finished):  # it never wrote the end
        del after[max(after)]
    return and_written(queries, [after.get(place, "") for place in range(len(queries))]), keys


def labels_at_snapshots(found: Snapshots, sentence: int, kind: Kind) -> tuple[list[str], list[str]]:
    """Return the same labels of a sentence that was recorded while a model was trained."""
    queries, keys = found.tokens(sentence, kind)
    if kind == "encoder":
        return queries, keys
    last = SPECIAL_TOKENS[END_ID] if found.source_tokens[sentence] else ""  # alone it has no end
    return and_written(queries, [*queries[1:], last]), keys
