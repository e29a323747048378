"""What the page Cause computes: the effects of patching heads, and of closing edges."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from headlight.model.insight.ablation import cell_removals
from headlight.model.insight.scoring import log_probabilities
from headlight.model.questions import Objective
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Kind, RunEdits, Site
from headlight.pages.shared.runs.arrays import as_array
from headlight.pages.shared.runs.door import model_call
from headlight.pages.shared.runs.readers import errors_explained
from headlight.pages.shared.runs.run import ModelRun, reading_its_own, written
from headlight.wings.cause import patching, paths
from headlight.wings.cause.knockout import Edges, edges_of, knock_out, written_objective

LIKELIEST = 12  # likeliest tokens kept for the place of each written token
CUT = "The changed text has more tokens than this model reads: shorten it."

Shares = Mapping[Kind, np.ndarray]  # (layers, heads); NaN if not measured yet
Report = Callable[[Shares, float], None]  # gets the shares so far, and how much is done


@dataclass(frozen=True)
class TwoTexts:
    """A clean and a changed text; after each, the decoder reads the same written tokens.

    The traces contain only tokens. For both texts, `likeliest` has the ids (N, LIKELIEST) that are
    likeliest in the place of each written token. `first_apart` is the index of the first written
    token that is not the likeliest after the changed text; without such a token, of the one whose
    probability differs most.
    """

    clean: Trace
    changed: Trace
    written: Objective
    likeliest: tuple[list[list[int]], list[list[int]]]
    first_apart: int


@dataclass(frozen=True)
class Patched:
    """The share of the gap between two runs that each head restores, and that all heads restore.

    `before` and `aim` are the differences of the answers' logits, in nats, in the run to be patched
    and in the run that gives the parts of heads. `itself` is the change, in nats, when the part of
    all heads is replaced by the run's own; `outputs` and `parts` are the shares when the outputs,
    or the part, of all heads are replaced together.
    """

    shares: Shares
    before: float
    aim: float
    itself: float
    outputs: float
    parts: float


@model_call("Reading …")
def two_texts(run: ModelRun, changed: str) -> TwoTexts:
    """Read a run's text and a changed text, both with the run's target or, without one, its output.

    Raise ValueError if the texts cannot be compared token by token, or if nothing is written.
    """
    own = None if run.target else written(run.as_trained)
    clean = run.trace() if run.target else reading_its_own(run)
    if run.reader.is_cut(changed):
        raise ValueError(CUT)
    options = {"pad_to": run.pad_to, "edits": edits_of(run), "sites": []}
    with errors_explained():
        other = run.reader.trace(changed, run.target or own, **options)
    patching.check_tokens(clean, other)
    objective = written_objective(clean, run.reader, own)
    rows = list(objective.rows)
    kept = min(LIKELIEST, clean.logits.size(-1))
    likeliest = [trace.logits[0, rows].topk(kept).indices.tolist() for trace in (clean, other)]
    first, second = (log_probabilities(trace.logits, objective)[0] for trace in (clean, other))
    pairs = zip(objective.ids, likeliest[1], strict=True)
    apart = (place for place, (token, best) in enumerate(pairs) if best[0] != token)
    return TwoTexts(
        Trace(clean.source_tokens, clean.target_tokens),
        Trace(other.source_tokens, other.target_tokens),
        objective,
        (likeliest[0], likeliest[1]),
        next(apart, int((first - second).abs().argmax())),
    )


def edits_of(run: ModelRun) -> RunEdits:
    """Return a run's edits for its model, extended to the tokens that the model wrote."""
    return run.changes_of(0 if run.target else len(written(run.as_trained).target_tokens))


def runs_of(
    run: ModelRun,
    changed: str,
    answers: patching.AnswerPair,
    parts: tuple[patching.Part, ...],
    backwards: bool,
) -> patching.TwoRuns:
    """Return the run to patch, and the run that gives: the clean text's unless `backwards`."""
    texts = two_texts(run, changed)
    into, giving = (texts.clean, texts.changed) if backwards else (texts.changed, texts.clean)
    return patching.two_runs(run.reader, into, giving, answers, parts, edits_of(run))


@model_call()
def patched(
    run: ModelRun,
    changed: str,
    answers: patching.AnswerPair,
    part: patching.Part,
    backwards: bool,
    _report: Report,
) -> Patched:
    """Return the effect of patching a part of each head from one text's run into the other's.

    `_report` is called after each layer. Raise ValueError if the runs do not differ.
    """
    shape = run.reader.shape
    shares: Shares = {kind: np.full(size, np.nan) for kind, size in shape.kinds.items()}
    runs = runs_of(run, changed, answers, tuple({"heads": None, part: None}), backwards)
    outputs = runs.patched_everywhere(["heads"])
    result = Patched(
        shares,
        runs.before,
        runs.aim,
        runs.patched_into_itself([part]),
        outputs,
        outputs if part == "heads" else runs.patched_everywhere([part]),
    )
    for done, (site, share) in enumerate(patching.patch_heads(runs, part), start=1):
        shares[site.kind][site.layer] = as_array(share)
        _report(shares, done / len(shape.sites))
    return result


@model_call("Patching …")
def patched_tokens(
    run: ModelRun,
    changed: str,
    answers: patching.AnswerPair,
    part: patching.Part,
    backwards: bool,
    site: Site,
    head: int,
) -> np.ndarray:
    """Return the effect of patching a part of a head at each single token (T,)."""
    runs = runs_of(run, changed, answers, (part,), backwards)
    return as_array(patching.patch_tokens(runs, part, site, head))


@dataclass(frozen=True)
class Knockout:
    """What N written tokens lose without each of W words, and how much they attend to it.

    `changes` (N, W) are in nats, and NaN where they are not measured yet; `weights` (N, W) are mean
    weights. `read` has the token that the decoder read last before it wrote each token. The edges
    lead from `queries` (N,) to `keys`, the positions of each word's pieces.
    """

    changes: np.ndarray
    weights: np.ndarray
    read: list[str]
    written: list[str]
    words: list[str]
    queries: Sequence[int]
    keys: list[tuple[int, ...]]


KnockoutReport = Callable[[Knockout, float], None]  # gets the changes so far, and how much is done


def looks_at(run: ModelRun) -> Kind:
    """Return the kind of attention by which a decoder looks at its input."""
    return "cross" if "cross" in run.reader.shape.kinds else "decoder"


def size_of(run: ModelRun) -> tuple[int, int]:
    """Return roughly how many runs it takes to close all edges, and how many tokens each reads.

    Raise ValueError if nothing can be written.
    """
    source, target = run.tokens().source_tokens, run.tokens().target_tokens
    if source:
        return len(source), len(source) + len(target)
    return len(target), len(target) + len(written(run.as_trained).target_tokens)


def edges_in(run: ModelRun, layers: tuple[int, int] | None) -> tuple[Trace, Edges, RunEdits]:
    """Return a run's trace, its edges in some layers (None: in all), and its edits."""
    own = None if run.target else written(run.as_trained)
    trace = run.trace() if run.target else reading_its_own(run)
    window = None if layers is None else range(layers[0], layers[1] + 1)
    edges = edges_of(trace, run.reader, window, own)
    return trace, edges, run.changes_of(len(edges.written.rows))


@model_call()
def knocked_out(run: ModelRun, layers: tuple[int, int] | None, _report: KnockoutReport) -> Knockout:
    """Return what each written token loses without each word, with a run's edits in force.

    `layers` are the first and the last layer whose edges are closed; None means all. `_report` is
    called after every few words. Raise ValueError if nothing was written.
    """
    trace, edges, edits = edges_in(run, layers)
    weights, parts = knock_out(run.reader, trace, edges, edits)
    result = Knockout(
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
        result.changes[:, done : done + part.size(1)] = as_array(part)
        done += part.size(1)
        _report(result, done / len(edges.words))
    return result


@model_call("Closing two edges …")
def two_steps(run: ModelRun, layers: tuple[int, int] | None, token: int, word: int) -> np.ndarray:
    """Return a token's changes (2, words) without paths through a word; see `paths.two_steps`."""
    trace, edges, edits = edges_in(run, layers)
    parts = paths.two_steps(run.reader, trace, edges, token, word, edits)
    return np.concatenate([*map(as_array, parts)], axis=1)


@model_call("Closing one cell …")
def in_one_head(run: ModelRun, token: int, word: int, end: int) -> tuple[Site, int, float, float]:
    """Return the encoder's head with the largest weight from a piece of `word` to one of `end`.

    The result is its site, its index, that weight, and the change of a token's log-probability, in
    nats, if only this query may not attend to this key in this head.
    """
    trace, edges, edits = edges_in(run, None)
    queries, keys = edges.words[word].keys, edges.words[end].keys
    weights = trace.weights("encoder")[:, :, list(queries)][..., list(keys)]
    layer, head, query, key = map(int, np.unravel_index(int(weights.argmax()), weights.shape))
    site, cells = Site("encoder", layer), [(queries[query], keys[key])]
    objective = edges.written.only(token)
    (change,) = cell_removals(run.reader, trace, site, head, cells, objective, edits)
    return site, head, weights.max().item(), change.item()
