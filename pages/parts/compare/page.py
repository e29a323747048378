"""The page Compare: two sentences, heads, models, changes or training steps side by side."""

from dataclasses import replace

import streamlit as st

from headlight.pages.parts.compare.choosers import choose_side
from headlight.pages.parts.compare.links import (
    NAMES,
    OWN,
    SIDES,
    SIDES_EDITS,
    TIRED,
    WIDE,
    current,
    presets,
)
from headlight.pages.parts.compare.maps import picture
from headlight.pages.parts.compare.sides import ModelSide, Pair, Side, SnapshotSide, hidden_words
from headlight.pages.shared import address
from headlight.pages.shared.address import section
from headlight.pages.shared.controls import loading
from headlight.pages.shared.runs.run import ModelRun, written
from headlight.pages.shared.runs.shelf import shelf
from headlight.pages.shared.show.answers import compare_outputs
from headlight.pages.shared.show.captions import caption, edit_words
from headlight.pages.shared.show.comparison import compare_texts
from headlight.pages.shared.show.saving import About, about
from headlight.pages.shared.show.words import notes, where_cut
from headlight.pages.shared.state import models
from headlight.pages.shared.state.choices import COMMON, SUMMARIES, chosen
from headlight.pages.shared.state.page import Page
from headlight.pages.shared.state.showing import NOTE, place
from headlight.pages.shared.widgets.choose import choose

CLASSIC = (
    "The well-known pair: with “tired”, “it” should be the animal, “il”, and with “wide” the "
    "street, “elle”. In the encoder's layer 2, head 2, “it” does look more at “street” when it is "
    "wide; but this small model writes “il” for both, so it does not tell them apart."
)
DIFFERENT_TARGETS = (
    "The two decoders do not read the same tokens: rows correspond where the token is the same, "
    "although the tokens before it may differ."
)
OTHER_SUMMARY = (
    "One side shows a summary of all heads, the other a single head or another summary: their "
    "difference says little."
)
NOTHING_ALIKE = (
    "The two models have no output in common: their outputs are of different kinds, or one has "
    "none."
)
NOTHING_HIDDEN = "Hide a word of both texts to see what each side finds likely there."
NO_TRANSLATION = (
    "Snapshots have only the attention, no output. The decoder read {read} at every step."
)
LABELS = ("of A", "of B")


def own_targets(both: Pair) -> bool | None:
    """Return whether each decoder reads its own model's text; None if there is no choice.

    There is none if the sentences differ: each decoder then reads its own model's text. There is
    none for snapshots of a training: their decoders read the text that was recorded.
    """
    write = all(isinstance(side, ModelSide) and side.writer for side in both)
    return chosen(OWN) if write and both[0].text == both[1].text else None


def with_targets(both: Pair, own: bool) -> Pair:
    """Return both sides with the texts that their decoders read.

    An empty text means the text that the model itself writes as trained. If the sentences are the
    same, both decoders read the same text, unless `own` is true: then each reads its model's own.
    """
    first, second = both
    if own:
        return with_own(first), with_own(second)
    if first.text != second.text or not (first.writer and second.writer):
        return both
    shared = first.target or second.target
    if not shared and first.writer != second.writer:
        # Both sides get it as a text, so that both models split it into tokens in the same way.
        shared = written(ModelRun(first.text, model=first.writer)).text
    return replace(first, target=first.target or shared), replace(
        second, target=second.target or shared
    )


def with_own(side: Side) -> Side:
    """Return a side whose decoder reads its given text, or else what the changed model writes."""
    if isinstance(side, ModelSide) and side.edits:
        return replace(side, target=side.target or written(side.run).text)
    return side


def what_was_read(both: Pair, choosable: bool) -> None:
    """Draw the tokens that each decoder read.

    If `choosable`, also draw the switch that gives each decoder its own model's text. For
    decoder-only models draw nothing: their maps already show what they read.
    """
    if not any("cross" in side.kinds for side in both):
        return
    first, second = (side.shown.reads for side in both)
    st.subheader("What the decoders read")
    if choosable:
        choose(OWN)
    if first == second:
        st.text(f"Both decoders read: {' '.join(first)}")
        return
    for name, tokens in (("A", first), ("B", second)):
        st.text(
            f"{name}'s decoder reads: {' '.join(tokens)}" if tokens else f"{name} has no decoder."
        )
    if first and second:
        caption(DIFFERENT_TARGETS)


def output(both: Pair, of: About) -> None:
    """Draw the texts that both sides' models write, and the predictions that can be compared."""
    st.subheader("What comes out")
    snapshots = [side for side in both if isinstance(side, SnapshotSide)]
    if snapshots:
        shipped = all(side.writer for side in snapshots)
        read = "the finished model's translation" if shipped else "the right answer"
        caption(NO_TRANSLATION.format(read=read))
        return
    runs = [side.run for side in both if isinstance(side, ModelSide)]
    write = all("write" not in run.reader.missing for run in runs)
    room = st.container()
    if not compare_outputs(runs[0], runs[1], ("A", "B"), of=of) and not write:
        hides = all("mask words" not in run.reader.missing for run in runs)
        caption(NOTHING_HIDDEN if hides else NOTHING_ALIKE)
    with room:  # drawn last, because decoding takes longer than anything else here
        texts = [written(run) for run in runs] if write else []
        ended = [text.finished or text.stopped or not text.source_tokens for text in texts] or [
            True,
            True,
        ]
        for name, run, finished in zip("AB", runs, ended, strict=True):
            read = run.trace().source_tokens or run.trace().target_tokens
            for note in (*where_cut(run), *notes(read, finished, drawn=False)):
                st.info(f"{name}: {note}")
        if texts:
            compare_texts(texts[0], texts[1], LABELS, of=(of, of))


def about_both(both: Pair) -> About:
    """Return the `About` of saved maps: the text, the changes, and the subject of each side."""
    texts = [" / ".join(filter(None, (side.text, side.second))) for side in both]
    shared = texts[0] if texts[0] == texts[1] else ""
    changes, told = [], []
    for name, side, text in zip("AB", both, texts, strict=True):
        changed, quoted = edit_words(side.changes), "" if shared else f"“{text}”"
        parts = f"{name}: {side.shown.of}. {side.place}", changed, hidden_words(side), quoted
        told.append(", ".join(filter(None, parts)))
        changes += [f"in {name}, {changed}"] if changed else []
    of = about(shared, model="", changes="; ".join(changes))
    return replace(of, told="; ".join(told))


def is_classic(both: Pair) -> bool:
    """Return whether the sides show the two example sentences in the default model."""
    head = {"kind": TIRED.kind, "layer": TIRED.layer, "head": TIRED.head}
    return [replace(side, **head) for side in both] == [TIRED, WIDE]


def summaries(side: Side) -> list[str]:
    """Return "mean" or "max" for the layer and for the head of a side, or "" for a single one."""
    return [choice if choice in SUMMARIES else "" for choice in (side.layer, side.head)]


def consequences(both: Pair, own: bool | None) -> None:
    """Draw the maps and all that is below them; raise ValueError if a side cannot be run."""
    read = with_targets(both, bool(own))
    of = about_both(read)
    if summaries(both[0]) != summaries(both[1]):
        caption(OTHER_SUMMARY)
    picture(read, of)
    if is_classic(both):
        caption(CLASSIC)
    what_was_read(read, own is not None)
    output(read, of)


@section
def compare() -> None:
    """Draw the page: the choices, the maps, and the sections about them."""
    loading.arrived()
    presets()
    both = current(NAMES[0]), current(NAMES[1])
    address.note()
    if message := st.session_state.pop("compare_told", None):
        st.info(message)
    for column, name, side in zip(st.columns(2, gap="small"), NAMES, both, strict=True):
        with column, st.container(key=SIDES[name].key):
            choose_side(name, side)
    try:
        consequences(both, own_targets(both))
    except ValueError as error:
        with place(NOTE):
            refuse(both, str(error))


def refuse(both: Pair, why: str) -> None:
    """Say why a side cannot be shown, and offer to load its model if that is missing."""
    wanted = [models.named(side.model) for side in both if isinstance(side, ModelSide)]
    names = [entry.name for entry in wanted if entry.is_library and not shelf().get(entry.name)]
    if names:
        loading.offer(names[0], why)
    else:
        st.text(why)


PAGE = Page(
    key="compare",
    title="Compare",
    group="Change",
    purpose="Two sentences, heads, models or trainings, side by side",
    body=compare,
    changes="by side",
    unread=COMMON,
    choices=(*SIDES.values(), *SIDES_EDITS.values(), OWN),
    pictures={"maps": "both heads"},
    first=("maps",),
)
