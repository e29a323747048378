"""The frame of every page: title, layout and sidebar, and the order in which a page is drawn."""

from pathlib import Path
from urllib.parse import quote

import streamlit as st

from headlight.pages.browser.parts import copy_link, kept_text, keyboard
from headlight.pages.shared import address
from headlight.pages.shared.frame import changes
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.pictures import all_picked, css_class, load_library, picked, show
from headlight.pages.shared.state import choices, showing
from headlight.pages.shared.state.models import come_back, is_of_this_server, workshop
from headlight.pages.shared.state.page import PAGES, Page, alone, shown
from headlight.pages.shared.state.wings import TOOLS, WINGS, allows, is_open
from headlight.pages.streamlit_fixes import styles
from headlight.pages.streamlit_fixes.late_values import step

KEY = "keyboard"
SIDEBAR_WIDTH = 220  # pixels
STYLE = styles.style(*styles.PAGE, Path(__file__).with_name("frame.css"))
# The icon of the browser tab, a lamp with a beam. It is no emoji, because for one Streamlit would
# load the names of all emojis.
ICON = "data:image/svg+xml," + quote(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">'
    '<path fill="#64748b" d="M1 6h6l3-2v8l-3-2H1z"/>'
    '<path fill="#f5b301" d="M10.8 4.2 15.6 1v14l-4.8-3.2z"/></svg>'
)
ALONE = styles.style(styles.ALONE)
KEPT = "headlight-workshop"  # the browser tab stores the workshop's key under this name
GONE = "The models trained in this tab are gone: "
LEFT = GONE + "they are released a few minutes after the tab was closed or lost its connection."
RESTARTED = GONE + "the server was restarted, or another server answers now."


def open_page(page: Page, said: str = "") -> None:
    """Draw a page, or what a wing (such as the slides) draws in its place.

    The note `said` is drawn above the page's body.
    """
    st.set_page_config(
        page_title=f"{page.title} · Headlight",
        page_icon=ICON,
        layout="wide",
        initial_sidebar_state=SIDEBAR_WIDTH,
    )
    for wing in WINGS:
        wing.begin(page)
    st.html(STYLE)
    load_library()
    remember()
    showing.begin()
    if any(wing.draws(page) for wing in WINGS):
        return
    address.restore(page)
    choices.take_up()
    for wing in WINGS:
        wing.enter(page)
    if picture := alone(page):
        show_alone(page, picture)
        return
    sidebar(page)
    header = st.container(horizontal=True, vertical_alignment="center", gap="small", key="header")
    header.title(page.title, width="content")
    if page.changes != "all":
        with header:
            changes.say(page)
    with header:
        for wing in WINGS:
            wing.beside_title(page)
    with st.container(key="purpose"):
        caption(page.purpose)
    if said:
        st.info(said)
    address.note()
    for wing in WINGS:
        wing.above(page)
    page.body()
    address.publish()
    for wing in WINGS:
        wing.after(page)


def show_alone(page: Page, picture: str) -> None:
    """Draw a page with only the picture of this key visible, to be embedded in another document."""
    # Streamlit puts no key on an Altair chart, so the chart's container has the key chart-KEY.
    selectors = f"{css_class(picture)}, {css_class(f'chart-{picture}')}"
    st.html(ALONE.replace("PICTURE", f":is({selectors})"))
    for wing in WINGS:
        wing.above(page)
    page.body()
    address.publish()
    if picture not in showing.drawn():
        with st.container(key="alone-missing"):
            st.info("This picture is not drawn for the choices in its address.")


def sidebar(page: Page) -> None:
    """Draw the list of pages, and the tools for sharing the page."""
    with st.sidebar:
        st.subheader("Headlight")
        opened = list(filter(is_open, PAGES.values()))
        for group in dict.fromkeys(other.group for other in opened):
            with st.container(key=f"pages-{group}", gap=None):
                st.caption(group)
                for other in opened:
                    if other.group == group:
                        st.page_link(other.file, label=other.title)
        tools(page)


def tools(page: Page) -> None:
    """Draw the wings' tools, a button that copies the page's link, and one that lists the keys."""
    with st.container(key="share", gap="xsmall"):
        for wing in WINGS:
            wing.tools(page)
        with st.container(horizontal=True, gap="xsmall"):
            for wing in WINGS:
                wing.buttons(page)
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
            if allows(TOOLS):
                show(copy_link(), "copy-link")
            keys()


def keys() -> None:
    """Listen for keyboard shortcuts, and draw the button that lists them."""
    show(keyboard(), KEY, press)


def press() -> None:
    """Apply the shortcut keys that step through the options of a choice; a callback."""
    for choice, by in all_picked(KEY):
        if allows(choice):
            step(choice, by)


def remember() -> None:
    """Let the browser tab store the key of the visitor's workshop (own models and trainings).

    If the workshop is empty, ask the tab for the key of an earlier one.
    """
    key = workshop().key
    if workshop().is_empty:
        key = "" if workshop().gone else None
    show(kept_text(KEPT, key), "workshop-key", _come_back)


def _come_back() -> None:
    key = picked("workshop-key")
    if not isinstance(key, str):  # the tab lost its connection for a while
        return
    awaited = st.session_state.pop("awaited", None)
    if key == workshop().key or not workshop().is_empty:
        return
    if come_back(key):
        for wing in WINGS:
            wing.renew()
        address.go_again(awaited)
    else:
        workshop().gone = True
        for wing in WINGS:
            wing.lost(shown(), LEFT if is_of_this_server(key) else RESTARTED)
