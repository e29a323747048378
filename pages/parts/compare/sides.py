"""The two sides of the page Compare: each is a scene, kept as the text that a link holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode, urlsplit

import streamlit as st

from model.edit_text import write_edits
from model.edits import Edits
from model.training.small_models import BOUNDS
from model.training.snapshots import Snapshots
from pages.parts.compare import others
from pages.parts.compare.words import NO_LINK
from pages.shared.link import address
from pages.shared.runs.records import recorded_training
from pages.shared.runs.translator import translator
from pages.shared.state import catalog, edit_history, models, scene
from pages.shared.state.scene import Scene
from pages.shared.state.workshop import workshop

SIDES = ("a", "b")
# Texts last: where a link is cut, it is at its end.
FIELDS = ("model", "kind", "layer", "head", "compare_snapshot", "sentence", "target")
EVERYTHING = (*FIELDS, *others.FIELDS, "edits")
WIDE = "The animal didn't cross the street because it was too wide."
Sides = tuple[Scene, Scene]


@dataclass(frozen=True)
class Recording:
    """Snapshots of a training, and what to call it."""

    source: str  # "en-fr" or "toy"
    title: str
    history: Snapshots


def recordings() -> dict[str, Recording]:
    """The trainings that this visitor can see snapshots of."""
    title = f"{catalog.SHIPPED[catalog.DEFAULT].title}, during its training"
    found = {catalog.DEFAULT: Recording(catalog.DEFAULT, title, recorded_training())}
    if run := workshop().run:
        found["toy"] = Recording("toy", f"Your training: {run.name}", run.job.look().snapshots)
    return found


def snapshot(side: Scene) -> tuple[str, int] | None:
    """Whose training a side shows, and at which step; None where it runs a model."""
    source, _, step = side.compare_snapshot.partition(".")
    return (source, int(step)) if source else None


def side_text(side: Scene) -> str:
    """What of a side differs from the defaults; its edits are kept apart."""
    defaults = Scene()
    return urlencode(
        {
            name: scene.written(getattr(side, name))
            for name in (*FIELDS, *others.FIELDS)
            if getattr(side, name) != getattr(defaults, name)
        }
    )


def read_side(text: str, edits: str = "") -> tuple[Scene, tuple[str, ...]]:
    """The side of a text, and the names of what in it made no sense and was left out."""
    parameters = dict(parse_qsl(text, keep_blank_values=True))
    return side_of(parameters | ({"edits": edits} if edits else {}))


def side_of(parameters: Mapping[str, str]) -> tuple[Scene, tuple[str, ...]]:
    """A side of a scene's parameters, and the names of what in them made no sense."""
    config = address.config_for(parameters)
    if parameters.get("compare_snapshot", "").startswith("toy."):
        layers = BOUNDS["layers"][1]
        heads = BOUNDS["heads"][1]
        config = replace(config, encoder_layers=layers, decoder_layers=layers, heads=heads)
    read, refused = scene.read_scene(parameters, config)
    return readable(only(read)), refused


def only(everything: Scene) -> Scene:
    """What of a scene makes a side."""
    if not others.is_other(everything):
        return own(everything)
    return Scene(**{name: getattr(everything, name) for name in EVERYTHING})


def own(everything: Scene) -> Scene:
    """What of a scene makes a side that shows one of Headlight's own models."""
    return Scene(**{name: getattr(everything, name) for name in (*FIELDS, "edits")})


def readable(side: Scene) -> Scene:
    """The side with a sentence that its model can read."""
    if translator(side.model).tokenizer.encode(side.sentence):
        return side
    return replace(side, sentence=models.choices()[side.model].examples[0])


def side(name: str) -> Scene:
    """A side of this session by its name; what made no sense in it is told and put right."""
    found, refused = read_side(
        st.session_state[f"compare_{name}"], st.session_state[f"compare_{name}_edits"]
    )
    if refused:
        st.session_state.refused_parameters = refused
        put(name, found)
    return found


def put(name: str, chosen: Scene) -> None:
    """Show a scene on a side."""
    st.session_state[f"compare_{name}"] = side_text(chosen)
    st.session_state[f"compare_{name}_edits"] = chosen.edits


def put_both(sides: Sides) -> None:
    """Show two scenes, their decoders reading the same text where the sentence is the same."""
    for name, chosen in zip(SIDES, sides, strict=True):
        put(name, chosen)
    st.session_state.compare_own = False


def take_link(name: str, key: str) -> None:
    """Show the scene of a pasted link on a side; a damaged link is told."""
    text = st.session_state[key].strip()
    st.session_state[key] = ""
    if not text:
        return
    try:
        parameters = dict(parse_qsl(urlsplit(text).query, keep_blank_values=True))
    except ValueError:
        parameters = {}
    if not parameters:
        st.session_state.compare_told = NO_LINK
        return
    # Of a link to this page it is the same side.
    if urlsplit(text).path.endswith("/compare"):
        standard = dict(zip(SIDES, scene.COMPARED, strict=True))[name]
        edits = parameters.get(f"compare_{name}_edits", "")
        found, refused = read_side(parameters.get(f"compare_{name}", standard), edits)
    else:
        found, refused = side_of(parameters)
    st.session_state.refused_parameters = refused
    put(name, found)


def elsewhere() -> Scene:
    """What the other pages show now."""
    now = own(address.current())
    readable = models.last_readable()
    tokens = translator(now.model).tokenizer.encode(now.sentence)
    return now if tokens or readable is None else replace(now, sentence=readable)


def classic() -> Sides:
    """The sentences in which "it" should be two different things."""
    first, second = (read_side(text)[0] for text in scene.COMPARED)
    return first, second


def classic_in(shown: Scene) -> Sides:
    """The same two sentences in another model, at a layer and head of its own."""
    shown = replace(shown, bert_second="", bert_masked="", bert_edits="")
    first, second = (replace(shown, bert_first=one.sentence) for one in classic())
    return first, second


def two_sentences(shown: Scene) -> Sides:
    """The sentence of the other pages, and one to change."""
    examples = models.choices()[shown.model].examples
    others = [one for one in examples if one != shown.sentence] or [shown.sentence]
    other = WIDE if shown.sentence == catalog.EXAMPLES[0] else others[0]
    first = replace(shown, edits="")
    return first, replace(first, sentence=other)


def two_heads(shown: Scene) -> Sides:
    """A head and the next one of its layer."""
    heads = translator(shown.model).model.config.heads
    number = 1 if shown.head in scene.SUMMARIES else int(shown.head)
    first = replace(shown, head=str(number), edits="")
    return first, replace(first, head=str(number % heads + 1))


def two_models(shown: Scene) -> Sides | None:
    """A model and another one for the same sentence; None where there is no other."""
    choice = models.choices()[shown.model]
    languages = choice.source, choice.target
    for other in models.choices().values():
        if other.key != choice.key and (other.source, other.target) == languages:
            first = replace(shown, edits="")
            return first, fitted(replace(first, model=other.key))
    return None


def before_and_after(shown: Scene) -> Sides | None:
    """A model as trained and as changed; None where nothing was changed."""
    if edit_history.edits() == Edits():
        return None
    return replace(shown, edits=""), replace(shown, edits=write_edits(edit_history.edits()))


def two_snapshots(shown: Scene, recording: Recording) -> Sides | None:
    """The middle and the end of a training; None where there is one snapshot only."""
    recorded = recording.history
    if len(recorded.steps) < 2:
        return None
    sentence = shown.sentence if shown.sentence in recorded.sentences else recorded.sentences[0]
    base = Scene(sentence=sentence, kind=shown.kind, layer=shown.layer, head=shown.head)
    first, second = (
        fitted(replace(base, compare_snapshot=f"{recording.source}.{recorded.steps[place]}"))
        for place in ((len(recorded.steps) - 1) // 2, -1)
    )
    return first, second


def shape(chosen: Scene) -> tuple[int, int] | None:
    """How many layers and heads a side of Headlight's own has of its kind; None without any."""
    if chosen.compare_snapshot:
        recording = recordings().get(snapshot(chosen)[0])
        return recording and tuple(recording.history.weights[0][chosen.kind].shape[1:3])
    config = translator(chosen.model).model.config
    return config.layers(chosen.kind), config.heads


def fitted(chosen: Scene) -> Scene:
    """The side with a layer and a head that its model has."""
    if others.is_other(chosen):
        return others.fitted(chosen)
    layers, heads = shape(chosen) or (chosen.layer, BOUNDS["heads"][1])
    head = chosen.head if chosen.head in scene.head_names(heads) else scene.SUMMARIES[0]
    return replace(chosen, layer=min(chosen.layer, layers), head=head)
