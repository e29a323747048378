"""Show the pictures of slides on the screen, or keep them for a file or a thumbnail."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict
from hashlib import sha256
from typing import Any

import streamlit as st

from headlight.pages.shared.show.pictures import css_class, show
from headlight.pages.shared.show.riddle import Question, is_open, question_key
from headlight.pages.shared.state.page import alone, shown
from headlight.pages.shared.state.showing import NOTE, SAID, Showing, drawn
from headlight.viz import CanvasPicture
from headlight.viz.canvas import unpacked
from headlight.wings.talks.parts import thumbnail
from headlight.wings.talks.slides import FORMAT, LONGEST_TITLE, LONGEST_WORDS, VERSION, Slide
from headlight.wings.talks.turning import slide

OFFSTAGE = "offstage"  # the key of the hidden container for all that a slide does not show
STAGE = "stage"  # key of the slide's container; the state's key of the containers of its pictures
KEPT = "pictures_kept"  # the state's key of the pictures that are kept for a file
AS_IMAGES = "pictures_as_images"  # the state's key: True if a file gets images of pictures
LATER = "later"  # key of the functions that draw pictures once all questions are answered
QR_CODE = "slide-qr-code"  # the key of the QR code of a slide
THUMBNAILS = "headlight-thumbnails"  # the name under which the browser keeps the thumbnails
MOST_IN_THUMBNAIL = 3  # the most pictures in a slide's thumbnail


class Stage(Showing):
    """Decides how slides show pictures: only those that were chosen for the slide."""

    def keys(self) -> set[str]:
        """Return the keys of the pictures that the slide shows; empty if a page is shown."""
        return set(st.session_state.get(STAGE, {})) - {NOTE, SAID, LATER}

    def scene(self) -> int | None:
        return slide()

    def is_live(self) -> bool:
        """Return whether clicks may lead to another page.

        They may not on slides and in other sites' frames, because nothing would lead back.
        """
        page = shown()
        return slide() is None and (page is None or not alone(page))

    def place(self, key: str) -> AbstractContextManager:
        """Return the container of a picture on the slide; without one, an empty context."""
        return st.session_state.get(STAGE, {}).get(key) or nullcontext()

    def keeps(self, key: str, picture: Callable[[], CanvasPicture]) -> bool:
        """While a talk is saved, keep a slide's picture; return True if it need not be drawn."""
        if KEPT not in st.session_state or st.session_state[AS_IMAGES]:
            return False
        if key in self.keys():
            st.session_state[KEPT][key] = picture()
        return True

    def is_for_images(self) -> bool:
        return bool(st.session_state.get(AS_IMAGES))

    def keeps_question(self, key: str, question: Question) -> bool:
        """While a talk is saved, keep a picture's question; return True if it need not be drawn."""
        if KEPT not in st.session_state:
            return False
        if key in self.keys():
            st.session_state[KEPT][question_key(key)] = question
        return True

    def postpones(self, key: str, draw: Callable[[], object]) -> bool:
        """If the slide shows a picture, let `show_answers` draw it later, and return True."""
        is_shown = key in self.keys()
        if is_shown:
            st.session_state[STAGE][LATER].append(draw)
        return is_shown

    def as_file(
        self, page: str, parameters: Mapping[str, str], title: str, words: str, key: str
    ) -> dict[str, Any]:
        """Return the content of a file: a talk with one slide that shows one picture."""
        scene = Slide(page, parameters, title[:LONGEST_TITLE], words[:LONGEST_WORDS], (key,))
        return {FORMAT: VERSION, "slides": [asdict(scene)]}

    def as_shown(self, picture: CanvasPicture) -> CanvasPicture:
        """Return a picture; on a slide, its player does not send the step at which it stops."""
        if slide() is None:
            return picture
        header, _ = unpacked(picture.data)
        return picture.having(tells=False) if header.get("tells") else picture


@contextmanager
def staged(pictures: Sequence[str]) -> Iterator[None]:
    """Draw the pictures with these keys on a slide, and hide everything else that is drawn.

    A QR code next to other pictures is drawn in a corner of the slide.
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
    """Draw the pictures that reveal answers, if all questions of the slide are answered."""
    if not any(map(is_open, pictures)):
        for draw in st.session_state[STAGE][LATER]:
            draw()


@contextmanager
def keeping(*, as_images: bool = False) -> Iterator[dict[str, Any]]:
    """In this context, collect pictures and questions by key for a file, and do not draw them.

    If the file holds pictures `as_images`, they are drawn, so that the browser can make the images.
    """
    kept = st.session_state[KEPT] = {}
    st.session_state[AS_IMAGES] = as_images
    try:
        yield kept
    finally:
        clear_kept()


def clear() -> None:
    """Forget a slide's containers and kept pictures.

    `staged` and `keeping` forget them too, unless a click interrupts the run earlier.
    """
    st.session_state.pop(STAGE, None)
    clear_kept()


def clear_kept() -> None:
    st.session_state.pop(KEPT, None)
    st.session_state.pop(AS_IMAGES, None)


def thumbnail_key(slide: Slide) -> str:
    """Return the key of a slide's thumbnail: a hash of its page, choices and pictures."""
    of = slide.page, sorted(slide.parameters.items()), slide.pictures
    return sha256(json.dumps(of).encode()).hexdigest()[:16]


def ask_for_thumbnail(slide: Slide) -> None:
    """Request a thumbnail of a slide, which `take_thumbnails` makes once its pictures are drawn."""
    if slide.pictures:
        st.session_state.thumbnail_of = slide


def take_thumbnails(slides: Iterable[Slide]) -> None:
    """Have the browser make the requested thumbnail, and delete those of removed slides."""
    if slide := st.session_state.pop("thumbnail_of", None):
        pictures = [key for key in slide.pictures if key in drawn()]
        if any(is_open(key) is False for key in pictures):
            return  # the thumbnail would reveal the answer
        shown = [question_key(key) for key in pictures if is_open(key)] or pictures
        shown = list(map(css_class, shown[:MOST_IN_THUMBNAIL]))
        known = [thumbnail_key(each) for each in slides]
        number = time.monotonic_ns() // 1_000
        picture = thumbnail(THUMBNAILS, thumbnail_key(slide), shown, slides=known, number=number)
        show(picture, "thumbnail")
