"""Present a talk: one slide at a time, with only its words and pictures on the screen."""

import re
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from headlight.pages.browser.parts import qr_code
from headlight.pages.shared import address
from headlight.pages.shared.address import link_of
from headlight.pages.shared.show.captions import names_site
from headlight.pages.shared.show.pictures import picked, show
from headlight.pages.shared.show.question import lines_of
from headlight.pages.shared.state.choices import GUESS, put
from headlight.pages.shared.state.page import PAGES, Page, enter
from headlight.pages.shared.state.showing import NOTE, drawn, place
from headlight.pages.shared.state.wings import TOOLS, WINGS, allows, is_open
from headlight.pages.streamlit_fixes import styles
from headlight.viz.canvas import CanvasPicture
from headlight.viz.numbers import writable
from headlight.wings.talks import parts, scenes, talk, turning
from headlight.wings.talks.slides import Slide
from headlight.wings.talks.stage import (
    QR_CODE,
    THUMBNAILS,
    show_answers,
    staged,
    thumbnail_key,
)

PARAMETER = "talk"  # the parameter of an address with the number of the slide
TURNS = "turns_asked"  # the state's key of the number of requests to turn that were carried out
MODEL_GONE = "The model of this slide is no longer available: it was trained elsewhere."
NOT_DRAWN = (
    "This slide's scene does not draw the pictures chosen for it. Open the scene from the page "
    "Talk, and update the slide."
)
AWAITED = (
    "This slide belongs to a talk that is kept in the browser in which it was made. If it does not "
    "appear here, load the talk's file on the page Talk."
)

ASKED = "slide-asked"  # the key of what wings draw where phones are asked a slide's question
NOTED = "slide_noted"  # the state's key of the last slide whose drawn pictures were recorded

STYLE = styles.style(styles.SLIDE, Path(__file__).with_name("presenter.css"))


def take_turn() -> None:
    """Turn to the requested slide, or leave the talk, before anything is drawn.

    Choices can arrive late, with a slide's address, when the talk was already left. They belong to
    the slide, so the talk is then left a second time.
    """
    if turning.was_left() and PARAMETER in st.query_params and address.gone_to() is None:
        turning.turn_to(turning.LIVE if turning.visit() else None)
    number = turning.slide()
    if number and turning.is_going_live():
        go_live(number)
    if number and turning.is_leaving() and not turning.begun_on():
        turning.draw_anew()  # choices that arrive together with Esc may be from an earlier slide
        put_in_force(talk.in_force(), number)
        turning.begin_here()
    turning.take_turn()
    if turning.slide() is None:
        st.session_state[talk.TOURING] = False


def go_live(number: int) -> None:
    """Open the page of a slide with the slide's choices, but without its question."""
    slides = talk.in_force()
    scene = slides[number - 1]
    put_in_force(slides, number)
    put(GUESS, False)
    scenes.note_opened(scene)
    st.session_state.visit = turning.Visit(scene.name, number, talk.is_touring())


def has_scene(slide: Slide) -> bool:
    """Return whether the visitor can open a slide's page with the slide's choices."""
    page = PAGES.get(slide.page)
    return page is not None and is_open(page) and allows(TOOLS)


def come_back() -> None:
    """Go back to the slide from which the present page was opened; a callback."""
    if visit := turning.visit():
        st.session_state[talk.TOURING] = visit.touring
        turning.come_back(talk.number_of(visit.slide) or visit.number)


def asked_for() -> int | None:
    """Return the number of the slide to show, from 1; None outside of a talk."""
    parameters = address.gone_to()
    if parameters is not None:
        match = re.fullmatch("[1-9][0-9]{0,3}", parameters.get(PARAMETER, ""))
        number = int(match[0]) if match else None
        if number or turning.slide():
            turning.turn(number)
        if number:
            name = parameters.get(talk.READY.key)
            talk.take_ready(name)
            st.session_state[talk.TOURING] = name in talk.READY.options
            address.know(parameters)
    last = len(talk.in_force())
    if (turning.slide() or 0) > last and not talk.is_awaited():
        turning.turn(last)
    return turning.slide()


def put_in_force(slides: Sequence[Slide], number: int) -> None:
    """Enter the page of a slide, and apply the slide's choices, once for each turn to the slide.

    A slide without a page keeps the page and choices of the slide before it; if there is none, the
    first page opens with its defaults. The turn is marked as done only at the end, because the next
    click may interrupt the run anywhere.
    """
    scenes = [scene for scene in slides[:number] if scene.page in PAGES]
    scene = scenes[-1] if scenes else Slide(next(iter(PAGES)))
    enter(PAGES[scene.page])
    if turning.is_new():
        address.apply(scene.parameters, PAGES[scene.page])
        turning.begin()


def show_slide(number: int) -> None:
    """Draw a slide: its words, and its page's pictures with the slide's choices."""
    if talk.is_awaited():
        st.info(AWAITED)
        st.button("Leave the talk", on_click=turning.turn_to, args=[None])
        return
    slides = talk.in_force()
    scene = slides[number - 1]
    put_in_force(slides, number)
    address.write({PARAMETER: str(number), **talk.named_ready()})
    st.html(STYLE)
    title = st.session_state.get(turning.LIVE_TITLE, scene.title)
    show(words_of(slides, number, title), "slide-words", turn)
    if scene.question.strip():
        with st.container(key=ASKED):
            for wing in WINGS:
                wing.polls(scene.question)
    if page := PAGES.get(scene.page):
        is_whole = draw_scene(page, scene)
        # Not `turning.is_new`: the run that applied the choices may have been stopped before here.
        if is_whole and st.session_state.get(NOTED) != scene.name:
            scenes.note_drawn(number, drawn())
    st.session_state[NOTED] = st.session_state[talk.SHOWN_LAST] = scene.name
    says = scenes.said_of(scene.pictures)
    if scene.lead and not scene.typed and says not in ("", title):
        # No person has typed the title, so it describes what the pictures show now.
        st.session_state[turning.LIVE_TITLE] = says
        st.rerun()


def words_of(slides: Sequence[Slide], number: int, title: str) -> CanvasPicture:
    """Return the part with a slide's title, words, and notes that only the speaker sees."""
    scene, *after = slides[number - 1 :]
    page = PAGES.get(after[0].page) if after else None
    coming = (
        {
            "title": after[0].title or (page.title if page else ""),
            "typed": after[0].typed,
            "pictures": [page.pictures[key] for key in after[0].pictures] if page else [],
            "thumbnail": thumbnail_key(after[0]),
        }
        if after
        else None
    )
    return parts.slide(
        title,
        scene.words,
        lines_of(scene.question),
        typed=scene.typed,
        number=number,
        count=len(slides),
        asked=st.session_state.get(TURNS, 0),
        alone=not on_stage(scene),
        size=min(scene.size, 1),
        notes=scene.notes,
        coming=coming,
        kept=THUMBNAILS,
        live=has_scene(scene),
    )


def on_stage(scene: Slide) -> dict[str, str]:
    """Return the names, by key, of a slide's pictures and of its QR code if it has one."""
    page = PAGES.get(scene.page)
    pictures = {key: page.pictures[key] for key in scene.pictures} if page else {}
    return pictures | ({QR_CODE: "QR code of this scene"} if page and scene.qr_code else {})


def draw_scene(page: Page, scene: Slide) -> bool:
    """Draw a page's pictures for a slide, and below them a footer that says what they show.

    Return whether the slide's own model is available.
    """
    pictures = scene.pictures
    if is_gone := "model" in st.session_state.pop("refused_parameters", ()):
        st.info(MODEL_GONE)
    address.keep_to_the_model(page)
    with staged(tuple(on_stage(scene))):
        page.body()
        show_answers(pictures)
        if scene.qr_code:
            draw_code(link_of(scene.page, scene.parameters))
        if pictures and drawn().keys().isdisjoint((NOTE, *pictures)):
            with place(NOTE):
                st.info(NOT_DRAWN)
    with st.container(key="slide-footer"):
        st.text(footer(pictures))
    return not is_gone


def draw_code(link: str) -> None:
    """Draw the QR code of a link, or say why there is none."""
    try:
        picture = qr_code(link)
    except ValueError as error:
        with place(NOTE):
            st.info(str(error))
    else:
        show(picture, QR_CODE)


def footer(pictures: Sequence[str]) -> str:
    """Return the sentence, layers, heads and changes that some pictures show, as one line."""
    subjects = [drawn()[key] for key in pictures if drawn().get(key)]
    sentences = [f"“{of.sentence}”" for of, _ in subjects if of.sentence.strip()]
    places = [
        words for of, what in subjects for words in (of.place, what if names_site(what) else "")
    ]
    changes = [f"Changed: {of.changes}" for of, _ in subjects if of.changes]
    return writable(" · ".join(dict.fromkeys(filter(None, [*sentences[:1], *places, *changes]))))


def subject(key: str) -> str:
    """Return what a picture shows: the words of the footer, and words too long for a footer."""
    told = drawn()[key][0].told if drawn().get(key) else ""
    return " · ".join(filter(None, [footer([key]), writable(told)]))


def turn() -> None:
    """Turn to the slide that the browser requests, open its page, or leave the talk; a callback."""
    number, turn_number = picked("slide-words")
    at, slides = turning.slide(), talk.in_force()
    if at is None:  # a click that arrived after the talk was left
        turning.turn_to(turning.LIVE if turning.visit() else None)
    elif number == 0:
        turning.turn_to(None)
    elif number == turning.LIVE and any(map(has_scene, slides[at - 1 : at])):
        turning.turn_to(turning.LIVE)
    elif isinstance(number, int) and 1 <= number <= len(slides):
        turning.turn_to(number)
    st.session_state[TURNS] = turn_number  # last: the browser repeats an interrupted request
