"""Pairs of sides that one click chooses."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import streamlit as st

from pages.parts.compare.links import NAMES, OWN, TIRED, WIDE, show_on
from pages.parts.compare.sides import OWN_TRAINING, ModelSide, Pair, at_step, recordings
from pages.shared.link import address
from pages.shared.runs.arrays import as_array
from pages.shared.runs.run import written
from pages.shared.show.glossary import caption
from pages.shared.state import models
from pages.shared.state.choices import SUMMARIES, put
from pages.shared.state.edit_history import BEFORE_AND_AFTER

VISIBLE = 1e-3  # a visible difference of weights


def presets() -> None:
    """Draw buttons that choose both sides at once, from what the other pages show."""
    now = elsewhere()
    if st.session_state.pop(BEFORE_AND_AFTER, False):
        show_both(affected(replace(now, edits=""), now))
    trained = replace(now, edits="")
    pairs = {
        "It: tired or wide": (TIRED, WIDE),
        "Two sentences": two_sentences(trained),
        "Two heads": two_heads(trained),
        "Two models": two_models(trained),
    }
    for source, (_, history) in recordings().items():
        own = " of my training" if source == OWN_TRAINING else ""
        pairs[f"Two snapshots{own}"] = two_snapshots(now, source, history.steps)
    if models.named(now.model).is_library:
        alone = replace(trained, second="", masked="", target="")
        both = (replace(alone, text=side.text) for side in (TIRED, WIDE))
        pairs["It, in the chosen model"] = tuple(both)
    caption("Begin with one of these, and change either side below:")
    with st.container(horizontal=True, gap="small"):
        for title, pair in pairs.items():
            why_not = pair if isinstance(pair, str) else None
            st.button(
                title, f"preset {title}", why_not,
                on_click=show_both, args=[pair], disabled=why_not is not None,
            )  # fmt: skip


def show_both(pair: Pair) -> None:
    """Show a pair, its decoders reading the same text; a callback."""
    for name, side in zip(NAMES, pair, strict=True):
        show_on(name, side)
    put(OWN, False)


def elsewhere() -> ModelSide:
    """Return what the other pages show now."""
    held = ModelSide.held_choices().items()
    now = ModelSide(**{name: address.now(choice) for name, choice in held})
    texts = models.last_readable()
    if now.text.strip() or texts is None:
        return now
    return replace(now, text=texts[0], second=texts[1])


def two_sentences(now: ModelSide) -> Pair:
    """Return the sentence of the other pages, and a second sentence to change."""
    examples = models.named(now.model).examples
    others = [example for example in examples if example != now.text]
    if now.text == TIRED.text:
        others = [WIDE.text]
    return now, replace(now, text=[*others, now.text][0], masked="")


def two_heads(now: ModelSide) -> Pair | str:
    """Return a head and the next one, or a sentence on why there is none."""
    try:
        _, heads = now.fitted().shape
    except ValueError as error:  # the model may not be in memory
        return str(error)
    first = 0 if now.head in SUMMARIES else now.head
    return replace(now, head=first), replace(now, head=(first + 1) % heads)


def affected(before: ModelSide, after: ModelSide) -> Pair:
    """Return a model as trained and with changes, at a head whose weights they change.

    That is the head of both sides; if its weights stay the same, as those of a head that is off do,
    it is the head whose weights change most.
    """
    with suppress(ValueError):  # the model may not be in memory, or cannot read the text
        read = before.target or (written(before.run).text if before.writer else "")
        runs = [replace(side.fitted(), target=read) for side in (before, after)]
        if largest_change(*(side.weights for side in runs)) < VISIBLE:
            trained, changed = (side.run for side in runs)
            changes = {}  # by head
            for site in trained.reader.shape.sites:
                weights = [as_array(run.record(site).weights[0]) for run in (trained, changed)]
                for head, maps in enumerate(zip(*weights, strict=True)):
                    changes[site.kind, site.layer, head] = largest_change(*maps)
            kind, layer, head = max(changes, key=changes.get)
            selected = {"kind": kind, "layer": layer, "head": head}
            return replace(before, **selected), replace(after, **selected)
    return before, after


def largest_change(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.abs(first - second).max())


def two_models(now: ModelSide) -> Pair | str:
    """Return a model and another one for the same sentence, or a sentence on why there is none."""
    entry = models.named(now.model)
    languages = entry.source, entry.target
    for other in models.choices().values():
        if other.key != entry.key and (other.source, other.target) == languages:
            return now, replace(now, model=other.key, masked="")
    return "There is no other model for this sentence."


def two_snapshots(now: ModelSide, source: str, steps: list[int]) -> Pair | str:
    """Return the middle and the end of a training, or an empty text if it has only one snapshot."""
    if len(steps) < 2:
        return ""
    middle = steps[(len(steps) - 1) // 2]
    return at_step(now, source, middle), at_step(now, source, steps[-1])
