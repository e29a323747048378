"""Pairs of sides that are chosen by one click."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import streamlit as st

from model.training.snapshots import Snapshots
from pages.parts.compare.links import NAMES, OWN, TIRED, WIDE, show_on
from pages.parts.compare.sides import (
    OWN_TRAINING,
    LibrarySide,
    Side,
    SnapshotSide,
    TranslatorSide,
    recordings,
)
from pages.parts.compare.words import INTRO, NO_CHANGES, NO_OTHER_MODEL
from pages.shared.link import address
from pages.shared.runs.shelf import shelf
from pages.shared.runs.translator import translator
from pages.shared.state import models
from pages.shared.state.choices import SUMMARIES, put

Pair = tuple[Side, Side]
AnySide = TypeVar("AnySide", bound=Side)


def presets() -> None:
    """Draw buttons that choose both sides at once, from what the other pages show."""
    now = elsewhere()
    trained, (_, heads) = replace(now, edits=""), now.shape
    first = trained if now.head not in SUMMARIES else replace(trained, head=0)
    pairs = {
        "It: tired or wide": (TIRED, WIDE),
        "Two sentences": two_sentences(trained),
        "Two heads": (first, replace(first, head=(first.head + 1) % heads)),
        "Two models": two_models(trained),
        "Before and after my changes": (trained, now) if now.edits else None,
    }
    for source, (_, history) in recordings().items():
        own = " of my training" if source == OWN_TRAINING else ""
        pairs[f"Two snapshots{own}"] = two_snapshots(now, source, history)
    if other := elsewhere_in_library():
        other = replace(other, second="", masked="", edits="")
        pairs["It, in the model loaded last"] = tuple(
            replace(other, text=one.text) for one in (TIRED, WIDE)
        )
    why = {"Two models": NO_OTHER_MODEL, "Before and after my changes": NO_CHANGES}
    st.caption(INTRO)
    with st.container(horizontal=True, gap="small"):
        for title, pair in pairs.items():
            st.button(
                title,
                key=f"preset {title}",
                on_click=show_both,
                args=[pair],
                disabled=pair is None,
                help=why.get(title) if pair is None else None,
            )


def show_both(pair: Pair) -> None:
    """Show a pair, the decoders reading the same text if the sentence is the same; a callback."""
    for name, side in zip(NAMES, pair, strict=True):
        show_on(name, side)
    put(OWN, False)


def elsewhere() -> TranslatorSide:
    """Return what the other pages show now."""
    now = of_session(TranslatorSide)
    readable = models.last_readable()
    tokens = translator(now.model).tokenizer.encode(now.text)
    return now if tokens or readable is None else replace(now, text=readable)


def elsewhere_in_library() -> LibrarySide | None:
    """Return what the page BERT and others shows now, if its model is in memory."""
    now = of_session(LibrarySide)
    return now if shelf().get(now.name) else None


def of_session(kind: type[AnySide]) -> AnySide:
    """Return what the other pages show now, as a side."""
    return kind(**{name: address.now(choice) for name, choice in kind.held_choices().items()})


def two_sentences(now: TranslatorSide) -> Pair:
    """Return the sentence of the other pages, and one to change."""
    examples = models.choices()[now.model].examples
    others = [WIDE.text] if now.text == TIRED.text else [one for one in examples if one != now.text]
    return now, replace(now, text=[*others, now.text][0])


def two_models(now: TranslatorSide) -> Pair | None:
    """Return a model and another one for the same sentence, if there is one."""
    entry = models.choices()[now.model]
    languages = entry.source, entry.target
    for other in models.choices().values():
        if other.key != entry.key and (other.source, other.target) == languages:
            return now, replace(now, model=other.key).fitted()
    return None


def two_snapshots(now: TranslatorSide, source: str, history: Snapshots) -> Pair | None:
    """Return the middle and the end of a training, if there is more than one snapshot."""
    if len(history.steps) < 2:
        return None
    steps = history.steps[(len(history.steps) - 1) // 2], history.steps[-1]
    head = {"kind": now.kind, "layer": now.layer, "head": now.head, "text": now.text}
    first, second = (SnapshotSide(**head, snapshot=f"{source}.{step}").fitted() for step in steps)
    return first, second
