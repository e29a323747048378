"""A model in the list: what it is, what it can do, and how exact its numbers are."""

import streamlit as st

from model.library.hub import first_line
from model.library.measuring import Parity
from model.reader import ABILITIES as ALL_ABILITIES
from model.reader import Reader
from pages.parts.models.words import ABILITIES, DIFFERENCES, NO_PARITY, PARITY
from pages.shared.controls import loading
from pages.shared.runs.readers import (
    card_of,
    parity_at_loading,
    reader,
    size_of,
)
from pages.shared.runs.run import ModelRun, measured_parity
from pages.shared.runs.shelf import any_is_allowed
from pages.shared.state import models
from pages.shared.state.catalog import CatalogEntry
from pages.shared.state.choices import KINDS, SECOND, SENTENCE, chosen
from pages.shared.state.page import PAGES
from viz.numbers import power_text

SAME = 1e-4  # rounding errors of 32-bit numbers over many layers stay below it


def entry_box(entry: CatalogEntry, is_chosen: bool) -> None:
    """Draw a model of the list, in memory or not."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(entry.title)
        if is_chosen:
            st.badge("Chosen")
        st.space("stretch")
        buttons(entry)
    if entry.is_library and entry.name != entry.title:
        st.text(entry.name)
    try:
        model = reader(entry.key)
    except ValueError as error:  # the model may not be in memory
        st.text(str(error))
        if any_is_allowed():
            name = [entry.name]
            st.button("Load it", on_click=loading.ask_for, args=name, key=f"load {entry.key}")
        return
    st.caption(sizes(entry, model))
    abilities(model)
    if entry.is_library:
        licence(entry)
        parity(entry, model)


def buttons(entry: CatalogEntry) -> None:
    """Draw the buttons of a model."""
    if st.button("Look at it", key=f"look at {entry.key}"):
        models.look_at(entry)
        st.switch_page(next(iter(PAGES.values())).file)
    if entry.is_own or entry.is_library:
        st.button("Remove", on_click=loading.remove, args=[entry], key=f"remove {entry.key}")


def sizes(entry: CatalogEntry, model: Reader) -> str:
    """Return the kinds of attention of a model with their layers and heads, and its size."""
    kinds = [
        f"{KINDS[kind]} {layers} × {heads}" for kind, (layers, heads) in model.shape.kinds.items()
    ]
    size = size_of(entry.key)
    return (
        f"Layers × heads: {', '.join(kinds)}. "
        f"{size.parameters:,} parameters, {size.bytes / 1e6:,.1f} MB."
    )


def abilities(model: Reader) -> None:
    """Draw what a model can do, and what it cannot with the reasons."""
    able = [ABILITIES[one] for one in ALL_ABILITIES if one not in model.missing]
    if able:
        st.markdown(f"It can {', '.join(able)}.")
    if model.missing:
        with st.expander(f"What it cannot do: {len(model.missing)}"):
            for ability, reason in model.missing.items():
                st.text(f"{ABILITIES[ability].capitalize()}: {reason}")


def licence(entry: CatalogEntry) -> None:
    """Draw the licence that a model's card names, and the link to the card."""
    card = card_of(entry.key)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"Licence: {card.licence}" if card.licence else "Licence: none is named.")
        if card.page:
            st.link_button("Its card", card.page)


def parity(entry: CatalogEntry, model: Reader) -> None:
    """Draw how far a model's numbers are from transformers' own, or a button that measures it.

    It is measured on the visitor's text as trained, without hidden words.
    """
    if found := parity_at_loading(entry.key):
        show_differences(found, "the outputs")
        return
    run = ModelRun(chosen(SENTENCE), second=chosen(SECOND), model=entry.key)
    label = "Same numbers as transformers?"
    if st.button(label, help=PARITY, key=f"measure {entry.key}"):
        try:
            measured_parity(run)
        except Exception as error:  # the folder may be gone, or memory used up
            st.text(f"{NO_PARITY} {first_line(error)}")
            return
    if found := measured_parity.kept(run):
        show_differences(found, "the last hidden states")


def show_differences(found: Parity, of: str) -> None:
    """Draw how large the differences are, and whether they are rounding errors."""
    same = max(found) < SAME
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge("Same numbers" if same else "Other numbers", color="green" if same else "red")
        outputs, weights = power_text(found.outputs), power_text(found.weights)
        st.caption(DIFFERENCES.format(outputs=outputs, of=of, weights=weights))
