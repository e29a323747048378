"""The two sides, A and B, of the page Compare: kept, written into links, and offered as pairs."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode, urlsplit

import numpy as np
import streamlit as st

from headlight.model.edits import HeadAddress
from headlight.model.shape import Shape
from headlight.pages.parts.compare.sides import (
    OWN_TRAINING,
    SNAPSHOT,
    ModelSide,
    Pair,
    Side,
    SnapshotSide,
    at_step,
    recordings,
)
from headlight.pages.shared import address
from headlight.pages.shared.runs.arrays import as_array
from headlight.pages.shared.runs.run import written
from headlight.pages.shared.state import models
from headlight.pages.shared.state.choice import Choice, switch, text
from headlight.pages.shared.state.choices import chosen, put
from headlight.pages.shared.state.edit_history import BEFORE_AND_AFTER
from headlight.pages.shared.state.page import PAGES

OWN_TARGETS = (
    "Off: if both sides have the same sentence, both decoders read the same text: a given one, or "
    "else the text that A writes as trained. On: each decoder reads the text that its own model "
    "writes with its changes."
)
NO_LINK = "This is not a Headlight link: copy the whole address of a Headlight page."
MOST_CHANGED = (
    "The weights of the head that you came from stay the same, so this is the head whose weights "
    "change most."
)
SHOWN = ":material/check:"  # the icon on the button whose pair of sides is shown now
NAMES = ("a", "b")
PAIR = "The animal didn't cross the street because it was too {}."
TIRED = ModelSide(text=PAIR.format("tired"), kind="encoder", layer=1, head=1)
WIDE = replace(TIRED, text=PAIR.format("wide"))
LONGEST_LINK = 16_000  # characters; a link takes up to nine of them for a letter of another script
LONGEST_EDITS = 300
VISIBLE = 1e-3  # smaller differences of weights cannot be seen
STREAMLITS = {"embed", "embed_options"}  # parameters that Streamlit itself uses
HELD = {
    choice.key: choice
    for kind in (ModelSide, SnapshotSide)
    for choice in kind.held_choices().values()
}


def read_side(parameters: Mapping[str, str]) -> Side:
    """Return the side that shows what a link to any page shows, from the link's parameters."""
    # The numbers of layers and heads are not known for a training of the visitor.
    trained_here = parameters.get(SNAPSHOT.key, "").startswith(OWN_TRAINING)
    shape = address.ANY if trained_here else address.shape_for(parameters)
    known = {choice.key for page in PAGES.values() for choice in page.linked}
    ignored = known - HELD.keys() | STREAMLITS | {*address.ELSEWHERE}
    named = {key: value for key, value in parameters.items() if key not in ignored}
    values, refused = address.read_parameters(named, HELD.values(), shape)
    for key, choice in HELD.items():
        if choice.instead and values[key] == choice.instead:  # the value was too long for the link
            values[key], refused = choice.default, (*refused, key)
    kind = SnapshotSide if values[SNAPSHOT.key] else ModelSide
    fields = {name: values[choice.key] for name, choice in kind.held_choices().items()}
    return kind(**fields, refused=refused)


def read_text(written: str, shape: Shape | None = None) -> Side:
    """Return the side written as text by `write_text`; its `refused` names invalid values."""
    return read_side(dict(parse_qsl(written, keep_blank_values=True)))


def write_text(side: Side) -> str:
    """Return a side as text for a link: every value that is not the default, as a parameter."""
    # Texts come last, because a link that is too long is cut at the end.
    choices = dict(sorted(side.held_choices().items(), key=lambda item: item[1].cuts))
    values = {choice.key: getattr(side, name) for name, choice in choices.items()}
    return urlencode(address.write_parameters(choices.values(), values, whole=True))


SIDES = {
    name: Choice(f"compare_{name}", default, read_text, write_text, label=f"All of {name.upper()}")
    for name, default in zip(NAMES, (TIRED, WIDE), strict=True)
}
SIDES_EDITS = {
    name: replace(text(f"compare_{name}_edits", "", LONGEST_LINK), room=LONGEST_EDITS)
    for name in NAMES
}
OWN = switch("compare_own", label="Each reads its own text", help=OWN_TARGETS)


def kept(name: str) -> Side:
    """Return a side as the visitor chose it, with its edits, even if its model is gone."""
    side = chosen(SIDES[name])
    return replace(side, edits=side.edits or chosen(SIDES_EDITS[name]))


def current(name: str) -> Side:
    """Return side "a" or "b" as it can be shown; invalid values are replaced and reported."""
    side = kept(name).fitted()
    if side.refused:
        earlier = st.session_state.get("refused_parameters", ())
        st.session_state.refused_parameters = (*earlier, *side.refused)
        side = replace(side, refused=())
        show_on(name, side)
    return side


def show_on(name: str, side: Side) -> None:
    side = side.fitted()
    put(SIDES[name], replace(side, edits=""))  # links hold the edits in a parameter of their own
    put(SIDES_EDITS[name], side.edits)


def paste(name: str, key: str) -> None:
    """Show on a side what a pasted link shows, or say that the text is no link; a callback."""
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
    # A link to the page Compare has two sides: take the one with this name.
    elif parts.path.endswith("/compare"):
        choice = SIDES[name]
        side = read_text(parameters[choice.key]) if choice.key in parameters else choice.default
        edits = side.edits or parameters.get(SIDES_EDITS[name].key, "")
        show_on(name, replace(side, edits=edits))
    else:
        show_on(name, read_side(parameters))


def presets() -> None:
    """Draw the buttons that choose both sides at once, most of them from the other pages' choices.

    On the first visit, if a model of the transformers library is chosen, show a pair with it.
    """
    now = elsewhere()
    trained = replace(now, edits="")
    if st.session_state.pop(BEFORE_AND_AFTER, False):
        pair = affected(trained, now)
        show_both(pair)
        if pair[0] != trained:
            st.toast(MOST_CHANGED)
    pairs: dict[str, Pair | str] = {
        "It: tired or wide": (TIRED, WIDE),
        "Two sentences": two_sentences(trained),
        "Two heads": two_heads(trained),
        "Two models": two_models(trained),
    }
    for source, (_, history) in recordings().items():
        own = " of my training" if source == OWN_TRAINING else ""
        pairs[f"Two snapshots{own}"] = two_snapshots(now, source, history.steps)
    if models.named(now.model).is_library:
        alone = replace(trained, second="", masked="", target="")
        both = replace(alone, text=TIRED.text), replace(alone, text=WIDE.text)
        pairs["It, in the chosen model"] = both
        if not any(side.key in st.session_state for side in SIDES.values()):  # first visit
            show_both(both)
    shown = tuple(map(kept, NAMES))
    with st.container(key="presets", horizontal=True, gap="small"):
        for title, pair in pairs.items():
            why_not = pair if isinstance(pair, str) else None
            is_shown = not isinstance(pair, str) and tuple(side.fitted() for side in pair) == shown
            st.button(
                title, f"preset {title}", why_not, icon=SHOWN if is_shown else None,
                on_click=show_both, args=[pair], disabled=why_not is not None,
            )  # fmt: skip
    # On a phone the widgets of both sides are below the maps.
    with st.container(key="sides-on-phones"):
        st.caption("Choose A and B, and type their sentences, below the maps.")


def show_both(pair: Pair) -> None:
    """Show this pair of sides, and let both decoders read the same text; a callback."""
    for name, side in zip(NAMES, pair, strict=True):
        show_on(name, side)
    put(OWN, False)


def elsewhere() -> ModelSide:
    """Return a side with the text, model, changes and head that the other pages show."""
    held = ModelSide.held_choices().items()
    now = ModelSide(**{name: address.now(choice) for name, choice in held})
    texts = models.last_readable()
    if now.text.strip() or texts is None:
        return now
    return replace(now, text=texts[0], second=texts[1])


def two_sentences(now: ModelSide) -> Pair:
    """Return the given side, and the same side with another example sentence."""
    examples = models.named(now.model).examples
    others = [example for example in examples if example != now.text]
    if now.text == TIRED.text:
        others = [WIDE.text]
    return now, replace(now, text=[*others, now.text][0], masked="")


def two_heads(now: ModelSide) -> Pair | str:
    """Return a side twice, with its head and with the next one, or a sentence on why it cannot."""
    try:
        _, heads = now.fitted().shape
    except ValueError as error:  # the model may not be in memory
        return str(error)
    first = 0 if isinstance(now.head, str) else now.head
    return replace(now, head=first), replace(now, head=(first + 1) % heads)


def affected(before: ModelSide, after: ModelSide) -> Pair:
    """Return both sides, as trained and with changes, at a head whose weights the changes affect.

    If the weights of the chosen head stay the same (they do when the head itself is off), both
    sides get the head whose weights change most, if those of any head change.
    """
    with suppress(ValueError):  # the model may not be in memory, or cannot read the text
        read = before.target or (written(before.run).text if before.writer else "")
        runs = [replace(side.fitted(), target=read) for side in (before, after)]
        if largest_change(*(side.weights for side in runs)) < VISIBLE:
            trained, changed = (side.run for side in runs)
            changes: dict[HeadAddress, float] = {}
            for site in trained.reader.shape.sites:
                weights = [as_array(run.record(site).weights[0]) for run in (trained, changed)]
                for head, maps in enumerate(zip(*weights, strict=True)):
                    changes[site.kind, site.layer, head] = largest_change(*maps)
            kind, layer, head = most = max(changes, key=changes.__getitem__)
            if changes[most] >= VISIBLE:
                selected = {"kind": kind, "layer": layer, "head": head}
                return replace(before, **selected), replace(after, **selected)
    return before, after


def largest_change(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.abs(first - second).max())


def two_models(now: ModelSide) -> Pair | str:
    """Return a side, and the same with another model for its languages, or why there is none."""
    entry = models.named(now.model)
    languages = entry.source, entry.target
    for other in models.choices().values():
        if other.key != entry.key and (other.source, other.target) == languages:
            # Heads with equal numbers in two models have nothing in common, so compare the means.
            mean = replace(now, head="mean")
            return mean, replace(mean, model=other.key, masked="")
    return "No other model has the languages of the model on the other pages."


def two_snapshots(now: ModelSide, source: str, steps: list[int]) -> Pair | str:
    """Return sides at the middle and the end of a training; "" if it has only one snapshot."""
    if len(steps) < 2:
        return ""
    middle = steps[(len(steps) - 1) // 2]
    return at_step(now, source, middle), at_step(now, source, steps[-1])
