"""The page's address: a visitor's choices are written into it, and taken from it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import streamlit as st

from model.edits import Edits, read_edits, write_edits
from model.shape import Shape
from model.trace import KINDS
from pages.shared.link import link
from pages.shared.runs.readers import reader
from pages.shared.state import catalog, edit_history, lesson, models
from pages.shared.state.choice import Choice
from pages.shared.state.choices import (
    EDITS,
    HEAD,
    HEAD_NUMBER,
    LAYER,
    MODEL,
    TOO_MANY,
    chosen,
    put,
)
from pages.shared.state.page import ALONE, Page, alone, enter, shown
from pages.shared.state.slide import slide

TOO_MANY_WORDS = (
    "These changes are too many for a link: opened elsewhere, it shows the model as trained."
)
# Of a model that is not in memory: what it has is checked when it is.
ANY = Shape(dict.fromkeys(KINDS, (999, 999)), 100_000)
# For this long after it was written, the browser may still ask with the address before it.
UNDERWAY = 1.0  # seconds


def restore(page: Page) -> None:
    """Take a page's choices from its address, if a session begins there or the browser went back.

    What the address does not name is at its default then. Choices that a model does not have, or
    that make no sense, are left at their defaults, and `note` says so.
    """
    enter(page)
    asked = gone_to()
    if asked is not None:
        st.session_state[ALONE] = asked.get(ALONE, "")
        apply(asked, page)
        know(asked)
        try:
            lesson.begin(asked.get(lesson.PARAMETER, ""))
        except ValueError:
            st.session_state.refused_parameters += (lesson.PARAMETER,)
        if models.named(asked.get(MODEL.key, catalog.DEFAULT)).key != asked.get(
            MODEL.key, catalog.DEFAULT
        ):
            st.session_state.awaited = asked  # the visitor's own, if they have only reloaded
    keep_to_the_model(page)


def go_again(asked: Mapping[str, str]) -> None:
    """Take the choices of an address that named a model that was not there then; a callback."""
    apply(asked, shown())
    st.session_state.pop("refused_parameters")


def gone_to() -> dict[str, str] | None:
    """Return the address if the session begins with it or the browser went to it by itself."""
    asked = dict(st.query_params)
    written, when = st.session_state.get("address", (None, 0.0))
    changed = asked and asked != written and time.monotonic() - when > UNDERWAY
    return asked if written is None or changed else None


def apply(parameters: Mapping[str, str], page: Page) -> None:
    """Choose everything that an address of a page says, and the default of what it does not."""
    shape = shape_for(parameters)
    values, refused = link.read(parameters, page.linked, shape)
    edits = values.pop(EDITS.key)
    st.session_state.update(values)
    if edits != TOO_MANY:
        edit_history.change(read_edits(edits, shape))
    elif edit_history.edits() == Edits():  # else they are those of this session
        refused = (*refused, EDITS.key)
    st.session_state.refused_parameters = refused
    st.session_state.applied = applied() + 1


def applied() -> int:
    """Return how often choices were taken from an address or a slide in this session."""
    return st.session_state.get("applied", 0)


def refuse(choice: Choice) -> None:
    """Put the default of a choice in force, whose value turned out to make no sense, and say so."""
    put(choice, choice.default)
    st.session_state.refused_parameters = (choice.key,)
    note()


def shape_for(parameters: Mapping[str, str]) -> Shape:
    """Return the shape of the model that an address names, or of the default one."""
    try:
        return reader(parameters.get(MODEL.key, catalog.DEFAULT)).shape
    except ValueError:  # it is not in memory
        return ANY


def keep_to_the_model(page: Page) -> None:
    """Choose a kind, a layer and a head that the model has, if the previous one had more."""
    try:
        shape = reader().shape
    except ValueError:  # it is not in memory
        return
    if chosen(page.kind) not in shape.kinds:
        put(page.kind, next(iter(shape.kinds)))
    layers, heads = shape.kinds[chosen(page.kind)]
    if isinstance(chosen(LAYER), int):
        put(LAYER, min(chosen(LAYER), layers - 1))
    put(HEAD_NUMBER, min(chosen(HEAD_NUMBER), heads - 1))
    if isinstance(chosen(HEAD), int) and chosen(HEAD) >= heads:
        put(HEAD, HEAD.default)


def note_too_many() -> None:
    """Say so if the edits are too many for the address."""
    if not link.fits(EDITS, write_edits(edit_history.edits())):
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


def now(choice: Choice) -> Any:
    """Return the value of a choice; that of edits is their text."""
    return write_edits(edit_history.edits()) if choice is EDITS else chosen(choice)


def parameters(page: Page, whole: bool = False) -> dict[str, str]:
    """Return what of a page's choices differs from the defaults, as a link holds it."""
    return link.write(page.linked, {choice.key: now(choice) for choice in page.linked}, whole)


def publish() -> None:
    """Write the page's choices into its address; a slide's address names the slide alone."""
    if slide() is None:
        # An empty address is that of a click on another page, which keeps the choices.
        kept = {ALONE: alone(shown()), lesson.PARAMETER: lesson.write(lesson.lesson())}
        named = {name: text for name, text in kept.items() if text}
        write((parameters(shown()) or {MODEL.key: chosen(MODEL)}) | named)


def write(parameters: dict[str, str]) -> None:
    """Put parameters into the address."""
    if dict(st.query_params) != parameters:
        know(
            parameters, time.monotonic()
        )  # first, as the next click may end the run while this is sent
        st.query_params.from_dict(parameters)


def know(parameters: dict[str, str], written: float = 0.0) -> None:
    """Note which parameters the address has, and when this session wrote them, if it did."""
    st.session_state.address = parameters, written


def section(body: Callable[..., None], every: float | None = None) -> Callable[..., None]:
    """Have a part of a page rerun alone, with what was chosen in it written into the address.

    It reruns by itself `every` few seconds, if they are given. On a slide it reruns with the whole
    page, as its pictures stand elsewhere.
    """

    @wraps(body)
    def published(*args: object) -> None:
        body(*args)
        publish()

    apart = st.fragment(published, run_every=every)

    @wraps(body)
    def drawn(*args: object) -> None:
        (apart if slide() is None else published)(*args)

    return drawn
