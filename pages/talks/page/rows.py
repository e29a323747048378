"""The slides of a talk as rows, and the actions on one of them."""

import streamlit as st

from pages.browser.parts import Row, slide_list
from pages.shared.show.pictures import all_picked, show
from pages.shared.state.page import PAGES
from pages.talks import talk, thumbnails
from pages.talks.slide import turn_to
from pages.talks.slides import Slide, copied

LIST = "slides"  # the key that it is drawn with


def edited() -> int | None:
    """Return the index of the slide whose boxes are open; None if there is no slide."""
    last = len(talk.own()) - 1
    return min(st.session_state.get("edited_slide", 0), last) if last >= 0 else None


def edit(place: int) -> None:
    st.session_state.edited_slide = place


def row_of(slide: Slide) -> Row:
    """Return a slide in the form of the list."""
    page = PAGES.get(slide.page)
    of = page.title if page else "Words alone"
    shown = [page.pictures[key] for key in slide.pictures] if page else []
    picture = shown[0] if shown else "words"
    return Row(
        slide.name, slide.title, of, picture, thumbnails.key_of(slide), opens=page is not None
    )


def rows() -> None:
    """Draw the list of the visitor's own slides."""
    slides = talk.own()
    if slides or talk.can_undo():
        found = [row_of(slide) for slide in slides]
        known = [thumbnails.key_of(slide) for slide in (*slides, *talk.before())]
        places = {"edited": edited(), "opened": talk.opened()}
        show(slide_list(found, kept=thumbnails.KEPT, known=known, **places), LIST, take)


def take() -> None:
    """Do what was asked for in the list; a callback."""
    for asked in all_picked(LIST):
        match asked:
            case {"does": str(what), "slide": str(name), **more}:
                if (place := talk.place_of(name)) is not None:
                    do(what, place, more.get("to"))


def do(what: str, place: int, to: object = None) -> None:
    """Apply an action to a slide; ignore it if it makes no sense."""
    slide, at, order = talk.own()[place], edited(), list(range(len(talk.own())))
    match what:
        case "edit":
            edit(place)
        case "open" if slide.page:
            edit(place)
            talk.open_slide(place)
        case "present":
            turn_to(place + 1)
        case "duplicate":
            if talk.add(copied(slide), place + 1):
                edit(place + 1)
        case "remove":
            order.remove(place)
            talk.rearrange(order)
            edit(at - (place < at))
        case "move" if isinstance(to, int) and 0 <= to < len(order):
            order.insert(to, order.pop(place))
            talk.rearrange(order)
            edit(order.index(at))
