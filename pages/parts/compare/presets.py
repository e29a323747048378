"""Pairs of sides that are chosen by one click."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.parts.compare.links import NAMES, OWN, TIRED, WIDE, show_on
from pages.parts.compare.sides import (
    OWN_TRAINING,
    LibrarySide,
    Pair,
    TranslatorSide,
    at_step,
    recordings,
)
from pages.parts.compare.words import INTRO, NO_CHANGES, NO_OTHER_MODEL
from pages.shared.runs.shelf import shelf
from pages.shared.runs.translator import translator
from pages.shared.state import models
from pages.shared.state.choices import SUMMARIES, put


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
        "Before and after my changes": (trained, now) if now.edits else NO_CHANGES,
    }
    for source, (_, history) in recordings().items():
        own = " of my training" if source == OWN_TRAINING else ""
        pairs[f"Two snapshots{own}"] = two_snapshots(now, source, history.steps)
    if other := elsewhere_in_library():
        other = replace(other, second="", masked="", edits="")
        both = (replace(other, text=one.text) for one in (TIRED, WIDE))
        pairs["It, in the model loaded last"] = tuple(both)
    st.caption(INTRO)
    with st.container(horizontal=True, gap="small"):
        for title, pair in pairs.items():
            why_not = pair if isinstance(pair, str) else None
            st.button(
                title, f"preset {title}", why_not,
                on_click=show_both, args=[pair], disabled=why_not is not None,
            )  # fmt: skip


def show_both(pair: Pair) -> None:
    """Show a pair, the decoders reading the same text if the sentence is the same; a callback."""
    for name, side in zip(NAMES, pair, strict=True):
        show_on(name, side)
    put(OWN, False)


def elsewhere() -> TranslatorSide:
    """Return what the other pages show now."""
    now = TranslatorSide.of_session()
    readable = models.last_readable()
    tokens = translator(now.model).tokenizer.encode(now.text)
    return now if tokens or readable is None else replace(now, text=readable)


def elsewhere_in_library() -> LibrarySide | None:
    """Return what the page BERT and others shows now, if its model is in memory."""
    now = LibrarySide.of_session()
    return now if shelf().get(now.name) else None


def two_sentences(now: TranslatorSide) -> Pair:
    """Return the sentence of the other pages, and one to change."""
    examples = models.choices()[now.model].examples
    others = [WIDE.text] if now.text == TIRED.text else [one for one in examples if one != now.text]
    return now, replace(now, text=[*others, now.text][0])


def two_models(now: TranslatorSide) -> Pair | str:
    """Return a model and another one for the same sentence, or that there is none."""
    entry = models.choices()[now.model]
    languages = entry.source, entry.target
    for other in models.choices().values():
        if other.key != entry.key and (other.source, other.target) == languages:
            return now, replace(now, model=other.key)
    return NO_OTHER_MODEL


def two_snapshots(now: TranslatorSide, source: str, steps: list[int]) -> Pair | str:
    """Return the middle and the end of a training, or nothing if it has only one snapshot."""
    if len(steps) < 2:
        return ""
    middle = steps[(len(steps) - 1) // 2]
    return at_step(now, source, middle), at_step(now, source, steps[-1])
