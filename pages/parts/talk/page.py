"""Talk: make a list of scenes with words, to be presented, saved and loaded."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.shared.frame import talk
from pages.shared.link.slides import (
    LARGEST_FILE,
    LONGEST_TITLE,
    LONGEST_WORDS,
    SIZES,
    Slide,
    read_talk,
    write_talk,
)
from pages.shared.state.page import PAGES, Page
from pages.shared.state.slide import turn_to
from pages.shared.widgets.choose import Widget, editor

HOW = (
    "A talk is a list of scenes. On any page, choose what to show and press **Add to talk** in the "
    "sidebar; here a slide gets its words, its pictures and its place. While presenting, → and ← "
    "or a clicker turn the slides, B blacks the screen out and back, Esc leads back to where you "
    "began. The space bar plays what can be played on a slide, n and p step it; on other slides "
    "it turns to the next. Your talk is kept in this browser and nowhere else, until you remove it."
)
NONE_YET = (
    "You have no slides of your own yet. **Present** shows the talk that comes with Headlight: "
    "{count} scenes from tokens to beam search."
)

NOT_DRAWN = (
    "With what this slide's scene has chosen, its page does not draw: {pictures}. Take it out, or "
    "open the page, choose it there and press **Add to talk** again."
)


def move(place: int, to: int) -> None:
    """Move a slide to another place."""
    slides = list(talk.own())
    slides.insert(to, slides.pop(place))
    talk.change(tuple(slides))


def remove(place: int) -> None:
    """Take a slide out."""
    talk.change(talk.own()[:place] + talk.own()[place + 1 :])


def edit(place: int, **changes: object) -> None:
    """Change something of a slide."""
    slides = list(talk.own())
    slides[place] = replace(slides[place], **changes)
    talk.change(tuple(slides))


def load() -> None:
    """Take the talk of the uploaded file, or say why that cannot be."""
    notes = ()
    if file := st.session_state.talk_file:
        try:
            slides, notes = read_talk(file.getvalue())
            talk.change(slides)
        except ValueError as error:
            notes = str(error), "The talk stays as it was."
    st.session_state.talk_notes = notes


def tools() -> None:
    """Draw what is done with the whole list."""
    slides = talk.own()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button("Present", key="present-all", on_click=turn_to, args=[1])
        file = write_talk(talk.in_force()), "headlight-talk.json", "application/json"
        st.download_button("Save as a file", *file, on_click="ignore")
        if slides:
            st.button("Remove all slides", on_click=talk.change, args=[()])
        else:
            st.button("Edit a copy of the ready talk", on_click=talk.change, args=[talk.shipped()])
        st.button("Undo", key="undo-talk", on_click=talk.undo, disabled=not talk.can_undo())
    with st.expander("Load a talk from a file"):
        label = f"A file saved here, of at most {LARGEST_FILE // 1000} kB"
        st.file_uploader(label, type="json", key="talk_file", on_change=load)
    for note in st.session_state.get("talk_notes", ()):
        st.text(note)


def offered(page: Page, slide: Slide) -> dict[str, str]:
    """Return the pictures that can be chosen for a slide, in words by key: those it draws."""
    there = {*slide.drawn, *slide.pictures} if slide.drawn else page.pictures
    return {key: words for key, words in page.pictures.items() if key in there}


def row(place: int, slide: Slide, count: int) -> None:
    """Draw one slide with its boxes and buttons."""
    page = PAGES[slide.page]

    def box(widget: Widget, label: str, name: str, **more: object) -> None:
        def changed(value: object) -> None:
            edit(place, **{name: tuple(value) if name == "pictures" else value})

        value = getattr(slide, name)
        value = list(value) if name == "pictures" else value
        editor(widget, label, value, changed, f"slide-{place}-{name}", **more)

    st.markdown(f"**{place + 1}** · {page.title}")
    words, shown = st.columns([3, 2], gap="medium")
    with words:
        box(st.text_input, "Title", "title", max_chars=LONGEST_TITLE)
        box(st.text_area, "Words", "words", max_chars=LONGEST_WORDS, height=90)
    with shown:
        names = offered(page, slide)
        box(st.multiselect, "Pictures", "pictures", options=names, format_func=names.get)
        lowest, highest = SIZES
        size = {"min_value": lowest, "max_value": highest, "step": 0.05, "format": "%.2f ×"}
        box(st.slider, "Size", "size", **size)
    if blank := [names[key] for key in slide.pictures if slide.drawn and key not in slide.drawn]:
        st.warning(NOT_DRAWN.format(pictures=", ".join(blank)))
    with st.container(horizontal=True):
        actions = (
            ("Up", move, [place, place - 1], place == 0),
            ("Down", move, [place, place + 1], place == count - 1),
            ("Remove", remove, [place], False),
            ("Present from here", turn_to, [place + 1], False),
        )
        for label, action, args, disabled in actions:
            key = f"slide-{place}-{label}"
            st.button(label, key=key, on_click=action, args=args, disabled=disabled)


def make_talk() -> None:
    """Draw the page."""
    st.markdown(HOW)
    tools()
    if not talk.own():
        st.info(NONE_YET.format(count=len(talk.shipped())))
    for place, slide in enumerate(talk.own()):
        with st.container(border=True):
            row(place, slide, len(talk.own()))


TALK = Page(
    key="talk",
    title="Talk",
    purpose="Make a list of scenes, and present it",
    body=make_talk,
)
