"""The position of the chosen attention block in the model, and a way to choose another."""

from functools import partial

import streamlit as st

from pages.shared.runs.readers import reader
from pages.shared.show.pictures import picked, show
from pages.shared.state.choice import Choice
from pages.shared.state.choices import KINDS, LAYER, LIT, SUMMARIES, chosen, put
from viz import architecture_map

KEY = "architecture"
WIDTH = 96  # pixels


def where_in_the_model(kind: Choice, *, linked: bool = False) -> None:
    """Draw the model's stacks with the chosen block marked; a click chooses another block.

    `kind` is the page's choice of a kind of attention. In a `linked` drawing the page's `selection`
    determines which layer is marked.
    """
    layer = None if chosen(LAYER) in SUMMARIES else chosen(LAYER)
    layers = {one: count for one, (count, _) in reader().shape.kinds.items()}
    place = {"kind": chosen(kind), "layer": layer}
    picture = architecture_map(layers, labels=KINDS, **place, linked=linked)
    with st.container(width=WIDTH):
        show(picture, KEY, partial(go_to_block, kind))


def go_to_block(kind: Choice) -> None:
    """Choose the block that was clicked; a callback."""
    there, layer = picked(KEY)
    if there != chosen(kind):
        put(LIT, "")
    put(kind, there)
    put(LAYER, layer)
