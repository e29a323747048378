"""Save a talk as one HTML or PowerPoint file, by drawing its slides one after the other.

An HTML file holds the data of pictures, and images of charts, which the browser makes. For
PowerPoint, the browser makes images of all pictures.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import dropwhile
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal

import streamlit as st

from headlight.pages.shared import address
from headlight.pages.shared.address import link_of
from headlight.pages.shared.show.pictures import css_class, picked, show
from headlight.pages.shared.show.question import lines_of
from headlight.pages.shared.show.riddle import is_question, question_key
from headlight.pages.shared.state.choices import (
    EDITS,
    HEAD,
    LAYER,
    MODEL,
    SENTENCE,
    chosen,
)
from headlight.pages.shared.state.page import PAGES, Page
from headlight.pages.shared.state.showing import drawn
from headlight.pages.shared.state.wings import WINGS, TalkModel, first_known
from headlight.viz.canvas import CanvasPicture, unpacked
from headlight.wings.talks import presenter, talk, turning
from headlight.wings.talks.deck.file import LARGEST, Drawn, DrawnSlide, file_of
from headlight.wings.talks.parts import stills
from headlight.wings.talks.slides import Slide, write_talk
from headlight.wings.talks.stage import keeping

STYLE = Path(__file__).with_name("saving_talk.css")
ROOM = Path(__file__).with_name("saving_pictures.css")
STILL = re.compile("data:image/(webp|png);base64,[A-Za-z0-9+/=]+")
LONGEST_STILL = 4_000_000  # the most characters of an image's data address
# The options of pictures that need the running app; in a file they are off.
ASKS = {"clickable": False, "editable": False, "linked": False, "tells": False}
FAILED = "This slide could not be drawn when the file was saved: {reason}"
NO_MODEL = (
    "The model of this slide was not in memory when the file was saved. Load it on the page "
    "Models, and save the file again."
)
NO_STILL = (
    "The picture “{what}” could not be drawn when the file was saved, or is too large for it."
)
SIDES = ("encoder", "decoder")
Kind = Literal["html", "live", "pptx"]


@dataclass
class Saving:
    """A talk that is being saved; its `file` is empty until all slides are done."""

    slides: tuple[Slide, ...]
    kind: Kind = "html"
    done: list[DrawnSlide] = field(default_factory=list)
    stills: Mapping[str, str | None] | None = None  # the images of the slide that is being drawn
    file: bytes = b""
    name: str = field(default_factory=token_hex)  # lets the browser download each file only once
    left_out: list[int] = field(default_factory=list)  # the numbers of slides that are incomplete


def start(kind: Kind) -> None:
    st.session_state.saving_talk = Saving(talk.in_force(), kind)
    turning.turn_to(1)


def stop() -> None:
    st.session_state.pop("saving_talk", None)
    turning.turn_to(None)


def stop_if_left() -> None:
    """Stop the saving of a talk, if any, because the visitor has gone to a page."""
    if under_way():
        del st.session_state.saving_talk


def now() -> Saving | None:
    return st.session_state.get("saving_talk")


def under_way() -> Saving | None:
    """Return the talk that is being saved; None if there is none or its file is done."""
    saving = now()
    return None if saving is None or saving.file else saving


def is_of_talk(saving: Saving) -> bool:
    """Return whether a saved talk has the slides of the current talk."""
    return scenes(saving.slides) == scenes(talk.in_force())


def scenes(slides: Sequence[Slide]) -> list[Slide]:
    """Return slides without `drawn`, which is filled in when a slide is drawn."""
    return [replace(each, drawn=()) for each in slides]


def draw_next(saving: Saving) -> None:
    """Draw the first slide that is not done, keep it for the file, and rerun for the next slide.

    If the talk has changed, start again: the browser may send its kept talk after the click.
    """
    if not is_of_talk(saving):
        saving = st.session_state.saving_talk = Saving(talk.in_force(), saving.kind)
    number, count = len(saving.done) + 1, len(saving.slides)
    turning.turn(number)
    st.html(presenter.STYLE)
    st.html(STYLE)
    with st.container(key="saving"):
        words = f"Drawing slide {number} of {count} for the file …"
        st.progress((number - 1) / count, words)
        st.button("Stop", key="stop-saving", on_click=stop)
    made = drawn_slide(saving, number)
    if made is None:  # the browser is making images of the slide's pictures
        return
    saving.done.append(made)
    saving.stills = None
    if number < count:
        turning.turn(number + 1)
    else:
        saving.file, saving.left_out = written(saving)
        saving.done.clear()
        turning.turn_to(None)
    st.rerun()


def model_maker() -> Callable[[], TalkModel] | None:
    """Return the function that makes the model for a talk's file; None if no wing offers one."""
    return first_known(wing.talk_model for wing in WINGS)


def written(saving: Saving) -> tuple[bytes, list[int]]:
    """Return the file, and the numbers, from 1, of slides that are incomplete in it."""
    if saving.kind != "pptx":
        make = model_maker() if saving.kind == "live" else None
        return file_of(saving.done, write_talk(saving.slides), model=make and make())
    from headlight.wings.talks.deck.powerpoint import powerpoint_of  # importing pptx takes long

    return powerpoint_of(saving.done, dark=st.context.theme.type == "dark")


def drawn_slide(saving: Saving, number: int) -> DrawnSlide | None:
    """Return a slide as data for the file; None while the browser makes images of its pictures."""
    scene = saving.slides[number - 1]
    words = DrawnSlide(
        scene.title,
        scene.words,
        scene.notes,
        scene.size,
        typed=scene.typed,
        link=link_of(scene.page, scene.parameters),
        question=lines_of(scene.question),
    )
    presenter.put_in_force(saving.slides, number)
    if scene.page not in PAGES:
        return words
    page = PAGES[scene.page]
    words = replace(words, scene=live_scene(page))
    if "model" in st.session_state.get("refused_parameters", ()):
        return replace(words, missing=presenter.MODEL_GONE)
    try:
        with keeping(as_images=saving.kind == "pptx") as kept:
            presenter.draw_scene(page, scene)
    except Exception as error:  # whatever the error is, the other slides are saved
        return replace(words, missing=FAILED.format(reason=str(error)))
    shown = presenter.on_stage(scene)
    coming = [key for key in shown if key in drawn() and key not in kept]
    if coming and saving.stills is None:
        ask_for_stills(saving, number, coming)
        return None
    return collected(scene, words, kept, saving.stills or {})


def live_scene(page: Page) -> dict[str, str]:
    """Return the present choices for the model inside a file, in the form of that model's address.

    They are empty if another model is chosen, or if the page does not read the sentence.
    """
    if chosen(MODEL) != MODEL.default or SENTENCE in page.unread:
        return {}
    values = {choice.key: address.now(choice) for choice in page.linked}
    taken = (SENTENCE, page.kind, LAYER, HEAD)
    scene = {"edits": values[EDITS.key]} | {each.key: each.write(chosen(each)) for each in taken}
    scene["kind"] = scene.pop(page.kind.key)
    if values.get("positions_tab") == "sentence":
        off = (side for side in SIDES if values[f"positions_{side}"] == "off")
        scene["off"] = ".".join(off)
    if values.get("strategy") == "beam":
        scene["beam"] = str(values["beam_size"])
    return {name: text for name, text in scene.items() if text}


def collected(
    scene: Slide,
    words: DrawnSlide,
    kept: Mapping[str, Any],
    stills: Mapping[str, str | None],
) -> DrawnSlide:
    """Return a slide with its kept pictures, and with the images of its other pictures."""
    pictures, missing, waiting = [], [], below_a_question(kept)
    for key, what in presenter.on_stage(scene).items():
        of = presenter.subject(key)
        if key in kept:
            question = kept.get(question_key(key))
            pictures.append(Drawn(what, for_a_file(kept[key]), question, of, key in waiting))
        elif still := stills.get(key):
            question, is_code = kept.get(question_key(key)), key == presenter.QR_CODE
            pictures.append(Drawn(what, still, question, of, code=is_code))
        elif key in stills or key == presenter.QR_CODE:
            missing.append(NO_STILL.format(what=what))
    if scene.pictures and drawn().keys().isdisjoint(scene.pictures):
        has_model = address.shape_for(scene.parameters) != address.ANY
        missing.append(presenter.NOT_DRAWN if has_model else NO_MODEL)
    footer = presenter.footer(scene.pictures)
    return replace(words, pictures=pictures, footer=footer, missing=" ".join(missing))


def below_a_question(kept: Mapping[str, Any]) -> set[str]:
    """Return the keys of the pictures after the first question, because they may reveal an answer.

    A file shows them after the answer. Pictures with questions and the QR code are not included.
    """
    below = dropwhile(lambda key: not is_question(key), kept)
    return {key for key in below if question_key(key) not in kept} - {presenter.QR_CODE}


def for_a_file(picture: CanvasPicture) -> CanvasPicture:
    """Return a picture without the options that need the running app."""
    header, _ = unpacked(picture.data)
    changes = {name: value for name, value in ASKS.items() if name in header}
    return replace(picture.having(**changes), numbers={})


def ask_for_stills(saving: Saving, number: int, coming: Sequence[str]) -> None:
    """Have the browser make images of pictures; for PowerPoint, in the size for the slide."""
    selectors = {key: css_class(f"on-{key}") for key in coming}
    options = {}
    if saving.kind == "pptx":
        from headlight.wings.talks.deck.powerpoint import room_of, text_of

        st.html(ROOM)
        scene = saving.slides[number - 1]
        text = text_of(scene.words, lines_of(scene.question))
        room = room_of(scene.title, text, len(coming), presenter.QR_CODE in coming)
        options = {"type": "png", "room": (*room, scene.size)}
    key = f"stills-{number}"  # one key for each slide, so that no slide gets another's images
    show(stills(selectors, number, **options), key, partial(take_stills, key))


def take_stills(key: str) -> None:
    """Store the images that the browser has made for the present slide; a callback."""
    saving = under_way()
    match picked(key):
        case {"number": int(number), "images": dict(images)} if saving:
            if number == len(saving.done) + 1:
                saving.stills = taken(saving, images)


def taken(saving: Saving, images: Mapping[str, object]) -> dict[str, str | None]:
    """Return the images of a slide's pictures by key; None for one that is invalid or too large."""
    earlier = (each.picture for made in saving.done for each in made.pictures)
    room = 2 * LARGEST - sum(len(each) for each in earlier if isinstance(each, str))
    kept = {}
    for key in presenter.on_stage(saving.slides[len(saving.done)]):
        if key in images:
            kept[key] = image_or_none(images[key], min(room, LONGEST_STILL))
            room -= len(kept[key] or "")
    return kept


def image_or_none(address: object, longest: int = LONGEST_STILL) -> str | None:
    """Return the address if it is an image's and has at most `longest` characters, else None."""
    if not isinstance(address, str) or len(address) > longest:
        return None
    return address if STILL.fullmatch(address) else None
