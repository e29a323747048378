"""Two scenes side by side: sentences, heads, models, changes or moments of a training."""

from __future__ import annotations

import streamlit as st

from pages.parts.compare import others
from pages.parts.compare.choosers import choose_side
from pages.parts.compare.runs import Shown, edits_of, shown, targets
from pages.parts.compare.sides import (
    SIDES,
    Sides,
    before_and_after,
    classic,
    classic_in,
    elsewhere,
    fitted,
    put_both,
    recordings,
    side,
    two_heads,
    two_models,
    two_sentences,
    two_snapshots,
)
from pages.parts.compare.words import (
    CLASSIC,
    DIFFERENT_TARGETS,
    EQUAL,
    EQUAL_GATES,
    INTRO,
    NO_OUTPUT,
    NO_TRAINING_TRANSLATION,
    NO_TRANSLATION,
    NOTHING_SHARED,
    OTHER_SUMMARY,
    OWN_TARGETS,
    PICTURE,
)
from pages.shared.frame.frame import open_page
from pages.shared.link import address
from pages.shared.show.captions import edit_words
from pages.shared.show.comparison import compare_probabilities, compare_translations
from pages.shared.show.pictures import show
from pages.shared.show.saving import about
from pages.shared.show.words import notes
from pages.shared.state import scene
from pages.shared.state.scene import Scene
from viz import Change, compared_maps, largest_changes
from viz.tokens import aligned

LABELS = ("of A", "of B")


def presets() -> None:
    """Buttons that choose both sides at once, from what the other pages show."""
    now = elsewhere()
    sides = {
        "It: tired or wide": classic(),
        "Two sentences": two_sentences(now),
        "Two heads": two_heads(now),
        "Two models": two_models(now),
        "Before and after my changes": before_and_after(now),
    }
    for recording in recordings().values():
        own = " of my training" if recording.source == "toy" else ""
        sides[f"Two snapshots{own}"] = two_snapshots(now, recording)
    why = {
        "Two models": "There is no other model for this sentence.",
        "Before and after my changes": "Change something on the Masks or Heads page first.",
    }
    st.caption(INTRO)
    if other := others.elsewhere():
        sides["It, in the model loaded last"] = classic_in(other)
    with st.container(horizontal=True, gap="small"):
        for title, both in sides.items():
            st.button(
                title,
                key=f"preset {title}",
                on_click=put_both,
                args=[both],
                disabled=both is None,
                help=why.get(title) if both is None else None,
            )


def picture(first: Shown, second: Shown, gates_differ: bool) -> None:
    """Both maps, their difference, and the cells that differ most.

    `gates_differ` says whether heads are switched on one side that are not on the other.
    """
    data = first.weights, second.weights, first.tokens, second.tokens
    maps = compared_maps(*data, titles=(first.title, second.title))
    show(maps, "maps", save="Two heads and their difference")
    st.caption(PICTURE)
    st.subheader("Largest differences")
    queries, keys = (
        sum(None not in pair for pair in aligned(*axis))
        for axis in zip(first.tokens, second.tokens, strict=True)
    )
    changes = largest_changes(*data)
    if not queries * keys:
        st.text(NOTHING_SHARED)
    elif not changes:
        st.text(EQUAL)
        if gates_differ:
            st.caption(EQUAL_GATES)
    else:
        st.text("\n".join(map(written, changes)))
        sizes = " and ".join(
            f"{one.weights.size} of {name}" for name, one in zip("AB", (first, second), strict=True)
        )
        st.caption(f"{queries * keys} cells are in both maps, of {sizes}.")


def written(change: Change) -> str:
    """A difference in words."""
    difference = f"{change.difference:+.4f}".replace("-", "−")
    return (
        f"“{change.query}” looks at “{change.key}”: A {change.first:.4f}, B {change.second:.4f}, "
        f"difference {difference}"
    )


def what_was_read(first: Shown, second: Shown, choosable: bool) -> None:
    """The text that each decoder read, as tokens, and where there is a choice of it."""
    if not first.reads and not second.reads:
        return
    st.subheader("What the decoders read")
    if choosable:
        st.toggle("Each its own translation", key="compare_own", help=OWN_TARGETS)
    if first.reads == second.reads:
        st.text(f"Both decoders read: {' '.join(first.reads)}")
        return
    for name, one in zip("AB", (first, second), strict=True):
        st.text(
            f"{name}'s decoder reads: {' '.join(one.reads)}" if one.reads else f"{name} has none."
        )
    if first.reads and second.reads:
        st.caption(DIFFERENT_TARGETS)


def in_words(both: Sides, first: Shown, second: Shown) -> str:
    """Both sides in words, for the captions of their pictures."""
    return "; ".join(
        ", ".join(filter(None, [one.title, edit_words(edits_of(chosen)), f"“{text(chosen)}”"]))
        for chosen, one in zip(both, (first, second), strict=True)
    )


def text(chosen: Scene) -> str:
    """What the model of a side reads."""
    other = others.is_other(chosen)
    return others.text_of(chosen) if other else chosen.sentence


def output(both: Sides, first: Shown, second: Shown) -> None:
    """The translations of both sides, and how likely each finds a target that both read."""
    if any(map(others.is_other, both)):
        st.caption(NO_OUTPUT)
        return
    st.subheader("Translations")
    if first.trace is None or second.trace is None:
        toy = any(each.compare_snapshot.startswith("toy.") for each in both)
        st.caption(NO_TRAINING_TRANSLATION if toy else NO_TRANSLATION)
        return
    for name, one in zip("AB", (first, second), strict=True):
        for note in notes(one.translation):
            st.info(f"{name}: {note}")
    compare_translations(first.translation, second.translation, LABELS)
    if first.reads == second.reads:
        st.subheader("How likely each token is that both decoders are to write")
        compare_probabilities(first.trace, second.trace, ("A", "B"))


def own_targets(both: Sides) -> bool | None:
    """Whether each decoder reads its own translation; None where there is no choice.

    On different sentences it always does, and snapshots read what they were recorded with.
    """
    first, second = both
    if any(map(others.is_other, both)):
        return None
    if first.sentence != second.sentence or first.compare_snapshot or second.compare_snapshot:
        return None
    return st.session_state.compare_own


def is_classic(both: Sides) -> bool:
    """Whether these are the two sentences of the example, in the model it speaks of."""
    return all(
        (one.sentence, one.model, one.edits, one.compare_snapshot, one.target, one.bert_name)
        == (known.sentence, known.model, "", "", "", "")
        for one, known in zip(both, classic(), strict=True)
    )


def summarized(chosen: Scene) -> tuple[str, ...]:
    """The summaries of layers and heads that a side shows, or nothing."""
    other = others.is_other(chosen)
    place = (chosen.bert_layer, chosen.bert_head) if other else ("", chosen.head)
    return tuple(name if name in scene.SUMMARIES else "" for name in place)


@address.fragment
def compare() -> None:
    """The whole page: what to compare, the maps, and what comes of them."""
    presets()
    both = tuple(fitted(side(name)) for name in SIDES)
    address.note()
    if told := st.session_state.pop("compare_told", None):
        st.info(told)
    for column, name, chosen in zip(st.columns(2, gap="medium"), SIDES, both, strict=True):
        with column:
            choose_side(name, chosen)
    own = own_targets(both)
    try:
        read = targets(*both, bool(own))
        first, second = (
            shown(name.upper(), chosen, target)
            for name, chosen, target in zip(SIDES, both, read, strict=True)
        )
    except ValueError as error:
        with st.container(key="slide-note"):
            st.text(str(error))
    else:
        if is_classic(both):
            st.caption(CLASSIC)
        if summarized(both[0]) != summarized(both[1]):
            st.caption(OTHER_SUMMARY)
        about(model="", place=in_words(both, first, second))
        picture(first, second, len({edits_of(one).gates for one in both}) > 1)
        what_was_read(first, second, own is not None)
        output(both, first, second)
    address.publish()


open_page("Compare")
compare()
