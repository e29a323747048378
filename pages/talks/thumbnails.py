"""Small pictures of slides, which the visitor's browser makes and keeps for itself."""

import json
import time
from collections.abc import Iterable
from hashlib import sha256

import streamlit as st

from pages.browser.parts import thumbnail
from pages.shared.show.pictures import css_class, show
from pages.talks.guess import is_open, question_key
from pages.talks.slides import Slide

KEPT = "headlight-thumbnails"  # the name under which the browser keeps them
MOST = 2  # pictures of a slide in its thumbnail


def key_of(slide: Slide) -> str:
    """Return the key of a slide's thumbnail, which depends on its scene and pictures."""
    of = slide.page, sorted(slide.parameters.items()), slide.pictures
    return sha256(json.dumps(of).encode()).hexdigest()[:16]


def ask_for(slide: Slide) -> None:
    """Ask for a thumbnail of a slide's pictures, which the page draws before `take` is called."""
    if slide.pictures:
        st.session_state.thumbnail_of = slide


def take(slides: Iterable[Slide]) -> None:
    """Have the browser make the requested thumbnails, and forget those of other slides."""
    if slide := st.session_state.pop("thumbnail_of", None):
        pictures = slide.pictures[:MOST]
        if any(is_open(key) is False for key in pictures):
            return  # the answer could be read in it
        shown = [css_class(question_key(key) if is_open(key) else key) for key in pictures]
        known = [key_of(one) for one in slides]
        number = time.monotonic_ns() // 1_000
        picture = thumbnail(KEPT, key_of(slide), shown, slides=known, number=number)
        show(picture, "thumbnail")
