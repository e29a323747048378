"""How the pictures of slides are shown: on a stage, kept for a file, or after a guess; small too.

With Guess first, a picture is neither drawn nor sent before somebody has guessed what it shows.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict
from hashlib import sha256
from typing import Any

import streamlit as st

from headlight.pages.browser import parts
from headlight.pages.browser.library import mounted
from headlight.pages.browser.parts import thumbnail
from headlight.pages.shared.show.pictures import component, css_class, show
from headlight.pages.shared.show.riddle import NO_GUESS, Riddle
from headlight.pages.shared.show.saving import About
from headlight.pages.shared.show.sight import reveal_if_sought, seek
from headlight.pages.shared.state.choices import GUESS, GUESS_ROW, LIT, chosen, put
from headlight.pages.shared.state.page import Page, alone, shown
from headlight.pages.shared.state.showing import NOTE, Showing, drawn, place
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import CanvasPicture
from headlight.viz.canvas import unpacked
from headlight.wings.talks.slides import FORMAT, LONGEST_TITLE, LONGEST_WORDS, VERSION, Slide
from headlight.wings.talks.turning import slide

OFFSTAGE = "offstage"  # the key of everything that a slide does not show
STAGE = "stage"
KEPT = "pictures_kept"
AS_IMAGES = "pictures_as_images"
LATER = "later"  # the key of what draws the pictures of a slide that would give answers
QUESTION = "question-"
QR_CODE = "slide-qr-code"  # the key of the QR code of a slide's scene
SAID = "slide-said"  # the key of the words about the pictures of a slide, above them
NOTHING_ASKED = (
    "**Guess first** has no question about what is shown here. It has one about {pictures}."
)
ASKED_BELOW = "**Guess first** asks below: a question stands in place of a picture."
HIDDEN = "A picture here is hidden while **Guess first** is on: it would give the answers away."
ROOM_FOR_NOTE = "room_for_note"
THUMBNAILS = "headlight-thumbnails"  # the name under which the browser keeps them
MOST_IN_THUMBNAIL = 3  # pictures of a slide in its thumbnail


class Stage(Showing):
    """Draws only the slide's pictures on a slide; with Guess first, a riddle before a picture."""

    def keys(self) -> set[str]:
        """Return the keys of the pictures that the slide shows; none on a page."""
        return set(st.session_state.get(STAGE, {})) - {NOTE, SAID, LATER}

    def scene(self) -> int | None:
        return slide()

    def is_live(self) -> bool:
        """Return False on a slide, here or in a frame elsewhere: there would be no way back."""
        page = shown()
        return slide() is None and (page is None or not alone(page))

    def place(self, key: str) -> AbstractContextManager:
        """Return the place on the slide, if it shows the picture."""
        return st.session_state.get(STAGE, {}).get(key) or nullcontext()

    def keeps(self, key: str, picture: Callable[[], CanvasPicture]) -> bool:
        """Keep a picture while a talk is saved, if the slide shows it."""
        if KEPT not in st.session_state or st.session_state[AS_IMAGES]:
            return False
        if key in self.keys():
            st.session_state[KEPT][key] = picture()
        return True

    def asks(
        self, keys: Sequence[str], ask: Callable[[], Riddle], of: About | None, what: str
    ) -> bool:
        """Ask a riddle with Guess first; a file keeps it next to the picture."""
        key = next((key for key in keys if key in self.keys()), keys[0])
        if not is_guessed_first():
            return False
        riddle = ask()
        if KEPT in st.session_state:
            if key in self.keys():
                question = open_part(riddle), riddle.verdicts
                st.session_state[KEPT][question_key(key)] = question
            return False
        return not is_answered(key, riddle, (of, what), self.place(SAID))

    def hides(self, key: str, of: About | None, draw: Callable[[], object]) -> bool:
        """Hide it with Guess first: on a slide until `show_answers`, on a page with a note."""
        if not is_guessed_first() or st.session_state.get(AS_IMAGES):
            return False
        if key in self.keys():
            st.session_state[STAGE][LATER].append(draw)
        elif of:
            st.caption(HIDDEN)
        return True

    def as_file(
        self, page: str, parameters: Mapping[str, str], title: str, words: str, key: str
    ) -> dict[str, Any]:
        """Return a talk of one slide."""
        scene = Slide(page, parameters, title[:LONGEST_TITLE], words[:LONGEST_WORDS], (key,))
        return {FORMAT: VERSION, "slides": [asdict(scene)]}

    def as_shown(self, picture: CanvasPicture) -> CanvasPicture:
        """Return a picture that does not answer with its step: a slide chooses that itself."""
        if slide() is None:
            return picture
        header, _ = unpacked(picture.data)
        return picture.having(tells=False) if header.get("tells") else picture


@contextmanager
def staged(pictures: Sequence[str]) -> Iterator[None]:
    """Draw the pictures with these keys on a slide, and hide everything else that is drawn.

    The QR code is in a corner of the slide, next to pictures.
    """
    places = {SAID: st.container(key=SAID), LATER: []}
    stage = st.container(key=STAGE, horizontal=True)
    corner = st.container(key="corner") if len(pictures) > 1 else stage
    for key in (NOTE, *pictures):
        holder = corner if key == QR_CODE else stage
        places[key] = holder.container(key=f"on-{key}")
    st.session_state[STAGE] = places
    try:
        with st.container(key=OFFSTAGE):
            yield
    finally:
        del st.session_state[STAGE]


def show_answers(pictures: Sequence[str]) -> None:
    """Draw what would have given the answers to the questions about pictures, if none is open."""
    if not any(map(is_open, pictures)):
        for draw in st.session_state[STAGE][LATER]:
            draw()


@contextmanager
def keeping(*, as_images: bool = False) -> Iterator[dict[str, Any]]:
    """Keep pictures, and the riddles about them, by key for a file instead of drawing them.

    Pictures that the file has `as_images` are drawn, for the browser to make these.
    """
    kept = st.session_state[KEPT] = {}
    st.session_state[AS_IMAGES] = as_images
    try:
        yield kept
    finally:
        clear_kept()


def clear() -> None:
    """Remove the places of a slide.

    A run that the next click interrupts may leave them behind: `staged` is interrupted there too,
    wherever it reads or writes the session's state.
    """
    st.session_state.pop(STAGE, None)
    clear_kept()


def clear_kept() -> None:
    st.session_state.pop(KEPT, None)
    st.session_state.pop(AS_IMAGES, None)


def is_guessed_first() -> bool:
    return chosen(GUESS)


def guess_switch(page: Page) -> None:
    """Draw the switch of a page that has riddles."""
    if page.riddles:
        choose(GUESS, on_change=begin_guessing)


def begin_guessing() -> None:
    """Ask about the row that was pinned, pin no other, and show the question; a callback."""
    pinned = chosen(LIT)
    put(GUESS_ROW, int(pinned[1:]) - 1 if pinned.startswith("q") else None)
    put(LIT, "")
    seek(GUESS.key)


def leave_room_for_note(page: Page) -> None:
    """Leave room above a page for the note that it asks nothing."""
    if page.riddles and is_guessed_first():
        st.session_state[ROOM_FOR_NOTE] = st.empty()


def note_what_is_asked(page: Page) -> None:
    """Write above a page where Guess first asks, or what it asks about if that is not shown."""
    room = st.session_state.pop(ROOM_FOR_NOTE, None)
    if room and any(map(is_question, drawn())):
        room.caption(ASKED_BELOW)
    elif room:
        asked = page.asks or ", ".join(page.pictures[key] for key in page.riddles)
        room.caption(NOTHING_ASKED.format(pictures=asked))


def is_answered(
    key: str, riddle: Riddle, of: tuple[About | None, str], said: AbstractContextManager
) -> bool:
    """Ask a riddle in the place of the picture with this key, and return whether it is answered.

    The picture's subject and title, `of`, are in the footer of a slide. The verdict is written
    where it is to be `said`. The guess is the state of the part that asks, and is forgotten once
    that is no longer drawn.
    """
    question = shown().key, slide(), of[0], riddle
    name = f"{question_key(key)}-{sha256(repr(question).encode()).hexdigest()[:12]}"
    guess = st.session_state.get(name, {}).get("guess")
    answered = type(guess) is int and NO_GUESS <= guess < len(riddle.options)
    drawn()[question_key(key)] = not answered
    part = parts.guess(riddle.asks, said=riddle.verdict(guess)) if answered else open_part(riddle)
    with said if answered else place(key, of), st.container(key=question_key(key)):
        reveal_if_sought(question_key(key), by=GUESS.key)
        component(part.part)(data=mounted(part), key=name, on_guess_change=lambda: None)
    return answered


def open_part(riddle: Riddle) -> CanvasPicture:
    options = list(zip(riddle.options, riddle.names, strict=True))
    return parts.guess(riddle.asks, options, riddle.boards)


def question_key(key: str) -> str:
    return f"{QUESTION}{key}"


def is_question(key: str) -> bool:
    return key.startswith(QUESTION)


def is_open(key: str) -> bool | None:
    """Return whether the riddle about a picture is open; None if none is asked."""
    return drawn().get(question_key(key))


def thumbnail_key(slide: Slide) -> str:
    """Return the key of a slide's thumbnail, which depends on its scene and pictures."""
    of = slide.page, sorted(slide.parameters.items()), slide.pictures
    return sha256(json.dumps(of).encode()).hexdigest()[:16]


def ask_for_thumbnail(slide: Slide) -> None:
    """Ask for a thumbnail of a slide's pictures, which `take_thumbnails` takes once drawn."""
    if slide.pictures:
        st.session_state.thumbnail_of = slide


def take_thumbnails(slides: Iterable[Slide]) -> None:
    """Have the browser make the requested thumbnails, and forget those of other slides."""
    if slide := st.session_state.pop("thumbnail_of", None):
        pictures = [key for key in slide.pictures if key in drawn()]
        if any(is_open(key) is False for key in pictures):
            return  # the answer could be read in it
        shown = [question_key(key) for key in pictures if is_open(key)] or pictures
        shown = list(map(css_class, shown[:MOST_IN_THUMBNAIL]))
        known = [thumbnail_key(each) for each in slides]
        number = time.monotonic_ns() // 1_000
        picture = thumbnail(THUMBNAILS, thumbnail_key(slide), shown, slides=known, number=number)
        show(picture, "thumbnail")
