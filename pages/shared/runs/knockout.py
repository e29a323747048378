"""Closing the edges from written words to those they could look at, for the pages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from model.insight.knockout import edges_of, knock_out
from model.trace import Kind
from pages.shared.runs.arrays import as_array
from pages.shared.runs.door import model_call
from pages.shared.runs.run import ModelRun, reading_its_own, written


@dataclass(frozen=True)
class Knockout:
    """What written tokens lose without words, and how much they look at them: (N, W) each.

    Changes are in nats, and NaN where they are not measured yet. `read` are the tokens that the
    decoder had read last when it wrote them. The edges lead from `queries` to the `keys` of words.
    """

    changes: np.ndarray
    weights: np.ndarray
    read: list[str]
    written: list[str]
    words: list[str]
    queries: Sequence[int]
    keys: list[tuple[int, ...]]


Report = Callable[[Knockout, float], None]  # takes the changes so far, and the share of the work


def looks_at(run: ModelRun) -> Kind:
    """Return the kind of attention by which a decoder looks at its input."""
    return "cross" if "cross" in run.reader.shape.kinds else "decoder"


def size_of(run: ModelRun) -> tuple[int, int]:
    """Return roughly how many runs it takes to close all edges, and the tokens of each.

    Raise ValueError if nothing can be written.
    """
    source, target = run.tokens.source_tokens, run.tokens.target_tokens
    if source:
        return len(source), len(source) + len(target)
    return len(target), len(target) + len(written(run.as_trained).target_tokens)


@model_call()
def knocked_out(run: ModelRun, layers: tuple[int, int] | None, _report: Report) -> Knockout:
    """Return what each written token loses without each word, on top of a run's edits.

    `layers` are the first and the last layer whose edges are closed; None means all. `_report` is
    called after every few words. Raise ValueError if nothing was written.
    """
    own = None if run.target else written(run.as_trained)
    trace = run.trace if run.target else reading_its_own(run)
    window = None if layers is None else range(layers[0], layers[1] + 1)
    edges = edges_of(trace, run.reader, window, own)
    changed = run != run.as_trained
    edits = run.changes_of(len(edges.written.rows)) if changed else {}
    weights, parts = knock_out(run.reader, trace, edges, edits)
    found = Knockout(
        np.full(weights.shape, np.nan),
        as_array(weights),
        [trace.target_tokens[row].text for row in edges.written.rows],
        list(edges.written.texts),
        [word.text for word in edges.words],
        edges.written.rows,
        [word.keys for word in edges.words],
    )
    done = 0
    for part in parts:
        found.changes[:, done : done + part.size(1)] = as_array(part)
        done += part.size(1)
        _report(found, done / len(edges.words))
    return found
