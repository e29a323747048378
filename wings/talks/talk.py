"""The talk of a session: the visitor's own slides, or a talk that comes with the app."""

from collections.abc import Container, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from headlight.pages.shared import address
from headlight.pages.shared.show import riddle
from headlight.pages.shared.state.choice import one_of
from headlight.pages.shared.state.choices import GUESS, GUESS_ROW, chosen, put
from headlight.pages.shared.state.page import PAGES, Page
from headlight.pages.shared.state.showing import drawn, lead
from headlight.wings.talks import stage
from headlight.wings.talks.slides import (
    LARGEST_FILE,
    MOST_SLIDES,
    Slide,
    first_pictures,
    shortened,
    with_changes,
    write_talk,
)
from headlight.wings.talks.turning import turn_to

TALKS = Path(__file__).with_name("ready")
READY = one_of(
    "ready_talk",
    {"attention": "What a Transformer looks at", "five_minutes": "A Transformer in five minutes"},
    label="Ready talk",
)
OWN = "own"  # in place of a ready talk's name
TOURING = "touring"  # the key of whether the ready talk is in force although the visitor has one
LONGEST = 50  # changes that can be undone
SHOWN_LAST = "slide_shown_last"  # the key of the name of the slide that was shown last
FIRST = "first_pictures"  # the pictures with which a slide of the opened scene would begin
ADDED = "Added as slide {number}. Give it words on the page Talk."
ASKS_FIRST = " It asks before it shows, since “Guess first” is on."
UPDATED = "Slide {number} shows this scene now."
NOTHING_DRAWN = (
    "The talk stays as it was: nothing that this page shows now can stand on a slide. Choose "
    "something else to be shown, and press again."
)
TOO_LARGE = f"Not added: a talk has at most {MOST_SLIDES} slides and {LARGEST_FILE // 1000} kB."


@cache
def shipped(name: str = READY.default) -> tuple[Slide, ...]:
    return read((TALKS / f"{name}.json").read_bytes())[0]


def read(data: bytes, kept: bool = False) -> tuple[tuple[Slide, ...], tuple[str, ...]]:
    """Return the result of `read_talk`, which is loaded with the first talk that is read."""
    from headlight.wings.talks.talk_file import read_talk  # takes long

    return read_talk(data, kept)


def take_ready(name: str | None) -> None:
    """Choose the ready talk that an address names; the first one if it names no existing one."""
    put(READY, name if name in READY.options else READY.default)


def is_awaited() -> bool:
    """Return whether the address names the visitor's own talk, which has not come yet."""
    return st.query_params.get(READY.key) == OWN and not own()


def take_tour() -> None:
    """Present the ready talk, even if there is an own one; a callback."""
    st.session_state[TOURING] = True
    turn_to(1)


def is_touring() -> bool:
    return st.session_state.get(TOURING, False)


def named_ready() -> dict[str, str]:
    """Return the parameter of the talk in a slide's address.

    There is none for the first ready one, unless there is an own one too.
    """
    name = OWN if in_force() is own() else chosen(READY)
    return {} if name == READY.default and not own() else {READY.key: name}


def own() -> tuple[Slide, ...]:
    return st.session_state.get("talk", ())


def in_force() -> tuple[Slide, ...]:
    return (not is_touring() and own()) or shipped(chosen(READY))


def number_of(name: str | None) -> int | None:
    """Return the number, from 1, of a slide of the current talk; None if it is not in it."""
    names = [slide.name for slide in in_force()]
    return names.index(name) + 1 if name in names else None


def goes_on_at() -> int | None:
    """Return the number of the slide at which presenting continues; None for the first one."""
    number = number_of(st.session_state.get(SHOWN_LAST))
    return number if number != 1 else None


def change(slides: tuple[Slide, ...]) -> None:
    """Replace the visitor's own slides; none brings back the ready talk."""
    earlier = st.session_state.setdefault("earlier_talks", [])
    if slides != own():
        earlier.append(own())
        del earlier[:-LONGEST]
    st.session_state.talk = slides[:MOST_SLIDES]


def can_undo() -> bool:
    return bool(st.session_state.get("earlier_talks"))


def before() -> tuple[Slide, ...]:
    return st.session_state.earlier_talks[-1] if can_undo() else ()


def undo() -> None:
    if can_undo():
        st.session_state.talk = st.session_state.earlier_talks.pop()


def add(slide: Slide, index: int | None = None) -> bool:
    """Insert a slide at an index, or at the end; return whether there was room, and say if not."""
    slides = list(own())
    slides.insert(len(slides) if index is None else index, slide)
    if len(slides) > MOST_SLIDES or len(write_talk(slides).encode()) > LARGEST_FILE:
        st.toast(TOO_LARGE)
        return False
    change(tuple(slides))
    return True


def rearrange(order: Sequence[int]) -> None:
    change(tuple(own()[index] for index in order))


def put_at(index: int, slide: Slide) -> None:
    slides = list(own())
    slides[index] = slide
    change(tuple(slides))


def open_slide(index: int) -> None:
    """Put the scene of a slide in force, ready to be changed on its page; a callback.

    `follow` opens the page, because callbacks cannot.
    """
    scene = own()[index]
    others = {key: text for key, text in scene.parameters.items() if key != GUESS.key}
    address.apply(others, PAGES[scene.page])
    note_opened(scene)
    st.session_state.to_scene = scene


def note_opened(scene: Slide) -> None:
    """Note a slide whose scene is open on its page, where it can be updated."""
    st.session_state.opened_slide = scene.name
    st.session_state.pop(FIRST, None)


def close_on(page: Page) -> None:
    """Forget the slide that was opened, on another page with scenes."""
    if (index := opened()) is not None and page.pictures and own()[index].page != page.key:
        del st.session_state.opened_slide


def follow() -> None:
    """Go to the page of a slide that was just opened."""
    if scene := st.session_state.pop("to_scene", None):
        st.switch_page(PAGES[scene.page].file)


def opened() -> int | None:
    """Return the index of the slide whose scene was opened; None if none was."""
    return index_of(st.session_state.get("opened_slide"))


def index_of(name: str | None) -> int | None:
    """Return the index of a slide of the visitor's own; None if it is gone."""
    return next((index for index, slide in enumerate(own()) if slide.name == name), None)


def add_scene(page: Page) -> None:
    """Add the page's current pictures as a new slide, which `finish` completes; a callback."""
    parameters = address.parameters(page, scene=True)
    scene = Slide(page.key, parameters, pictures=first_pictures(page))
    if add(scene):
        st.session_state.added = scene.name, ADDED, True


def asks_first(slide: Slide) -> bool:
    return slide.parameters.get(GUESS.key) == GUESS.write(True)


def update_scene(page: Page) -> None:
    """Put the page's current pictures into the opened slide, which `finish` completes; a callback.

    Its title stays if a person gave it, and so do pictures that a person chose, and its question.
    """
    if (index := opened()) is None or own()[index].page != page.key:
        return
    before, parameters = own()[index], address.parameters(page, scene=True)
    if asks_first(before):
        kept = {key: before.parameters.get(key) for key in (GUESS.key, GUESS_ROW.key)}
        parameters = {key: text for key, text in kept.items() if text} | parameters
    anew = before.pictures == st.session_state.get(FIRST)
    pictures = first_pictures(page) if anew else before.pictures
    scene = replace(before, parameters=parameters, pictures=pictures, drawn=())
    put_at(index, scene)
    st.session_state.added = scene.name, UPDATED, anew


def finish(page: Page) -> None:
    """Give a newly added slide the pictures that its page has drawn, and draw it again.

    With `anew` they are all chosen again; otherwise only pictures that the page no longer draws are
    replaced by its first ones.
    """
    name, words, anew = st.session_state.pop("added", (None, "", False))
    pictures_drawn = _drawn_of(page, drawn())
    if (index := index_of(name)) is None:
        at = opened()
        if at is not None and own()[at].page == page.key and FIRST not in st.session_state:
            st.session_state[FIRST] = _first_of(page, pictures_drawn)
        stage.take_thumbnails(own())
        return
    scene = own()[index]
    if pictures_drawn or PAGES[scene.page] is not page:
        st.session_state.told = words.format(number=index + 1)
    else:
        undo()
        st.session_state.told = NOTHING_DRAWN
    if pictures_drawn and PAGES[scene.page] is page:
        st.session_state[FIRST] = first = _first_of(page, pictures_drawn)
        kept = tuple(key for key in scene.pictures if key in pictures_drawn and not anew)
        are_all = kept and kept == scene.pictures
        pictures = kept if are_all else tuple(dict.fromkeys(first + kept))
        if asks_first(scene) and any(key in page.riddles for key in pictures):
            st.session_state.told += ASKS_FIRST
        of = drawn()[pictures[0]]
        tells = asks_first(scene) and not scene.typed  # the answer, in a title
        says = ("" if tells else said_of(pictures)) or shortened(of[1] if of else page.title)
        title = scene.title if scene.typed else says
        completed = {"title": title, "lead": says, "pictures": pictures, "drawn": pictures_drawn}
        stage.ask_for_thumbnail(_complete(index + 1, **completed))
    st.rerun()


def _first_of(page: Page, pictures_drawn: tuple[str, ...]) -> tuple[str, ...]:
    """Return the drawn pictures with which a slide of a page begins."""
    wanted = first_pictures(page)
    asked = tuple(key for key in pictures_drawn if riddle.is_open(key))
    if asked and not {*asked} & {*wanted}:
        wanted = asked[:1]  # with Guess first, a slide asks the question of its page
    return tuple(key for key in wanted if key in pictures_drawn) or pictures_drawn[:1]


def asks(key: str) -> bool:
    """Return whether a question about a picture was asked, and perhaps answered."""
    return riddle.is_open(key) is not None


def said_of(pictures: Sequence[str]) -> str:
    """Return the page's sentence as the title of a slide, with the changes if a text shows them.

    Next to a question, open or answered, the sentence would describe hidden pictures.
    """
    if any(map(asks, pictures)):
        return ""
    of, _ = ("changed" in pictures and drawn().get("changed")) or (None, "")
    return with_changes(lead(), of.changes) if lead() and of and of.changes else shortened(lead())


def note_drawn(number: int, keys: Container[str]) -> None:
    """Record the pictures that the scene of a visitor's own slide draws, and request thumbnails."""
    if in_force() is own() and own()[number - 1].page:
        pictures_drawn = _drawn_of(PAGES[own()[number - 1].page], keys)
        if pictures_drawn:
            stage.ask_for_thumbnail(_complete(number, drawn=pictures_drawn))
            stage.take_thumbnails(own())


def _drawn_of(page: Page, keys: Container[str]) -> tuple[str, ...]:
    return tuple(key for key in page.pictures if key in keys)


def _complete(number: int, **changes: Any) -> Slide:
    """Complete values of a slide that its visitor did not choose, without undo; return it."""
    slides = list(own())
    slides[number - 1] = completed = replace(slides[number - 1], **changes)
    st.session_state.talk = tuple(slides)
    return completed
