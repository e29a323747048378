"""Make slides of the scenes of pages: add, open and update one, and record what its page draws."""

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from headlight.pages.shared import address
from headlight.pages.shared.show import riddle
from headlight.pages.shared.state.choices import GUESS, GUESS_ROW
from headlight.pages.shared.state.page import PAGES, Page
from headlight.pages.shared.state.showing import drawn, lead
from headlight.wings.talks import stage
from headlight.wings.talks.slides import Slide, first_pictures, shortened, with_changes
from headlight.wings.talks.talk import add, in_force, index_of, own, put_at, undo

FIRST = "first_pictures"  # the state's key of the pictures that a new slide of the page would have
ADDED = "Added as slide {number}. Give it words on the page Talk."
ASKS_FIRST = " It asks a question before it shows its picture, because “Guess first” is on."
UPDATED = "Slide {number} shows this scene now."
NOTHING_DRAWN = (
    "The talk was not changed: this page shows no picture now that a slide can show. Choose "
    "something else on the page, and press again."
)


def open_slide(index: int) -> None:
    """Apply the choices of a slide, so that they can be changed on its page; a callback.

    `follow` then opens the page, because a callback cannot switch pages.
    """
    scene = own()[index]
    others = {key: text for key, text in scene.parameters.items() if key != GUESS.key}
    address.apply(others, PAGES[scene.page])
    note_opened(scene)
    st.session_state.to_scene = scene


def note_opened(scene: Slide) -> None:
    """Record that a slide's page is open with its choices, so that the slide can be updated."""
    st.session_state.opened_slide = scene.name
    st.session_state.pop(FIRST, None)


def close_on(page: Page) -> None:
    """Forget the slide that is open on its page if another page that can make slides is shown."""
    if (index := opened()) is not None and page.pictures and own()[index].page != page.key:
        del st.session_state.opened_slide


def follow() -> None:
    """Switch to the page of the slide that `open_slide` has just opened."""
    if scene := st.session_state.pop("to_scene", None):
        st.switch_page(PAGES[scene.page].file)


def opened() -> int | None:
    """Return the index of the slide that is open on its page; None if none is."""
    return index_of(st.session_state.get("opened_slide"))


def add_scene(page: Page) -> None:
    """Add a slide of the page with its present choices; `finish` completes it; a callback."""
    parameters = address.parameters(page, scene=True)
    scene = Slide(page.key, parameters, pictures=first_pictures(page))
    if add(scene):
        st.session_state.added = scene.name, ADDED, True


def asks_first(slide: Slide) -> bool:
    return slide.parameters.get(GUESS.key) == GUESS.write(True)


def update_scene(page: Page) -> None:
    """Give the opened slide the page's present choices; `finish` completes it; a callback.

    A title that a person has typed, pictures that a person has chosen, and the question are kept.
    """
    if (index := opened()) is None or own()[index].page != page.key:
        return
    before, parameters = own()[index], address.parameters(page, scene=True)
    if asks_first(before):
        kept = {key: before.parameters.get(key) for key in (GUESS.key, GUESS_ROW.key)}
        parameters = {key: text for key, text in kept.items() if text} | parameters
    has_first = before.pictures == st.session_state.get(FIRST)
    pictures = first_pictures(page) if has_first else before.pictures
    scene = replace(before, parameters=parameters, pictures=pictures, drawn=())
    put_at(index, scene)
    st.session_state.added = scene.name, UPDATED, has_first


def finish(page: Page) -> None:
    """Give an added or updated slide the pictures that its page has drawn, and rerun the page.

    If its pictures are still the first of the page (`has_first`), it gets the first ones again.
    Otherwise, it gets them only in place of pictures that the page no longer draws.
    """
    name, words, has_first = st.session_state.pop("added", (None, "", False))
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
        kept = tuple(key for key in scene.pictures if key in pictures_drawn and not has_first)
        are_all = kept and kept == scene.pictures
        pictures = kept if are_all else tuple(dict.fromkeys(first + kept))
        if asks_first(scene) and any(key in page.riddles for key in pictures):
            st.session_state.told += ASKS_FIRST
        of = drawn()[pictures[0]]
        tells = asks_first(scene) and not scene.typed  # the page's title would reveal the answer
        says = ("" if tells else said_of(pictures)) or shortened(of[1] if of else page.title)
        title = scene.title if scene.typed else says
        completed = {"title": title, "lead": says, "pictures": pictures, "drawn": pictures_drawn}
        stage.ask_for_thumbnail(_complete(index + 1, **completed))
    st.rerun()


def _first_of(page: Page, pictures_drawn: tuple[str, ...]) -> tuple[str, ...]:
    """Return the pictures that a new slide of a page shows, of those that the page has drawn."""
    wanted = first_pictures(page)
    asked = tuple(key for key in pictures_drawn if riddle.is_open(key))
    if asked and not {*asked} & {*wanted}:
        wanted = asked[:1]  # with Guess first, a slide shows the question of the page
    return tuple(key for key in wanted if key in pictures_drawn) or pictures_drawn[:1]


def asks(key: str) -> bool:
    """Return whether the page has asked a question about a picture, answered or not."""
    return riddle.is_open(key) is not None


def said_of(pictures: Sequence[str]) -> str:
    """Return the page's leading sentence as a slide's title, with the changes of the model, if any.

    Empty if the slide asks a question, because the sentence might reveal the answer.
    """
    if any(map(asks, pictures)):
        return ""
    of, _ = ("changed" in pictures and drawn().get("changed")) or (None, "")
    return with_changes(lead(), of.changes) if lead() and of and of.changes else shortened(lead())


def note_drawn(number: int, keys: Container[str]) -> None:
    """Record which pictures were drawn for one of the visitor's slides; make its thumbnail."""
    if in_force() is own() and own()[number - 1].page:
        pictures_drawn = _drawn_of(PAGES[own()[number - 1].page], keys)
        if pictures_drawn:
            stage.ask_for_thumbnail(_complete(number, drawn=pictures_drawn))
            stage.take_thumbnails(own())


def _drawn_of(page: Page, keys: Container[str]) -> tuple[str, ...]:
    return tuple(key for key in page.pictures if key in keys)


def _complete(number: int, **changes: Any) -> Slide:
    """Change values of a slide that no person has chosen; add no undo step; return the slide."""
    slides = list(own())
    slides[number - 1] = completed = replace(slides[number - 1], **changes)
    st.session_state.talk = tuple(slides)
    return completed
