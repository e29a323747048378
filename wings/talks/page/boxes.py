"""Draw the list of a talk's slides and the boxes that edit one; carry out clicks in the list."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from headlight.pages.shared.address import ON_THIS_MACHINE, is_of_this_machine, link_of
from headlight.pages.shared.show.pictures import all_picked, show
from headlight.pages.shared.show.question import LONGEST_TEXT, check_question, lines_of
from headlight.pages.shared.state.choices import GUESS, GUESS_ROW, LIT
from headlight.pages.shared.state.page import PAGES, Page
from headlight.pages.streamlit_fixes.late_values import Widget, editor
from headlight.wings.talks import scenes, talk
from headlight.wings.talks.parts import Row, slide_list
from headlight.wings.talks.slides import (
    LONGEST_NOTES,
    LONGEST_TITLE,
    LONGEST_WORDS,
    SIZES,
    Slide,
    copied,
)
from headlight.wings.talks.stage import THUMBNAILS, thumbnail_key
from headlight.wings.talks.turning import turn_to

WORDS_HELP = "Line breaks are kept. Write **bold** and *italic* between asterisks."
QUESTION_HELP = (
    "The first line asks, and two to four answers follow, one a line. They are listed on the "
    "slide, and where a room is open, its phones are asked."
)
NOTES_HELP = "Only the speaker sees these, in a separate window."
GUESS_HELP = (
    "The slide first asks what its head or its map shows. It draws the answer, and small maps of "
    "all heads, after a click on a guess or the key a. A title that the page gave the slide is "
    "left out, because it may tell the answer."
)
NOTHING_TO_GUESS = "“Guess first” needs one of these pictures on the slide: {pictures}."
LEFT_OUT = "Left out: it may tell the answer"
QR_HELP = "A phone that scans the code opens the slide's scene in this app."
NOT_DRAWN = (
    "The scene's page does not draw {pictures} with these choices. Remove such pictures, or "
    "open the scene, change its choices and press **Update slide**."
)
REMOVED = "Slide {number} was removed. “Undo” brings it back."
BACK, UNDONE = "Slide {number} is back.", "Slide {number} is as it was before."
LIST = "slides"  # the key of the list of slides
MOST_LARGE = 3  # a slide draws more pictures than this small


def change(name: str, **changes: object) -> None:
    """Change values of the slide with this name; do nothing if there is no such slide."""
    if (index := talk.index_of(name)) is not None:
        talk.put_at(index, replace(talk.own()[index], **changes))


def offered(page: Page, slide: Slide) -> dict[str, str]:
    """Return the names, by key, of the pictures that a visitor can choose for a slide.

    These are the pictures that its page draws with its choices; if not known, all of the page.
    """
    there = {*slide.drawn, *slide.pictures} if slide.drawn else page.pictures
    return {key: words for key, words in page.pictures.items() if key in there}


def boxes(index: int, slide: Slide) -> None:
    """Draw the input boxes that edit the slide with this index, from 0."""

    def box(widget: Widget, label: str, name: str, **more: object) -> None:
        def changed(value: Any) -> None:
            change(slide.name, **{name: tuple(value) if name == "pictures" else value})

        value = getattr(slide, name)
        value = list(value) if name == "pictures" else value
        editor(widget, label, value, changed, f"slide-{index}-{name}", **more)

    st.subheader(f"Slide {index + 1}")
    title = {
        "max_chars": LONGEST_TITLE,
        "placeholder": LEFT_OUT if scenes.asks_first(slide) else "",
    }
    box(st.text_input, "Title", "title", **title)
    box(st.text_area, "Words", "words", max_chars=LONGEST_WORDS, height=110)
    st.caption(WORDS_HELP.replace("*", r"\*"))
    if slide.page:
        pictures(index, slide, box)
    asks = {"max_chars": LONGEST_TEXT, "height": 160, "help": QUESTION_HELP}
    box(st.text_area, "Question and answers", "question", **asks)
    if lines := lines_of(slide.question):
        try:
            check_question(lines[0], lines[1:])
        except ValueError as error:
            st.warning(str(error))
    notes = {"max_chars": LONGEST_NOTES, "height": 110, "help": NOTES_HELP}
    box(st.text_area, "Speaker notes", "notes", **notes)


def guess_first(index: int, slide: Slide) -> None:
    """Draw the switch by which a slide asks about its picture before it shows the picture."""

    def changed(on: bool) -> None:
        others = {key: text for key, text in slide.parameters.items() if key != GUESS.key}
        lit = slide.parameters.get(LIT.key, "")
        row = {GUESS_ROW.key: lit[1:]} if lit.startswith("q") else {}
        asks = row | {GUESS.key: GUESS.write(on)} if on else {}
        title = slide.title
        if title in ("", slide.lead):
            title = "" if on else slide.lead  # the page's title may reveal the answer
        change(slide.name, parameters=others | asks, title=title)

    page, key = PAGES[slide.page], f"slide-{index}-guess"
    is_on = scenes.asks_first(slide)
    asks = not {*slide.pictures}.isdisjoint(page.riddles)
    can_ask = [words for picture, words in offered(page, slide).items() if picture in page.riddles]
    if can_ask or is_on:
        closed = not (asks or is_on)
        editor(st.toggle, GUESS.label, is_on, changed, key, help=GUESS_HELP, disabled=closed)
    if can_ask and not asks:
        st.caption(NOTHING_TO_GUESS.format(pictures=", ".join(can_ask)))


def pictures(index: int, slide: Slide, box: Callable[..., None]) -> None:
    """Draw the input boxes for a slide's pictures, their size, a QR code and a question."""
    page = PAGES[slide.page]
    names = offered(page, slide)
    box(st.multiselect, "Pictures", "pictures", options=names, format_func=names.get)
    if (count := len(slide.pictures)) > MOST_LARGE:
        st.caption(f"{count} pictures will be small on one slide.")
    lowest, highest = SIZES
    size = {"min_value": lowest, "max_value": highest, "step": 0.05, "format": "%.2f ×"}
    box(st.slider, "Size", "size", **size)
    box(st.toggle, "QR code of the scene", "qr_code", help=QR_HELP)
    if slide.qr_code and is_of_this_machine(link_of(slide.page, slide.parameters)):
        st.info(ON_THIS_MACHINE)
    if page.riddles:
        guess_first(index, slide)
    if blank := [names[key] for key in slide.pictures if slide.drawn and key not in slide.drawn]:
        st.warning(NOT_DRAWN.format(pictures=", ".join(blank)))


def edited() -> int | None:
    """Return the index of the slide that is open for editing; None if there are no slides."""
    last = len(talk.own()) - 1
    return min(st.session_state.get("edited_slide", 0), last) if last >= 0 else None


def edit(index: int) -> None:
    st.session_state.edited_slide = index


def undo() -> None:
    """Undo the last change of the talk, and keep the same slide open for editing; a callback."""
    at, slides = edited(), talk.own()
    name = "" if at is None else slides[at].name
    talk.undo()
    others = [number for number, slide in enumerate(talk.own(), 1) if slide not in slides]
    if len(others) == 1:
        words = UNDONE if len(talk.own()) == len(slides) else BACK
        st.session_state.told = words.format(number=others[0])
    if (index := talk.index_of(name)) is not None:
        edit(index)


def row_of(slide: Slide) -> Row:
    """Return the row for a slide in the list of slides."""
    page = PAGES.get(slide.page)
    of = page.title if page else "Only words"
    shown = [page.pictures[key] for key in slide.pictures] if page else []
    picture = shown[0] if shown else "words"
    return Row(
        slide.name,
        slide.title,
        slide.typed,
        of,
        picture,
        thumbnail_key(slide) if slide.pictures else "",
        opens=page is not None,
    )


def rows() -> None:
    """Draw the list of the visitor's own slides."""
    slides = talk.own()
    if slides or talk.can_undo():
        listed = [row_of(slide) for slide in slides]
        known = [thumbnail_key(slide) for slide in (*slides, *talk.before())]
        places = {"edited": edited(), "opened": scenes.opened()}
        show(slide_list(listed, kept=THUMBNAILS, known=known, **places), LIST, take)


def take() -> None:
    """Do what the visitor has clicked in the list of slides; a callback."""
    for asked in all_picked(LIST):
        match asked:
            case {"does": str(what), "slide": str(name), **more}:
                if (index := talk.index_of(name)) is not None:
                    do(what, index, more.get("to"))


def do(what: str, index: int, to: object = None) -> None:
    """Apply an action to the slide at an index; ignore an unknown or impossible action."""
    slide, at, order = talk.own()[index], edited() or 0, list(range(len(talk.own())))
    match what:
        case "edit":
            edit(index)
        case "open" if slide.page:
            edit(index)
            scenes.open_slide(index)
        case "present":
            turn_to(index + 1)
        case "duplicate":
            if talk.add(copied(slide), index + 1):
                edit(index + 1)
        case "remove":
            order.remove(index)
            talk.rearrange(order)
            edit(at - (index < at))
            st.session_state.told = REMOVED.format(number=index + 1)
        case "move" if isinstance(to, int) and 0 <= to < len(order):
            order.insert(to, order.pop(index))
            talk.rearrange(order)
            edit(order.index(at))
