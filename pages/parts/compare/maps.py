"""Both maps of the page Compare, their difference, and the cells that differ most."""

from collections.abc import Sequence
from itertools import compress

import streamlit as st

from headlight.pages.parts.compare.sides import Pair
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.saving import About
from headlight.pages.shared.state.showing import say
from headlight.viz import Change, clearest_change, compared_maps, largest_changes
from headlight.viz.maps.compared_maps import name_of
from headlight.viz.numbers import number_text
from headlight.viz.tokens import aligned

PICTURE = (
    "Both maps share one scale from 0 to 1. Tokens correspond where their texts are equal and in "
    "the same order. Cells whose query or key is in only one map are hatched, and never "
    "subtracted. Every number is rounded separately."
)
EQUAL_GATES = (
    "A head that is switched off keeps its weights. Its output is missing in later layers, so "
    "their maps may differ. After the last attention layer, only the model's output can differ."
)


def picture(both: Pair, of: About) -> None:
    """Draw both maps, their difference, and the cells that differ most."""
    first, second = both
    data = first.weights, second.weights, first.shown.tokens, second.shown.tokens
    changes = largest_changes(*data)
    names = [names_in_both(*axis) for axis in zip(*data[2:], strict=True)]
    if change := clearest_change(changes):
        say(f"{in_one_line(change, names)}.", "difference")
    maps = compared_maps(*data, titles=titles_of(both))
    show(maps, "maps", of=of, what="Both maps and their difference")
    caption(PICTURE)
    st.subheader("Largest differences")
    if not all(map(any, names)):
        st.text("The two maps have no cell in common, so there is nothing to compare.")
    elif changes:
        st.text("\n".join(in_one_line(change, names) for change in changes))
    else:
        st.text("Where the two maps can be compared, they are equal to three decimals.")
        if both[0].changes.gates != both[1].changes.gates:
            caption(EQUAL_GATES)


def titles_of(both: Pair) -> tuple[str, str]:
    """Return the titles of both maps: the head, after the model and the text if these differ."""
    parts = [(side.shown.of, f"“{side.text}”") for side in both]
    differs = [first != second for first, second in zip(*parts, strict=True)]
    first, second = (
        f"{name}: {' · '.join([*compress(words, differs), side.place])}"
        for name, words, side in zip("AB", parts, both, strict=True)
    )
    return first, second


def in_one_line(change: Change, names: Sequence[Sequence[str]]) -> str:
    """Return a sentence with the weights of a cell in both maps and their difference.

    `names` are those of the queries and of the keys, from `names_in_both`.
    """
    query, key = (axis[place] for axis, place in zip(names, change.place, strict=True))
    difference = number_text(change.difference, signed=True)
    first, second = (number_text(weight) for weight in (change.first, change.second))
    return f"{query} looks at {key}: A {first}, B {second}, difference {difference}"


def names_in_both(first: list[str], second: list[str]) -> list[str]:
    """Return the names of the tokens on the joint axis of both maps, in quotation marks.

    A token that is in only one map has an empty name. If a text repeats a token, the name also has
    the token's position.
    """
    names = []
    for left, right in aligned(first, second):
        if left is None or right is None:
            names.append("")
            continue
        name = f"“{name_of((left, right), first, second)}”"
        if not first.count(first[left]) == second.count(second[right]) == 1:
            name += f" (token {left + 1}{'' if left == right else f' of A, {right + 1} of B'})"
        names.append(name)
    return names
