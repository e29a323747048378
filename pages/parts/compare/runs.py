"""What the two sides of the page Compare show: weights of runs or of a training's snapshots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from model import Translation
from model.edits import Edits, read_edits
from model.trace import Trace
from pages.parts.compare import others
from pages.parts.compare.sides import recordings, snapshot
from pages.parts.compare.words import NO_TRAINING
from pages.shared.runs.arrays import one_head, tokens_of, weights_of
from pages.shared.runs.shelf import short
from pages.shared.runs.translator import traced, translated, translator
from pages.shared.show.captions import site_words
from pages.shared.state import models, scene
from pages.shared.state.scene import Scene


@dataclass(frozen=True)
class Shown:
    """One head of one run, with what its decoder read; snapshots have neither run nor output."""

    title: str
    weights: np.ndarray  # (Q, K)
    tokens: tuple[list[str], list[str]]  # of the queries and of the keys
    reads: list[str]
    trace: Trace | None = None
    translation: Translation | None = None


def edits_of(side: Scene) -> Edits:
    """What is changed on a side."""
    if others.is_other(side):
        return others.edits_of(side)
    return read_edits(side.edits, translator(side.model).model.config)


def translates(side: Scene) -> bool:
    """Whether what a side's model writes can be known."""
    snapshot_of_toy = side.compare_snapshot.startswith("toy.")
    return not snapshot_of_toy and not others.is_other(side)


def own_translation(side: Scene, edits: Edits = Edits()) -> Translation:
    """What a side's model writes."""
    return translated(side.sentence, edits, name=side.model)


def targets(first: Scene, second: Scene, own: bool) -> tuple[str, str]:
    """What the decoders of both sides read; an empty text is its own translation as trained.

    They read the same text where they have the same sentence, unless each is to read its `own`.
    """
    given = first.target, second.target
    if own:
        return tuple(
            text or own_translation(side, edits_of(side)).text
            for text, side in zip(given, (first, second), strict=True)
        )
    alike = first.sentence == second.sentence
    if not alike or not all(map(translates, (first, second))):
        return given
    shared = first.target or second.target
    if not shared and first.model != second.model:
        # As a text for both, so that both models cut it into tokens alike.
        shared = own_translation(first).text
    return first.target or shared, second.target or shared


def shown(name: str, side: Scene, target: str) -> Shown:
    """A side with the text that its decoder reads.

    Raises ValueError where its training or its model is gone, or cannot read the text.
    """
    if others.is_other(side):
        return other(name, side)
    head = f"head {side.head}" if side.head not in scene.SUMMARIES else f"{side.head} of all heads"
    site = f"{scene.KINDS[side.kind]}, layer {side.layer}, {head}"
    if side.compare_snapshot:
        return recorded(name, side, site)
    edits = edits_of(side)
    trace = traced(side.sentence, target, edits, name=side.model)
    state = "as trained" if edits == Edits() else "with changes"
    return Shown(
        f"{name}: {models.choices()[side.model].title}, {state}. {site}",
        one_head(weights_of(trace, side.kind)[side.layer - 1], side.head),
        tokens_of(trace, side.kind),
        [token.text for token in trace.target_tokens],
        trace,
        own_translation(side, edits),
    )


def other(name: str, side: Scene) -> Shown:
    """A side that is a model of the transformers library."""
    state = ", heads switched" if edits_of(side) != Edits() else ""
    site = site_words(side.bert_kind, side.bert_layer, side.bert_head)
    return Shown(
        f"{name}: {short(side.bert_name)}{state}. {site}",
        others.weights_of(side),
        others.tokens_of(side),
        others.decoder_reads(side),
    )


def recorded(name: str, side: Scene, site: str) -> Shown:
    """A side that is a snapshot: the one nearest to its step."""
    source, wanted = snapshot(side)
    recording = recordings().get(source)
    if recording is None:
        raise ValueError(NO_TRAINING)
    history = recording.history
    place = int(np.abs(np.array(history.steps) - wanted).argmin())
    number = history.sentences.index(side.sentence) if side.sentence in history.sentences else 0
    weights = history.weights[number][side.kind][place].cpu().numpy()  # (layers, H, Q, K)
    return Shown(
        f"{name}: {recording.title}, step {history.steps[place]:,}. {site}",
        one_head(weights[side.layer - 1], side.head),
        history.tokens(number, side.kind),
        history.target_tokens[number],
    )
