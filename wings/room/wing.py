"""Ask a room of phones the questions of Guess first, of slides, or one that the lecturer types."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from secrets import token_hex
from urllib.parse import urlsplit

import streamlit as st

from headlight.pages.browser.parts import qr_code
from headlight.pages.server.open_paths import open_to_all
from headlight.pages.shared.address import ON_THIS_MACHINE, is_of_this_machine
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.question import LONGEST, check_question, lines_of
from headlight.pages.shared.show.riddle import Riddle, is_open, is_question
from headlight.pages.shared.show.saving import About
from headlight.pages.shared.state.page import Page, shown
from headlight.pages.shared.state.showing import SAID, drawn, showing
from headlight.pages.shared.state.wings import TOOLS, Wing, allows
from headlight.pages.streamlit_fixes.paths import public
from headlight.wings.room import routes
from headlight.wings.room.part import panel
from headlight.wings.room.rooms import (
    NO_QUESTION,
    ROOMS,
    Question,
    Room,
    close_room,
    lecturers_room,
    open_room,
)

ROOM, OWN, DRAWN = "room_opened", "room_question", "room_drawn"  # keys in the session's state
ASKED = "room_asked"  # the page and the key of the picture that the room is asked about
INTRO = (
    "Phones open the room by its QR code or address, and guess what **Guess first** asks on a page "
    "or slide. They need no name, see nothing else of this app, and the room is forgotten once you "
    "close it."
)
WIFI = (
    "If phones on the same Wi-Fi cannot open the address, the network separates its clients, as "
    "in many lecture halls. Then switch on the hotspot of this computer or of a phone, connect "
    "this computer and the audience to it, and start Headlight again: it prints its new address."
)
ASK_OWN = "Ask a question of your own, with two to four answers"
ASK_THIS = "Ask the room this question"


def own_room() -> Room | None:
    """Return the room that this session has opened, if it is still open."""
    room = st.session_state.get(ROOM)
    return room if room and ROOMS.get(room.code) is room else None


def earlier_room() -> Room | None:
    """Return the room that this browser opened before the page was reloaded, if it is open."""
    code, _, key = st.context.cookies.get(routes.LECTURER, "").partition(" ")
    return lecturers_room(code, key)


def own_question() -> Question | None:
    return st.session_state.get(OWN)


def address_of(room: Room) -> str:
    """Return the address that a phone opens."""
    here = urlsplit(str(st.context.url or ""))
    return here._replace(path=path_of(room), query="", fragment="").geturl()


def path_of(room: Room) -> str:
    return public(f"/{routes.NAME}/{room.code}")


def read_question(asks: str, answers: str) -> Question:
    """Return a typed question and its answers, one a line; raises ValueError if incomplete."""
    question = Question(asks.strip(), lines_of(answers), scene=token_hex())
    check_question(question.asks, question.options)
    return question


@st.dialog("Ask the room", width="large", on_dismiss="rerun")
def ask() -> None:
    """Draw how phones enter the room, and a form for the lecturer's own question."""
    room = own_room()
    if room is None:
        st.caption(INTRO)
        if earlier := earlier_room():
            st.button(f"Return to room {earlier.code}", on_click=enter, args=[earlier])
        st.button("Open a room", key="begin-room", on_click=begin, type="primary")
        st.caption(WIFI)
        return
    code, questions = st.columns([2, 3], gap="medium")
    link = address_of(room)
    with code:
        show(qr_code(link), "room-code")
        st.text(f"Code: {room.code}")
        if is_of_this_machine(link):
            st.info(ON_THIS_MACHINE)
    own = own_question() or NO_QUESTION
    with questions:
        st.caption(INTRO)
        with st.form("room-question", border=False):
            st.caption(ASK_OWN)
            asks = st.text_input("Question", own.asks, max_chars=LONGEST)
            answers = st.text_area("Answers, one a line", "\n".join(own.options), height=120)
            if st.form_submit_button("Ask this"):
                try:
                    st.session_state[OWN] = read_question(asks, answers)
                    st.rerun()
                except ValueError as error:
                    st.error(str(error))
        with st.container(horizontal=True):
            if own is not NO_QUESTION:
                st.button(
                    "Ask the page's question instead",
                    on_click=st.session_state.pop,
                    args=[OWN, None],
                )
            st.button("Close the room", on_click=end)
        st.caption(WIFI)


def begin() -> None:
    """Open a room for this session; a callback."""
    try:
        st.session_state[ROOM] = open_room()
    except ValueError as error:
        st.error(str(error))


def enter(room: Room) -> None:
    """Return to a room that this browser opened earlier; a callback."""
    st.session_state[ROOM] = room


def end() -> None:
    """Close the session's room; a callback."""
    if room := own_room():
        close_room(room)
    st.session_state.pop(OWN, None)
    st.session_state.pop(ROOM, None)


def takes_turn(key: str) -> bool:
    """Return whether the room is to be asked about the picture with this key.

    A room is asked one question: that of the first picture on a page or slide, or on a page that of
    the picture whose button was clicked.
    """
    if on_slide := showing().keys():
        return key in on_slide and not st.session_state[DRAWN]
    page, asked = st.session_state.get(ASKED, ("", ""))
    if page != shown().key:
        choose_asked(shown().key, asked := key)
    if key != asked:
        st.button(ASK_THIS, f"ask-{key}", on_click=choose_asked, args=[shown().key, key])
    return key == asked


def choose_asked(page: str, key: str) -> None:
    """Ask the room about a picture of a page; a callback."""
    st.session_state[ASKED] = page, key


def draw(room: Room, question: Question, *, is_own: bool = False) -> None:
    """Draw the panel of a room; on a slide, it is above the pictures."""
    part = panel(
        path_of(room),
        room.key,
        address_of(room),
        room.code,
        room.poll.number,
        question.options,
        question.asks if is_own else "",
    )
    with showing().place(SAID):
        show(part, "room-panel")
    st.session_state[DRAWN] = True


class RoomWing(Wing):
    """Asks the phones of a room the page's question, until the page shows the answer."""

    def begin(self, page: Page) -> None:
        st.session_state[DRAWN] = False

    def buttons(self, page: Page) -> None:
        """Draw the button for opening a room."""
        if allows(TOOLS) and st.button(
            "Room", key="open-room", help="Phones guess what is asked here"
        ):
            ask()

    def asks(
        self, keys: Sequence[str], ask: Callable[[], Riddle], of: About | None, what: str
    ) -> bool:
        """Ask the room a question; mark the page's answer for the phones once the page shows it."""
        room, own = own_room(), own_question()
        key = next((key for key in keys if is_open(key) is not None), None)
        if room is None or key is None or (own and not showing().keys()) or not takes_turn(key):
            return False
        if own:
            room.pose(own)
            draw(room, own, is_own=True)
            return False
        riddle, is_asked = ask(), is_open(key)
        question = question_of(riddle, of.sentence if of else "")
        room.pose(question)
        if is_asked and room.poll.right:
            room.pose(question, again=True)
        if not is_asked:
            room.close_guesses(tuple(riddle.right))
        draw(room, question)
        return False

    def polls(self, question: str) -> None:
        """Ask the room the question of a slide, in place of all others."""
        if (room := own_room()) is None:
            return
        asks, *answers = lines_of(question)
        try:
            read = read_question(asks, "\n".join(answers))
        except ValueError as error:
            st.info(str(error))
            return
        asked = replace(read, scene=f"slide {showing().scene()}")
        room.pose(asked)
        draw(room, asked)

    def above(self, page: Page) -> None:
        """Ask the lecturer's own question above a page, if there is one."""
        room, own = own_room(), own_question()
        if room and own:
            room.pose(own)
            draw(room, own, is_own=True)

    def after(self, page: Page) -> None:
        """On a page that has not asked, let the phones wait, or ask a question that is left."""
        room = own_room()
        if room is None or st.session_state[DRAWN]:
            return
        room.pose(NO_QUESTION)
        if st.session_state.pop(ASKED, None) and any(map(is_question, drawn())):
            st.rerun()


def question_of(riddle: Riddle, sentence: str) -> Question:
    """Return a question of Guess first about a sentence as a question for phones."""
    scene = repr((shown().key, showing().scene(), riddle))
    digest = sha256(scene.encode()).hexdigest()[:12]
    boards = tuple(riddle.boards)
    return Question(riddle.asks, tuple(riddle.names), sentence, boards, digest)


WING = RoomWing()
open_to_all(routes.NAME, routes.app)
