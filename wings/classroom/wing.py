"""Make a teacher's link that opens only some pages and controls to a class, and its QR code."""

import re
from dataclasses import dataclass
from urllib.parse import urlencode

import streamlit as st

from headlight.pages.browser.parts import qr_code
from headlight.pages.server import door
from headlight.pages.shared import address
from headlight.pages.shared.address import ON_THIS_MACHINE, is_of_this_machine
from headlight.pages.shared.runs.readers import reader
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.state.choices import MASKED, SECOND
from headlight.pages.shared.state.page import PAGES, Page
from headlight.pages.shared.state.wings import BUTTONS, CLICKS, TOOLS, WINGS, Wing
from headlight.wings.classroom.part import locks

PARAMETER = "workshop"  # the name of the parameter in an address
LONGEST = 4_000  # characters of a list; the keys of all controls of a page take 1,700
NAMES = re.compile("([a-z_]{1,40})(,[a-z_]{1,40})*", re.ASCII)
INTRO = (
    "The link opens this page with what is chosen now, on any number of devices. If you name "
    "pages here, the class sees no others; if you name controls, no others answer. This does not "
    "protect anything: without the link, the whole app is open."
)
HOLDS_TOKEN = "The link contains the access token of this Headlight."
NAMED = "Controls that stay open (with none chosen, all do)"
CONTROLS = {CLICKS: "Clicks in pictures", BUTTONS: "Buttons"}
NO_CLICKS = f"A click in a picture will open nothing: for that, choose “{CONTROLS[CLICKS]}” too."
NEEDS = {
    SECOND: "read a pair",
    MASKED: "mask words",
}  # abilities that a model needs for these controls


@dataclass(frozen=True)
class Lesson:
    """The keys of the pages and of the controls that are open to a class; empty means all of them.

    A control is a choice, CLICKS (clicks in pictures) or BUTTONS.
    """

    pages: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()

    def has(self, page: Page) -> bool:
        return not self.pages or page.key in self.pages

    def allows(self, control: str) -> bool:
        return not self.controls or control in self.controls


EVERYTHING = Lesson()


def read(text: str) -> Lesson:
    """Return the lesson that a text names: pages, a colon and controls, with commas between names.

    Raises ValueError for a text of another form or too long, or an unknown page or control.
    """
    if len(text) > LONGEST:
        raise ValueError(f"The list of what is open may have at most {LONGEST:,} characters.")
    pages, _, controls = text.partition(":")
    for names in filter(None, (pages, controls)):
        if not NAMES.fullmatch(names):
            raise ValueError(f"{names[:40]} is no list of names with commas between them.")
    lesson = Lesson(*(tuple(filter(None, names.split(","))) for names in (pages, controls)))
    if unknown := [page for page in lesson.pages if page not in PAGES]:
        raise ValueError(f"There is no page {unknown[0]}.")
    known = {choice.key for page in PAGES.values() for choice in page.linked} | {CLICKS, BUTTONS}
    if unknown := set(lesson.controls) - known:
        raise ValueError(f"There is no control {min(unknown)}.")
    return lesson


def write(lesson: Lesson) -> str:
    """Return the text of a lesson, in the form that `read` takes; empty if everything is open."""
    controls = f":{','.join(lesson.controls)}" if lesson.controls else ""
    return ",".join(lesson.pages) + controls


def lesson() -> Lesson:
    """Return the pages and controls that are open in this session, from its first address."""
    return st.session_state.get("lesson", EVERYTHING)


def is_given() -> bool:
    return lesson() != EVERYTHING


@st.dialog("For a class", width="large")
def ask(page: Page) -> None:
    """Draw a link to the page as it is now, with its QR code, and ask what stays open."""
    code, questions = st.columns([2, 3], gap="medium")
    with questions:
        st.caption(INTRO)
        others = [key for key in PAGES if key != page.key]
        beside = f"Pages that stay open next to {page.title}"
        pages = st.multiselect(beside, others, format_func=lambda key: PAGES[key].title)
        only_here = st.toggle("Only this page")
        labels = named_controls(page, *(PAGES[key] for key in pages)) | CONTROLS
        named = labels.__getitem__
        controls = st.multiselect(NAMED, labels, format_func=named, key="class-controls")
        if controls and CLICKS not in controls:
            st.caption(NO_CLICKS)
    opened = (page.key, *pages) if pages or only_here else ()
    link = link_to(page, Lesson(opened, tuple(controls)))
    with code:
        try:
            show(qr_code(link), "qr-code")
        except ValueError as error:
            st.text(str(error))
        if is_of_this_machine(link):
            st.info(ON_THIS_MACHINE)
    if door.access_token():
        st.caption(HOLDS_TOKEN)
    st.code(link, language=None, wrap_lines=True)


def named_controls(*pages: Page) -> dict[str, str]:
    """Return the labels of the pages' controls by key, without those that the chosen model lacks.

    If an earlier page has the same label for another control, the page's title follows the label.
    """
    try:
        missing = reader().missing
    except ValueError:  # the chosen model is not in memory
        missing = {}
    named: dict[str, str] = {}
    for page in pages:
        there = [choice for choice in page.scene if NEEDS.get(choice) not in missing]
        new = {
            choice.key: choice.label for choice in there if choice.label and choice.key not in named
        }
        taken = {*named.values()}
        named |= {
            key: f"{label} ({page.title})" if label in taken else label
            for key, label in new.items()
        }
    return named


def link_to(page: Page, opened: Lesson) -> str:
    """Return an address that holds a page, its present choices, and what is open to the class."""
    kept = {wing.parameter: wing.kept() for wing in WINGS}
    parameters = address.parameters(page) | {name: text for name, text in kept.items() if text}
    if text := write(opened):
        parameters[PARAMETER] = text
    if token := door.access_token():
        parameters[door.PARAMETER] = token
    base = str(st.context.url or "").partition("?")[0]
    return f"{base}?{urlencode(parameters)}" if parameters else base


class Classroom(Wing):
    """Limits visitors with a teacher's link to the pages and controls that the link names."""

    parameter = PARAMETER

    def restore(self, text: str) -> None:
        """Open only what the text of an address names; raises ValueError as `read` does."""
        st.session_state.lesson = read(text)

    def kept(self) -> str:
        """Return which pages and controls are open, as text for an address."""
        return write(lesson())

    def enter(self, page: Page) -> None:
        """Go to the first open page if this page is not open."""
        if not self.has(page):
            st.switch_page(PAGES[lesson().pages[0]].file)

    def has(self, page: Page) -> bool:
        return lesson().has(page)

    def allows(self, control: str) -> bool:
        """Return whether a control is open; the tools are open only to a teacher."""
        return not is_given() if control == TOOLS else lesson().allows(control)

    def buttons(self, page: Page) -> None:
        """Draw the button that makes a link for a class."""
        if is_given():
            return
        if st.button("QR", key="for-a-class", help="This scene for a class: its QR code"):
            ask(page)

    def above(self, page: Page) -> None:
        """Lock the controls that the class is not to use, and say that some are closed."""
        if is_given():
            st.caption("This link is for a class: it shows only what the class needs now.")
        if controls := lesson().controls:
            always = [key for wing in WINGS for key in wing.always_open]
            show(locks([*controls, *always], buttons=lesson().allows(BUTTONS)), "locks")


WING = Classroom()
