"""What every page starts with: its title, the wide layout and the sidebar."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.browser.parts import keyboard
from pages.shared.frame import presenter, share, talk
from pages.shared.frame.browser_tab import remember
from pages.shared.link import address
from pages.shared.show import stage
from pages.shared.show.pictures import load_library, show
from pages.shared.state.page import PAGES, Page, enter

SIDEBAR_WIDTH = 220  # pixels
STYLE = Path(__file__).with_name("frame.css")


def open_page(page: Page) -> None:
    """Draw a page, or the slide that its address names."""
    st.set_page_config(
        page_title=f"{page.title} · Headlight",
        page_icon="🔦",
        layout="wide",
        initial_sidebar_state=SIDEBAR_WIDTH,
    )
    if file := st.session_state.get("left_for"):  # a slide; callbacks cannot change the page
        enter(page)
        if file != page.file:
            st.switch_page(file)
        del st.session_state.left_for
    st.html(STYLE)
    load_library()
    remember()
    talk.keep()
    stage.begin()
    if number := presenter.asked_for():
        presenter.show_slide(number)
        return
    sidebar(page)
    st.title(page.title)
    address.restore(page)
    address.note()
    if page.key == next(iter(PAGES)):
        share.tour_link()
    page.body()
    address.publish()
    talk.finish(page)


def sidebar(page: Page) -> None:
    """Draw the way to the other pages, and what hands this one on."""
    with st.sidebar:
        st.subheader("Headlight")
        st.caption("Every attention head of a Transformer, on the sentence you type.")
        for other in PAGES.values():
            st.page_link(other.file, label=other.title, help=other.purpose)
        share.tools(page)
        show(keyboard(), "keyboard")
