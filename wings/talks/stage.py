"""Show the pictures of slides: on the screen, in a saved file, or as thumbnails."""

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
STAGE = "stage"  # the key of the slide's container, and the state's key of its pictures' containers
KEPT = "pictures_kept"  # the state's key of the pictures that are kept for a file
AS_IMAGES = "pictures_as_images"  # the state's key: True if the file holds pictures as images
LATER = "later"  # the key of the functions that draw pictures after all questions are answered
QR_CODE = "slide-qr-code"  # the key of the QR code of a slide's scene
THUMBNAILS = "headlight-thumbnails"  # the name under which the browser keeps the thumbnails
MOST_IN_THUMBNAIL = 3  # the most pictures in a slide's thumbnail


class Stage(Showing):
    """The way in which slides show pictures: only those chosen for the slide."""

    def keys(self) -> set[str]:
        """Return the keys of the pictures that the slide shows; none on a page."""
        return set(st.session_state.get(STAGE, {})) - {NOTE, SAID, LATER}

    def scene(self) -> int | None:
        return slide()

    def is_live(self) -> bool:
        """Return False on slides and in other sites' frames: a link would offer no way back."""
        page = shown()
        return slide() is None and (page is None or not alone(page))

    def place(self, key: str) -> AbstractContextManager:
        """Return the picture's container on the slide, or an empty context without one."""
        return st.session_state.get(STAGE, {}).get(key) or nullcontext()

    def keeps(self, key: str, picture: Callable[[], CanvasPicture]) -> bool:
        """Keep a slide's picture while a talk is saved; return whether it need not be drawn."""
        if KEPT not in st.session_state or st.session_state[AS_IMAGES]:
            return False
        if key in self.keys():
            st.session_state[KEPT][key] = picture()
        return True

    def is_for_images(self) -> bool:
        return bool(st.session_state.get(AS_IMAGES))

    def keeps_question(self, key: str, question: Question) -> bool:
        """Keep a picture's question while a talk is saved; return whether it need not be drawn."""
        if KEPT not in st.session_state:
            return False
        if key in self.keys():
            st.session_state[KEPT][question_key(key)] = question
        return True

    def postpones(self, key: str, draw: Callable[[], object]) -> bool:
        """Have `show_answers` draw a picture, and return True, if the slide shows it."""
        is_shown = key in self.keys()
        if is_shown:
            st.session_state[STAGE][LATER].append(draw)
        return is_shown

    def as_file(
        self, page: str, parameters: Mapping[str, str], title: str, words: str, key: str
    ) -> dict[str, Any]:
        """Return the file of a talk of one slide that shows one picture."""
        scene = Slide(page, parameters, title[:LONGEST_TITLE], words[:LONGEST_WORDS], (key,))
        return {FORMAT: VERSION, "slides": [asdict(scene)]}

    def as_shown(self, picture: CanvasPicture) -> CanvasPicture:
        """Return a picture that, on a slide, does not send the step at which its player rests."""
        if slide() is None:
            return picture
        header, _ = unpacked(picture.data)
        return picture.having(tells=False) if header.get("tells") else picture


@contextmanager
def staged(pictures: Sequence[str]) -> Iterator[None]:
    """Draw the pictures with these keys on a slide, and hide everything else that is drawn.

    A QR code next to other pictures is in a corner of the slide.
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
    """Draw the pictures that would tell answers, once all questions of the slide are answered."""
    if not any(map(is_open, pictures)):
        for draw in st.session_state[STAGE][LATER]:
            draw()


@contextmanager
def keeping(*, as_images: bool = False) -> Iterator[dict[str, Any]]:
    """Collect pictures and their questions by key for a file instead of drawing them.

    For a file that holds pictures `as_images`, they are drawn: the browser makes the images.
    """
    kept = st.session_state[KEPT] = {}
    st.session_state[AS_IMAGES] = as_images
    try:
        yield kept
    finally:
        clear_kept()


def clear() -> None:
    """Forget a slide's containers and kept pictures.

    `staged` and `keeping` forget them too, unless the next click interrupts this.
    """
    st.session_state.pop(STAGE, None)
    clear_kept()


def clear_kept() -> None:
    st.session_state.pop(KEPT, None)
    st.session_state.pop(AS_IMAGES, None)


def thumbnail_key(slide: Slide) -> str:
    """Return the key of a slide's thumbnail, a hash of its scene and its pictures."""
    of = slide.page, sorted(slide.parameters.items()), slide.pictures
    return sha256(json.dumps(of).encode()).hexdigest()[:16]


def ask_for_thumbnail(slide: Slide) -> None:
    """Request a thumbnail of a slide; `take_thumbnails` takes it once its pictures are drawn."""
    if slide.pictures:
        st.session_state.thumbnail_of = slide


def take_thumbnails(slides: Iterable[Slide]) -> None:
    """Have the browser make the requested thumbnail, and forget those of removed slides."""
    if slide := st.session_state.pop("thumbnail_of", None):
        pictures = [key for key in slide.pictures if key in drawn()]
        if any(is_open(key) is False for key in pictures):
            return  # the thumbnail would show the answer
        shown = [question_key(key) for key in pictures if is_open(key)] or pictures
        shown = list(map(css_class, shown[:MOST_IN_THUMBNAIL]))
        known = [thumbnail_key(each) for each in slides]
        number = time.monotonic_ns() // 1_000
        picture = thumbnail(THUMBNAILS, thumbnail_key(slide), shown, slides=known, number=number)
        show(picture, "thumbnail")
