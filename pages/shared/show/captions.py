"""Sites, edits, rows and columns in words, as captions and maps say them."""

import re

from headlight.model.edits import Edits, describe
from headlight.model.tokens import END_ID, SPECIAL_TOKENS
from headlight.model.trace import Kind
from headlight.model.training.snapshots import Snapshots
from headlight.pages.shared.runs.arrays import tokens_of
from headlight.pages.shared.runs.run import ModelRun, written
from headlight.pages.shared.state.choices import KINDS, SUMMARIES, HeadChoice
from headlight.viz.tokens import and_written


def site_words(kind: Kind, layer: HeadChoice, head: HeadChoice | None = None) -> str:
    """Return a kind of attention, its layer, and its head if only one is meant, in words.

    Layers and heads count from 0 here and from 1 in the words.
    """
    words = [KINDS[kind], f"{layer} of the layers" if layer in SUMMARIES else f"layer {layer + 1}"]
    if head is not None:
        words.append(f"{head} of the heads" if head in SUMMARIES else f"head {head + 1}")
    return ", ".join(words)


def names_site(words: str) -> bool:
    return re.search(r"\b(layer|head)s?\b", words) is not None


def edit_words(edits: Edits, briefly: bool = False) -> str:
    """Return the edits in words, or `briefly` how many there are; empty if there are none."""
    return (", " if briefly else "; ").join(describe(edits, KINDS, briefly))


def labels_of(run: ModelRun, kind: Kind) -> tuple[list[str], list[str]]:
    """Return the labels of the queries and of the keys of a kind of attention.

    If a decoder reads an encoder, the label of its query has the token it read and the token it
    wrote there, from the model's own text or a given one.
    """
    trace = run.trace()
    queries, keys = tokens_of(trace, kind)
    objective = run.objective() if kind != "encoder" and trace.source_tokens else None
    if objective is None:
        return queries, keys
    after = dict(zip(objective.rows, objective.texts, strict=True))
    if not (run.target or written(run.as_trained).finished):  # the model never wrote the end token
        del after[max(after)]
    return and_written(queries, [after.get(position, "") for position in range(len(queries))]), keys


def labels_at_snapshots(
    snapshots: Snapshots, sentence: int, kind: Kind
) -> tuple[list[str], list[str]]:
    """Return the same labels for a sentence that was recorded while a model was trained."""
    queries, keys = snapshots.tokens(sentence, kind)
    if kind == "encoder":
        return queries, keys
    last = (
        SPECIAL_TOKENS[END_ID] if snapshots.source_tokens[sentence] else ""
    )  # not if decoder-only
    return and_written(queries, [*queries[1:], last]), keys
