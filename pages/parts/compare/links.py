"""The two sides of the page Compare as held by a session and by a link."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode, urlsplit

import streamlit as st

from model.trace import Shape
from pages.parts.compare.sides import OWN_TRAINING, SNAPSHOT, ModelSide, Side, SnapshotSide
from pages.shared.link import address, link
from pages.shared.state.choice import Choice, switch, text
from pages.shared.state.choices import chosen, put
from pages.shared.state.page import PAGES

OWN_TARGETS = (
    "Off, both decoders read the same text if both sides have the same sentence: what A writes as "
    "trained, or the text given. On, each reads what its own model writes, with its changes."
)
NO_LINK = "This is not a Headlight link: copy the whole address of a Headlight page."
NAMES = ("a", "b")
PAIR = "The animal didn't cross the street because it was too {}."
TIRED = ModelSide(text=PAIR.format("tired"), kind="encoder", layer=1, head=1)
WIDE = replace(TIRED, text=PAIR.format("wide"))
LONGEST_LINK = 16_000  # characters; a letter of another script takes up to nine
LONGEST_EDITS = 300
STREAMLITS = {"embed", "embed_options"}  # parameters of Streamlit's own
HELD = {
    choice.key: choice
    for kind in (ModelSide, SnapshotSide)
    for choice in kind.held_choices().values()
}


def read_side(parameters: Mapping[str, str]) -> Side:
    """Return the side that a link's parameters describe, among parameters of any page."""
    trained_here = parameters.get(SNAPSHOT.key, "").startswith(
        OWN_TRAINING
    )  # in a shape of any size
    shape = address.ANY if trained_here else address.shape_for(parameters)
    known = {choice.key for page in PAGES.values() for choice in page.linked}
    ignored = known - HELD.keys() | STREAMLITS | {*link.ELSEWHERE}
    named = {key: value for key, value in parameters.items() if key not in ignored}
    values, refused = link.read(named, HELD.values(), shape)
    for key, choice in HELD.items():
        if choice.instead and values[key] == choice.instead:  # the link had no room for the value
            values[key], refused = choice.default, (*refused, key)
    kind = SnapshotSide if values[SNAPSHOT.key] else ModelSide
    fields = {name: values[choice.key] for name, choice in kind.held_choices().items()}
    return kind(**fields, refused=refused)


def read_text(written: str, shape: Shape | None = None) -> Side:
    """Return the side that `write_text` wrote, as far as it makes sense."""
    return read_side(dict(parse_qsl(written, keep_blank_values=True)))


def write_text(side: Side) -> str:
    """Return the differences of a side from the defaults, as a link within the link."""
    # Texts come last: a link that is cut loses its end.
    choices = dict(sorted(side.held_choices().items(), key=lambda item: item[1].cuts))
    values = {choice.key: getattr(side, name) for name, choice in choices.items()}
    return urlencode(link.write(choices.values(), values, whole=True))


SIDES = {
    name: Choice(f"compare_{name}", default, read_text, write_text)
    for name, default in zip(NAMES, (TIRED, WIDE), strict=True)
}
SIDES_EDITS = {
    name: replace(text(f"compare_{name}_edits", "", LONGEST_LINK), room=LONGEST_EDITS)
    for name in NAMES
}
OWN = switch("compare_own", label="Each its own text", help=OWN_TARGETS)


def current(name: str) -> Side:
    """Return a side of this session; values that make no sense are noted and corrected."""
    kept = chosen(SIDES[name])
    side = replace(kept, edits=kept.edits or chosen(SIDES_EDITS[name])).fitted()
    if side.refused:
        earlier = st.session_state.get("refused_parameters", ())
        st.session_state.refused_parameters = (*earlier, *side.refused)
        side = replace(side, refused=())
        show_on(name, side)
    return side


def show_on(name: str, side: Side) -> None:
    side = side.fitted()
    put(SIDES[name], replace(side, edits=""))  # edits have their own parameter in links
    put(SIDES_EDITS[name], side.edits)


def paste(name: str, key: str) -> None:
    """Show the scene of a pasted link on a side, or say that it is damaged; a callback."""
    pasted = st.session_state[key].strip()
    st.session_state[key] = ""
    if not pasted:
        return
    parameters = {}
    with suppress(ValueError):
        parts = urlsplit(pasted)
        parameters = dict(parse_qsl(parts.query, keep_blank_values=True))
    if not parameters:
        st.session_state.compare_told = NO_LINK
    elif parts.path.endswith("/compare"):  # the link may be of this page: then the same side
        choice = SIDES[name]
        side = read_text(parameters[choice.key]) if choice.key in parameters else choice.default
        edits = side.edits or parameters.get(SIDES_EDITS[name].key, "")
        show_on(name, replace(side, edits=edits))
    else:
        show_on(name, read_side(parameters))
