"""The page Models: what each model can do and how exact it is, and a box that loads others."""

import streamlit as st
import torch

from headlight.model.library.hub import first_line
from headlight.model.library.measuring import BOUNDS, Parity
from headlight.model.own_reader import OwnReader
from headlight.model.reader import Reader
from headlight.model.shape import ABILITIES as ALL_ABILITIES
from headlight.model.shape import Ability
from headlight.pages.shared.controls import loading
from headlight.pages.shared.runs.readers import card_of, parity_at_loading, reader, size_of
from headlight.pages.shared.runs.run import ModelRun, measured_parity
from headlight.pages.shared.runs.shelf import WILD, any_is_allowed, hub_patterns, is_allowed, rule
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.state import models
from headlight.pages.shared.state.choices import KINDS, SECOND, SENTENCE, chosen
from headlight.pages.shared.state.models import LONGEST_NAME, CatalogEntry
from headlight.pages.shared.state.page import PAGES, Page
from headlight.pages.shared.widgets.choose import pick_one
from headlight.viz.numbers import power_text

ABILITIES: dict[Ability, str] = {
    "write": "write",
    "read a pair": "read a pair of sentences",
    "mask words": "fill in hidden words",
    "pad": "read padding",
    "open cells": "open cells that its mask closes",
    "take apart": "show how a weight comes about",
    "add up heads": "show what each head adds to the residual stream",
    "add up logits": "show what each part adds to the logits",
    "show the stream": "show its residual stream",
    "own layers": "run parts of its layers separately",
    "move positions": "read with other positions",
    "compare words": "compare words by their embeddings",
}
PARITY = (
    "The same text is read by transformers' own classes, and the largest differences between "
    "their numbers and those here are shown. This loads the checkpoint once more."
)
DIFFERENCES = (
    "Largest differences from {reference}: {outputs} in {of}, {weights} in the weights of all "
    "heads. Up to {bound:g} they are rounding errors, for a model in {dtype}."
)
LIBRARY_ITSELF = "transformers' own classes"


def entry_box(entry: CatalogEntry, is_chosen: bool) -> None:
    """Draw one model of the list; if it is in memory, also draw what it can do."""
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
        if not isinstance(model, OwnReader):  # transformers has code to compare with
            parity(entry)


def buttons(entry: CatalogEntry) -> None:
    """Draw the buttons that choose or remove a model."""
    if st.button("Look at it", key=f"look at {entry.key}"):
        models.look_at(entry)
        st.switch_page(next(iter(PAGES.values())).file)
    if entry.is_own or entry.is_library:
        st.button("Remove", on_click=loading.remove, args=[entry], key=f"remove {entry.key}")


def sizes(entry: CatalogEntry, model: Reader) -> str:
    """Return sentences on the layers and heads of each kind of attention, and on a model's size."""
    kinds = [
        f"{KINDS[kind]} {layers} × {heads}" for kind, (layers, heads) in model.shape.kinds.items()
    ]
    size = size_of(entry.key)
    return (
        f"Layers × heads: {', '.join(kinds)}. "
        f"{size.parameters:,} parameters, {size.bytes / 1e6:,.1f} MB in memory, "
        f"in {dtype_of(model)}."
    )


def abilities(model: Reader) -> None:
    """Draw what a model can do, and what it cannot do, with the reasons."""
    able = [ABILITIES[ability] for ability in ALL_ABILITIES if ability not in model.missing]
    if able:
        st.markdown(f"It can {', '.join(able)}.")
    if model.missing:
        with st.expander(f"What it cannot do: {len(model.missing)}"):
            for ability, reason in model.missing.items():
                st.text(f"{ABILITIES[ability].capitalize()}: {reason}")


def licence(entry: CatalogEntry) -> None:
    """Draw the licence that a model's card names, and a link to the card."""
    card = card_of(entry.key)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"Licence: {card.licence}" if card.licence else "Licence: none is named.")
        if card.page:
            st.link_button("Model card", card.page)


def parity(entry: CatalogEntry) -> None:
    """Draw how far a model is from the transformers library's, or a button that measures this.

    The button measures on the visitor's text, with no change to the model and no word hidden.
    """
    if differences := parity_at_loading(entry.key):
        show_differences(differences, "the outputs", reader(entry.key))
        return
    run = ModelRun(chosen(SENTENCE), second=chosen(SECOND), model=entry.key)
    if differences := measured_parity.kept(run):
        show_differences(differences, "the last hidden states", reader(entry.key))
        return
    label = "Same numbers as transformers?"
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(label, help=PARITY, key=f"measure {entry.key}"):
            try:
                measured_parity(run)
            except Exception as error:  # the folder may be gone, or memory used up
                st.text(f"{'It could not be compared:'} {first_line(error)}")
                return
            st.rerun()  # draws the result in place of the button


def dtype_of(model: Reader) -> str:
    return str(next(model.model.parameters()).dtype).removeprefix("torch.")


def show_differences(differences: Parity, of: str, model: Reader) -> None:
    """Draw how far a recorded run differs from the library's own, and if that is only rounding."""
    dtype = dtype_of(model)
    bound = BOUNDS[getattr(torch, dtype)].same
    same = max(differences) < bound
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge("Same numbers" if same else "Different numbers", color="green" if same else "red")
        outputs, weights = power_text(differences.outputs), power_text(differences.weights)
        numbers = {"outputs": outputs, "weights": weights, "bound": bound, "dtype": dtype}
        reference = getattr(getattr(model, "attached", None), "reference", LIBRARY_ITSELF)
        st.caption(DIFFERENCES.format(of=of, reference=reference, **numbers))


SUGGESTIONS = (
    "openai-community/gpt2",
    "distilbert/distilgpt2",
    "Qwen/Qwen3-0.6B",
    "google-bert/bert-base-uncased",
    "Helsinki-NLP/opus-mt-en-fr",
    "google-t5/t5-small",
    "distilbert/distilbert-base-uncased-finetuned-sst-2-english",
)
INTRO = (
    "Most models of the transformers library can be loaded here, if their weights are saved as "
    "safetensors; only you see the models that you load. They do not come with the app: pick a "
    "name under Suggestions and press Load, which downloads the model once, or name a folder that "
    "has it already. A model trained here can be downloaded, too; unzipped, it is such a folder."
)
WANTED = "wanted"  # the key of the box for a model's name


def load_box() -> None:
    """Draw a box for a model's name, suggested names, and the progress of loading."""
    asked_for, names = models.chosen(), suggestions()
    st.session_state.setdefault(WANTED, asked_for.name if asked_for.is_library else "")
    with st.form("load", border=False):
        row = st.container(horizontal=True, vertical_alignment="bottom")
        row.text_input(
            "Name on the Hugging Face Hub, or a folder on this computer", key=WANTED,
            persist_state="session", max_chars=LONGEST_NAME, placeholder=next(iter(names), ""),
        )  # fmt: skip
        is_asked = row.form_submit_button("Load")
    if names:
        pick_one("Suggestions", names, "suggestion", suggest)
    if is_asked and (name := st.session_state[WANTED].strip()):
        loading.ask_for(name)
    loading.progress()


def suggestions() -> list[str]:
    """Return model names to suggest: those in the operator's list, or else well-known ones."""
    named = [name for name in hub_patterns() if not WILD.search(name)]
    return named or [name for name in SUGGESTIONS if is_allowed(name)]


def suggest(name: str) -> None:
    st.session_state[WANTED] = name


def models_page() -> None:
    if only := rule():
        st.info(only)
    else:
        caption(INTRO)
    if any_is_allowed():
        load_box()
    st.subheader("Your models")
    chosen = models.chosen()
    entries = {chosen.key: chosen} | models.choices()  # the chosen model comes first
    for entry in entries.values():
        with st.container(border=True):
            entry_box(entry, is_chosen=entry.key == chosen.key)


PAGE = Page(
    key="models",
    title="Models",
    group="More",
    purpose="Choose a model, or load another by its name",
    body=models_page,
)
