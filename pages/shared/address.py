"""Write and read the address of a page, whose parameters are the visitor's choices."""

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any
from urllib.parse import urlencode, urlsplit

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from headlight.model.edits import Edits, read_edits, write_edits
from headlight.model.shape import Shape
from headlight.model.transformer.trace import KINDS
from headlight.pages.shared.runs.limits import LOOPBACK
from headlight.pages.shared.runs.readers import reader
from headlight.pages.shared.state import edit_history, models
from headlight.pages.shared.state.choice import Choice
from headlight.pages.shared.state.choices import (
    EDITS,
    HEAD,
    LAYER,
    MODEL,
    TOO_MANY,
    applied,
    chosen,
    put,
)
from headlight.pages.shared.state.page import ALONE, PAGES, Page, alone, enter, shown
from headlight.pages.shared.state.showing import showing
from headlight.pages.shared.state.wings import WINGS
from headlight.pages.streamlit_fixes.late_address import gone_to, know, write

VERSION = "2"  # increased when the meaning of links changes
VERSION_KEY = "v"
ELSEWHERE = (ALONE,)  # parameters of an address that are not choices
Values = Mapping[str, Any]  # the value of each choice, by the choice's key
ON_THIS_MACHINE = (
    "This address opens on this machine only. To let a class in, start the app with "
    "`headlight --share`, and open this page by the address that the terminal shows."
)
TOO_MANY_WORDS = (
    "There are too many changes for a link: opened elsewhere, the link shows the model as trained."
)
# The shape assumed for a model that is not in memory: any layer and head may be chosen for now.
ANY = Shape(dict.fromkeys(KINDS, (999, 999)), 100_000)


def restore(page: Page) -> None:
    """Take a page's choices from its address, if a session begins or the browser went back.

    A choice that the address does not name gets its default. So does a choice whose value is
    invalid or is a layer or head that the model lacks; `note` reports these.
    """
    enter(page)
    parameters = gone_to()
    if parameters is not None:
        st.session_state[ALONE] = parameters.get(ALONE, "")
        apply(parameters, page)
        know(parameters)
        for wing in WINGS:
            try:
                wing.restore(parameters.get(wing.parameter, ""))
            except ValueError:
                st.session_state.refused_parameters += (wing.parameter,)
        model = parameters.get(MODEL.key, models.DEFAULT)
        if models.named(model).key != model:  # `go_again` applies them if the model comes back
            st.session_state.awaited = parameters
    keep_to_the_model(page)


def go_again(asked: Mapping[str, str] | None) -> None:
    """Apply the address `asked`, whose model was missing and is in memory again; a callback.

    If `asked` is None, report again the parameters that were last refused.
    """
    if asked:
        apply(asked, shown())
    else:
        st.session_state.refused_parameters = st.session_state.get("noted", ())


def apply(parameters: Mapping[str, str], page: Page) -> None:
    """Set a page's choices to the values in an address, or to their defaults if it has none."""
    shape = shape_for(parameters)
    values, refused = read_parameters(parameters, page.linked, shape)
    edits = values.pop(EDITS.key)
    st.session_state.update(values)
    if edits != TOO_MANY:
        edit_history.change(read_edits(edits, shape))
    elif edit_history.edits() == Edits():  # else the session's edits stay
        refused = (*refused, EDITS.key)
    st.session_state.refused_parameters = refused
    st.session_state.applied = applied() + 1


def refuse(choice: Choice) -> None:
    """Set a choice whose value is invalid to its default, and tell the visitor."""
    put(choice, choice.default)
    st.session_state.refused_parameters = (choice.key,)
    note()


def shape_for(parameters: Mapping[str, str]) -> Shape:
    """Return the numbers of layers, heads and positions of the model that an address names.

    Without a name it is the default model. For a model that is not in memory return `ANY`.
    """
    try:
        return reader(parameters.get(MODEL.key, models.DEFAULT)).shape
    except ValueError:  # the model is not in memory
        return ANY


def keep_to_the_model(page: Page) -> None:
    """If the model lacks the chosen kind of attention, layer or head, choose one that it has."""
    try:
        shape = reader().shape
    except ValueError:  # the model is not in memory
        return
    if chosen(page.kind) not in shape.kinds:
        put(page.kind, next(iter(shape.kinds)))
    layers, heads = shape.kinds[chosen(page.kind)]
    if isinstance(chosen(LAYER), int):
        put(LAYER, min(chosen(LAYER), layers - 1))
    if isinstance(chosen(HEAD), int) and chosen(HEAD) >= heads:
        put(HEAD, HEAD.default)


def note_too_many() -> None:
    if not fits(EDITS, write_edits(edit_history.edits())):
        st.caption(TOO_MANY_WORDS)


def note() -> None:
    """Show once which parts of an address were invalid or too long."""
    if refused := st.session_state.pop("refused_parameters", ()):
        st.session_state.noted = refused  # for `go_again`, which may report them again
        names = ", ".join(name[:40] for name in refused[:8])
        st.info(
            "Parts of this link are too old, damaged or too long. The page uses their defaults "
            "instead, or the beginning of a long text:"
        )
        st.text(names)


def now(choice: Choice) -> Any:
    """Return the current value of a choice; for the changes to the model, their text in links."""
    return write_edits(edit_history.edits()) if choice is EDITS else chosen(choice)


def parameters(page: Page, scene: bool = False) -> dict[str, str]:
    """Return the page's choices that differ from their defaults, as parameters of a link.

    If `scene` is true, only choices that affect the page's pictures are returned, and no value is
    cut for being long.
    """
    choices = page.scene if scene else page.linked
    return write_parameters(choices, {choice.key: now(choice) for choice in choices}, whole=scene)


def write_parameters(
    choices: Iterable[Choice], values: Values, whole: bool = False
) -> dict[str, str]:
    """Return the parameters of a link: every choice that differs from its default.

    Unless `whole` is true, a value that is too long for a link is left out or replaced.
    """
    parameters = {}
    for choice in choices:
        value = values[choice.key]
        if value == choice.default or (choice.key, value) == ("sentence", ""):
            continue
        text = choice.write(value)
        if not whole and not fits(choice, text):
            text = choice.instead
        if text or not choice.room:
            parameters[choice.key] = text
    return {VERSION_KEY: VERSION, **parameters} if parameters else {}


def read_parameters(
    parameters: Mapping[str, str], choices: Iterable[Choice], shape: Shape
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the value of every choice, and the names of parameters that were ignored or cut.

    A choice gets its default if it is not named, or if its text is invalid for a model of this
    shape.
    """
    elsewhere = {*ELSEWHERE, *(wing.parameter for wing in WINGS)}
    by_key = {choice.key: choice for choice in choices}
    values = {key: choice.default for key, choice in by_key.items()}
    refused = []
    for name, text in parameters.items():
        if (name, text) == (VERSION_KEY, VERSION) or name in elsewhere:
            continue
        try:
            values[name] = by_key[name].read(text, shape)
        except (KeyError, ValueError):
            refused.append(name)
        else:
            if isinstance(values[name], str) and len(values[name]) < len(text):
                refused.append(name)
    return values, tuple(refused)


def fits(choice: Choice, text: str) -> bool:
    return choice.room is None or len(text) <= choice.room


def publish() -> None:
    """Write the page's choices into its address, but on a slide leave the address alone."""
    if showing().scene() is None:
        # When the visitor goes to another page, Streamlit empties the address, but the choices stay
        # in the session. So all of them are written again.
        kept = {ALONE: alone(shown())} | {wing.parameter: wing.kept() for wing in WINGS}
        named = {name: text for name, text in kept.items() if text}
        write((parameters(shown()) or {MODEL.key: chosen(MODEL)}) | named)


def section(body: Callable[..., None], every: float | None = None) -> Callable[..., None]:
    """Return a part of a page that reruns alone after a choice in it, and updates the address.

    If `every` is given, the part also reruns every so many seconds. On a slide the whole page
    reruns instead, because a slide draws the part's pictures in another place.
    """

    @wraps(body)
    def published(*args: object) -> None:
        body(*args)
        run = get_script_run_ctx()
        if run and run.fragment_ids_this_run:  # after a whole run, `open_page` does this
            publish()
            for wing in WINGS:
                wing.redrawn(shown())

    apart = st.fragment(published, run_every=every)

    @wraps(body)
    def drawn(*args: object) -> None:
        (apart if showing().scene() is None else published)(*args)

    return drawn


def link_of(page: str, parameters: Mapping[str, str]) -> str:
    """Return the address of a page with these parameters; empty if there is no such page."""
    here = urlsplit(str(st.context.url or ""))
    if page not in PAGES or here.scheme not in ("http", "https"):
        return ""
    name = "" if PAGES[page].file == "app.py" else page
    path = f"{here.path.rpartition('/')[0]}/{name}"
    return here._replace(path=path, query=urlencode(parameters), fragment="").geturl()


def is_of_this_machine(link: str) -> bool:
    """Return whether an address can be opened only on the machine that runs the app."""
    return urlsplit(link).hostname in LOOPBACK
