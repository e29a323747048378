"""The controls of heads: a switch for every head, a slider that fades one, and undo."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import streamlit as st

from headlight.model.edits import HeadAddress
from headlight.model.shape import Shape
from headlight.model.transformer.trace import Kind
from headlight.pages.parts.heads.switchboard import switchboard
from headlight.pages.shared import address
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.pictures import all_picked, show
from headlight.pages.shared.show.saving import About
from headlight.pages.shared.show.words import HOW_TO_READ
from headlight.pages.shared.state import edit_history
from headlight.pages.shared.state.choices import EDITS, KINDS, select_head
from headlight.pages.streamlit_fixes.late_values import editor

Shapes = Mapping[Kind, tuple[int, int]]  # the numbers of layers and heads of each kind


def head_switches(shape: Shape, selected: HeadAddress, *, of: About) -> None:
    """Draw the switches of all heads and the slider that fades the selected head."""
    edits, shapes = edit_history.edits(), shape.kinds
    gates: dict[Kind, np.ndarray] = {kind: np.ones(size) for kind, size in shapes.items()}
    for kind in shapes:
        for each in heads_of(shapes, kind):
            gates[kind][each[1:]] = edits.gates.get(each, 1)
    board = switchboard(gates, labels=KINDS, groups=shape.groups, selected=selected)
    clicked = partial(switch, shapes)
    show(board, "switchboard", clicked, of=of, what="The switches of all heads", changes=True)
    if max(shape.groups.values(), default=1) > 1:
        caption(HOW_TO_READ["groups"])
    kind, layer, head = selected
    with st.container(key=EDITS.key, horizontal=True, vertical_alignment="bottom"):
        label = f"Fade {KINDS[kind].lower()}, layer {layer + 1}, head {head + 1}"
        gate = float(edits.gates.get(selected, 1))
        bounds = {"min_value": 0.0, "max_value": 1.0, "step": 0.05}
        fade = partial(edit_history.set_gates, [selected])
        editor(st.slider, label, gate, fade, "fader", **bounds, width=320)
        if edit_history.can_undo():
            st.button("Undo", on_click=edit_history.undo)
    address.note_too_many()


def switch(shapes: Shapes) -> None:
    """Switch the clicked heads on if all of them are off, otherwise switch them off; a callback."""
    for kind, layer, head in all_picked("switchboard"):
        heads = heads_of(shapes, kind, layer, head)
        edit_history.set_gates(heads, 1.0 if edit_history.edits().are_off(heads) else 0.0)
        if None not in (layer, head):
            select_head(kind, layer, head)


def heads_of(
    shapes: Shapes, kind: Kind, layer: int | None = None, head: int | None = None
) -> list[HeadAddress]:
    """Return the addresses (kind, layer, head) of heads; a layer or head of None means all."""
    layers, heads = shapes[kind]
    return [
        (kind, row, column)
        for row in (range(layers) if layer is None else [layer])
        for column in (range(heads) if head is None else [head])
    ]
