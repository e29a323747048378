"""For a class: a link with its QR code that opens a scene, and the controls that it leaves open."""

from urllib.parse import urlencode

import streamlit as st

from pages.browser.parts import locks, qr_code
from pages.classroom import lesson
from pages.classroom.lesson import Lesson
from pages.shared.link import address
from pages.shared.link.address import ON_THIS_MACHINE, is_of_this_machine
from pages.shared.show.pictures import show
from pages.shared.state.page import PAGES, Page
from pages.shared.state.wings import BUTTONS, CLICKS

INTRO = (
    "The link opens this page with what is chosen now, on any number of devices. What you do not "
    "name below is not shown or does not answer there; it is no protection: who opens the app "
    "without the link has all of it."
)
NAMED = "Controls that are open: all if none is named"
CONTROLS = {CLICKS: "clicks in pictures", BUTTONS: "buttons"}


def keep_in(page: Page) -> None:
    """Go to the first page that is open to a class if the given page is not."""
    opened = lesson.lesson()
    if not opened.has(page):
        st.switch_page(PAGES[opened.pages[0]].file)


def lock() -> None:
    """Lock the controls that a class is not to use."""
    opened = lesson.lesson()
    if opened.controls:
        show(locks(opened.controls, buttons=opened.allows(BUTTONS)), "locks")


@st.dialog("For a class", width="large")
def ask(page: Page) -> None:
    """Draw the link to a page's scene with its QR code, and ask what is to be open."""
    code, questions = st.columns([2, 3], gap="medium")
    with questions:
        st.caption(INTRO)
        others = [key for key in PAGES if key != page.key]
        beside = f"Pages that are open beside {page.title}"
        pages = st.multiselect(beside, others, format_func=lambda key: PAGES[key].title)
        only_here = st.toggle("This page alone")
        labels = {choice.key: choice.label or choice.key for choice in page.linked} | CONTROLS
        controls = st.multiselect(NAMED, labels, format_func=labels.get)
    opened = (page.key, *pages) if pages or only_here else ()
    link = link_to(page, Lesson(opened, tuple(controls)))
    with code:
        try:
            show(qr_code(link), "qr-code")
        except ValueError as error:
            st.text(str(error))
        if is_of_this_machine(link):
            st.info(ON_THIS_MACHINE)
    st.code(link, language=None, wrap_lines=True)


def link_to(page: Page, opened: Lesson) -> str:
    """Return the address of a page's scene for a class."""
    parameters = address.parameters(page)
    if text := lesson.write(opened):
        parameters[lesson.PARAMETER] = text
    base = str(st.context.url or "").partition("?")[0]
    return f"{base}?{urlencode(parameters)}" if parameters else base
