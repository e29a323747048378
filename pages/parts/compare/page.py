"""Compare: two scenes side by side: sentences, heads, models, changes or moments of a training."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.parts.compare.choosers import choose_side
from pages.parts.compare.links import NAMES, OWN, SIDES, SIDES_EDITS, TIRED, WIDE, current
from pages.parts.compare.presets import presets
from pages.parts.compare.sides import LibrarySide, Pair, Side, TranslatorSide
from pages.parts.compare.words import (
    CLASSIC,
    DIFFERENT_TARGETS,
    EQUAL,
    EQUAL_GATES,
    NO_OUTPUT,
    NO_TRANSLATION,
    NOTHING_SHARED,
    OTHER_SUMMARY,
    PICTURE,
)
from pages.shared.link import address
from pages.shared.link.address import section
from pages.shared.runs.translator import translated
from pages.shared.show.captions import edit_words
from pages.shared.show.comparison import compare_probabilities, compare_translations
from pages.shared.show.pictures import show
from pages.shared.show.saving import About, about
from pages.shared.show.stage import NOTE, place
from pages.shared.show.words import notes
from pages.shared.state.choices import SUMMARIES, chosen
from pages.shared.state.page import Page
from pages.shared.widgets.choose import choose
from viz import Change, compared_maps, largest_changes
from viz.tokens import aligned

LABELS = ("of A", "of B")


def own_targets(both: Pair) -> bool | None:
    """Return whether each decoder reads its own translation; None if there is no choice.

    On different sentences it always does, and snapshots read what they were recorded with.
    """
    translators = all(isinstance(one, TranslatorSide) for one in both)
    return chosen(OWN) if translators and both[0].text == both[1].text else None


def with_targets(both: Pair, own: bool) -> Pair:
    """Return both sides with what their decoders read; an empty text is their own, as trained.

    They read the same text if they have the same sentence, unless each is to read its `own`.
    """
    first, second = both
    if own:
        return tuple(replace(one, target=one.target or one.translation.text) for one in both)
    if first.text != second.text or not (first.writer and second.writer):
        return both
    shared = first.target or second.target
    if not shared and first.writer != second.writer:
        # As a text for both, so that both models cut it into tokens alike.
        shared = translated(first.text, name=first.writer).text
    return tuple(replace(one, target=one.target or shared) for one in both)


def picture(both: Pair, of: About) -> None:
    """Draw both maps, their difference, and the cells that differ most."""
    data = *(one.weights for one in both), *(one.run.tokens for one in both)
    titles = tuple(f"{name}: {one.title}" for name, one in zip("AB", both, strict=True))
    show(compared_maps(*data, titles=titles), "maps", of=of, what="Two heads and their difference")
    st.caption(PICTURE)
    st.subheader("Largest differences")
    axes = zip(*data[2:], strict=True)
    queries, keys = (sum(None not in pair for pair in aligned(*axis)) for axis in axes)
    changes = largest_changes(*data)
    if not queries * keys:
        st.text(NOTHING_SHARED)
    elif changes:
        st.text("\n".join(map(written, changes)))
        sizes = f"{data[0].size} of A and {data[1].size} of B"
        st.caption(f"{queries * keys} cells are in both maps, of {sizes}.")
    else:
        st.text(EQUAL)
        if both[0].changes.gates != both[1].changes.gates:
            st.caption(EQUAL_GATES)


def written(change: Change) -> str:
    """Return a difference in words."""
    difference = f"{change.difference:+.4f}".replace("-", "−")
    return (
        f"“{change.query}” looks at “{change.key}”: A {change.first:.4f}, B {change.second:.4f}, "
        f"difference {difference}"
    )


def what_was_read(first: list[str], second: list[str], choosable: bool) -> None:
    """Draw what each decoder read, token by token, and the choice of it, if there is one."""
    if not first and not second:
        return
    st.subheader("What the decoders read")
    if choosable:
        choose(OWN)
    if first == second:
        st.text(f"Both decoders read: {' '.join(first)}")
        return
    for name, tokens in (("A", first), ("B", second)):
        st.text(f"{name}'s decoder reads: {' '.join(tokens)}" if tokens else f"{name} has none.")
    if first and second:
        st.caption(DIFFERENT_TARGETS)


def output(both: Pair, same_target: bool, of: About) -> None:
    """Draw the translations of both sides, and how likely each finds a target that both read."""
    if any(isinstance(one, LibrarySide) for one in both):
        st.caption(NO_OUTPUT)
        return
    st.subheader("Translations")
    if not all(isinstance(one, TranslatorSide) for one in both):
        shipped = all(one.writer for one in both)
        read = "the finished model's translation" if shipped else "the right answer"
        st.caption(NO_TRANSLATION.format(read=read))
        return
    first, second = both
    for name, one in zip("AB", both, strict=True):
        for note in notes(one.translation):
            st.info(f"{name}: {note}")
    compare_translations(first.translation, second.translation, LABELS, of=of)
    if same_target:
        st.subheader("How likely each token is that both decoders are to write")
        compare_probabilities(first.trace, second.trace, ("A", "B"), of=of)


def in_words(name: str, side: Side) -> str:
    """Return a side in words, for the captions of pictures."""
    text = " / ".join(filter(None, (side.text, side.second)))
    parts = f"{name}: {side.title}", edit_words(side.changes), f"“{text}”"
    return ", ".join(filter(None, parts))


def is_classic(both: Pair) -> bool:
    """Return whether these are the two sentences of the example, in the model it speaks of."""
    head = {"kind": TIRED.kind, "layer": TIRED.layer, "head": TIRED.head}
    return [replace(one, **head) for one in both] == [TIRED, WIDE]


def summaries(side: Side) -> list[str]:
    """Return the summaries of layers and heads that a side shows, and nothing for single ones."""
    return [one if one in SUMMARIES else "" for one in (side.layer, side.head)]


def consequences(both: Pair, own: bool | None) -> None:
    """Draw the maps and what comes of them; raise ValueError, before that, if one has no run."""
    read = with_targets(both, bool(own))
    of = about(model="", place="; ".join(map(in_words, "AB", read)))
    if is_classic(both):
        st.caption(CLASSIC)
    if summaries(both[0]) != summaries(both[1]):
        st.caption(OTHER_SUMMARY)
    picture(read, of)
    first, second = (one.run.reads for one in read)
    what_was_read(first, second, own is not None)
    output(read, first == second, of)


@section
def compare() -> None:
    """Draw the page: what to compare, the maps, and what comes of them."""
    presets()
    both = tuple(map(current, NAMES))
    address.note()
    if told := st.session_state.pop("compare_told", None):
        st.info(told)
    for column, name, side in zip(st.columns(2, gap="medium"), NAMES, both, strict=True):
        with column:
            choose_side(name, side)
    try:
        consequences(both, own_targets(both))
    except ValueError as error:
        with place(NOTE):
            st.text(str(error))


COMPARE = Page(
    key="compare",
    title="Compare",
    purpose="Two sentences, heads, models or trainings, side by side",
    body=compare,
    choices=(*SIDES.values(), *SIDES_EDITS.values(), OWN),
    pictures={"maps": "both heads and their difference"},
    first="maps",
)
