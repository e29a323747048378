"""The page's address: a visitor's choices are written into it, and taken from it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from functools import wraps

import streamlit as st
from streamlit.errors import StreamlitAPIException

from model.config import TransformerConfig
from model.edit_text import read_edits, write_edits
from model.edits import Edits
from pages.shared.runs.translator import translator
from pages.shared.state import catalog, edit_history, models, scene
from pages.shared.state.scene import Scene

Section = Callable[..., None]

TOO_MANY_WORDS = (
    "These changes are too many for a link: opened elsewhere, it shows the model as trained."
)
EDITS = {"edits": None, "bert_edits": edit_history.BERT}  # each with the name of its history

# For so long after it was written, the browser may still ask with the address before.
UNDERWAY = 1.0  # seconds


def restore(page: str) -> None:
    """Take a page's choices from its address, where a session begins with it or goes back to it.

    What the address does not name is at its default then. Choices that a model does not have, or
    that make no sense, are left at their defaults, and `note` says so.
    """
    if st.session_state.get("page") != page:
        for flag in ("file_asked_for", "to_inside", "to_tab"):  # of a picture of the page before
            st.session_state.pop(flag, None)
    st.session_state.page = page
    asked = gone_to()
    if asked is not None:
        apply(asked, page, everywhere="sentence" not in st.session_state)
        arrived(asked)
        if asked.get("model", catalog.DEFAULT) not in models.choices():
            st.session_state.awaited = asked  # the visitor's own, if they have only reloaded
    keep_to_the_model()
    keep()


def go_again(asked: Mapping[str, str]) -> None:
    """Take the choices of an address that named a model that was not there then; a callback."""
    apply(asked, st.session_state.page, everywhere=True)
    st.session_state.pop("refused_parameters")


def gone_to() -> dict[str, str] | None:
    """The address, where the session begins with it or the browser went to it by itself."""
    asked = dict(st.query_params)
    written, when = st.session_state.get("address", (None, 0.0))
    changed = asked and asked != written and time.monotonic() - when > UNDERWAY
    return asked if written is None or changed else None


def apply(parameters: Mapping[str, str], page: str, everywhere: bool = False) -> None:
    """Choose what an address says: all that matters on a page, or everywhere."""
    config = config_for(parameters)
    read, refused = scene.read_scene(parameters, config)
    st.session_state.refused_parameters = refused
    values = asdict(read)
    edits = values.pop("edits")
    st.session_state.update(
        {key: value for key, value in values.items() if everywhere or scene.matters(key, page)}
    )
    if edits != scene.TOO_MANY:
        edit_history.change(read_edits(edits, config))
    elif edit_history.edits() == Edits():  # else they are those of this session
        st.session_state.refused_parameters = (*refused, "edits")


def config_for(parameters: Mapping[str, str]) -> TransformerConfig:
    """The shape of the model that an address names, or of the one where it names none."""
    name = parameters.get("model", catalog.DEFAULT)
    return translator(name if name in models.choices() else catalog.DEFAULT).model.config


def refused(parameters: Mapping[str, str]) -> tuple[str, ...]:
    """The names of what in an address makes no sense or is too long."""
    return scene.read_scene(parameters, config_for(parameters))[1]


def keep_to_the_model() -> None:
    """Choose a layer and head that the model has, where the one before it had more."""
    config = translator().model.config
    layers = config.layers(st.session_state.kind)
    st.session_state.layer = min(st.session_state.layer, layers)
    st.session_state.head_number = min(st.session_state.head_number, config.heads)
    if st.session_state.head not in scene.head_names(config.heads):
        st.session_state.head = scene.SUMMARIES[0]


def note_too_many(name: str = "edits") -> None:
    """Say where the edits are too many for the address."""
    if not scene.fits(name, write_edits(edit_history.edits(EDITS[name]))):
        st.caption(TOO_MANY_WORDS)


def note() -> None:
    """Say once what of an address made no sense or was too long."""
    if refused := st.session_state.pop("refused_parameters", ()):
        names = ", ".join(name[:40] for name in refused[:8])
        st.info(
            "Parts of this link are too old, damaged or too long. Their defaults, or as much as "
            "fits, are shown instead:"
        )
        st.text(names)


def current() -> Scene:
    """The scene as the widgets now have it."""
    values = {name: st.session_state[name] for name in scene.CHECKS if name not in EDITS}
    values |= {name: write_edits(edit_history.edits(of)) for name, of in EDITS.items()}
    if "bert_edits" in st.session_state:  # they wait for the model
        values["bert_edits"] = st.session_state.bert_edits
    return Scene(**values)


def publish() -> None:
    """Write the page's choices into its address; a slide's address names the slide alone."""
    if in_talk():
        return
    parameters = current().parameters(st.session_state.page)
    # An empty address is that of a click on another page, which keeps the choices.
    parameters = parameters or {"model": st.session_state.model}
    write(parameters)


def write(parameters: dict[str, str]) -> None:
    """Put parameters into the address."""
    if dict(st.query_params) != parameters:
        st.query_params.from_dict(parameters)
        written(parameters)


def written(parameters: dict[str, str]) -> None:
    """Note that the address has these parameters from now on, by this session's own doing."""
    st.session_state.address = parameters, time.monotonic()


def arrived(parameters: dict[str, str]) -> None:
    """Note that the address has these parameters, by the browser's doing."""
    st.session_state.address = parameters, 0.0


def in_talk() -> bool:
    """Whether the page is shown as a slide."""
    return st.session_state.get("slide") is not None


def keep() -> None:
    """Hold on to the choices: Streamlit forgets values of widgets that a page does not draw."""
    for name in scene.CHECKS:
        # What this run has drawn already is not to be set, and is not forgotten.
        with suppress(StreamlitAPIException):
            if name in st.session_state:
                st.session_state[name] = st.session_state[name]


def fragment(section: Section, run_every: float | None = None) -> Section:
    """A part of a page that reruns alone, every so many seconds if wanted; use it as a decorator.

    Unlike Streamlit's own it holds on to the choices: after a run of a fragment Streamlit forgets,
    at the next change of page, what only the run of the whole page has held on to.
    """

    @wraps(section)
    def kept(*args: object) -> None:
        keep()
        section(*args)

    return st.fragment(kept, run_every=run_every)
