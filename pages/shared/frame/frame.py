"""What every page starts with: its title, the wide layout and the sidebar."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from urllib.parse import quote

import streamlit as st

from pages.shared.frame import changes, classroom, presenter, saving_talk, share, talk
from pages.shared.frame.browser_tab import remember
from pages.shared.link import address
from pages.shared.show import stage
from pages.shared.show.pictures import css_class, load_library
from pages.shared.state.lesson import lesson
from pages.shared.state.page import PAGES, Page, alone, enter

SIDEBAR_WIDTH = 220  # pixels
STYLE = Path(__file__).with_name("frame.css")
# A lamp and its beam. For an emoji, Streamlit would load the names of all that there are.
ICON = "data:image/svg+xml," + quote(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">'
    '<path fill="#64748b" d="M1 6h6l3-2v8l-3-2H1z"/>'
    '<path fill="#f5b301" d="M10.8 4.2 15.6 1v14l-4.8-3.2z"/></svg>'
)
ALONE = f"<style>{Path(__file__).with_name('alone.css').read_text(encoding='utf-8')}</style>"


def open_page(page: Page) -> None:
    """Draw a page, or the slide that its address names."""
    st.set_page_config(
        page_title=f"{page.title} · Headlight",
        page_icon=ICON,
        layout="wide",
        initial_sidebar_state=SIDEBAR_WIDTH,
    )
    presenter.take_turn()
    if left_for := st.session_state.get("left_for"):  # a talk
        enter(page)
        if left_for != page:
            st.switch_page(left_for.file)
        del st.session_state.left_for
        address.publish()  # at once: what still comes with a slide's address is of that slide
    st.html(STYLE)
    load_library()
    remember()
    talk.keep()
    stage.begin()
    if number := presenter.asked_for():
        (saving_talk.draw_next if saving_talk.is_under_way() else presenter.show_slide)(number)
        return
    saving_talk.stop_if_left()
    address.restore(page)
    classroom.keep_in(page)
    if picture := alone(page):
        show_alone(page, picture)
        return
    sidebar(page)
    header = st.container(horizontal=True, vertical_alignment="center", gap="small", key="header")
    header.title(page.title, width="content")
    if page.changes != "all":
        with header:
            changes.say(page)
    address.note()
    if page.key == next(iter(PAGES)):
        share.tour_link()
    classroom.lock()
    page.body()
    address.publish()
    talk.finish(page)


def show_alone(page: Page, picture: str) -> None:
    """Draw a page of which one picture is seen, by its key: in a frame of somebody's slides."""
    # Of a chart of Altair's, Streamlit gives the key to nothing.
    selectors = f"{css_class(picture)}, {css_class(f'chart-{picture}')}"
    st.html(ALONE.replace("PICTURE", f":is({selectors})"))
    classroom.lock()
    page.body()
    address.publish()
    if picture not in stage.drawn():
        with st.container(key="alone-missing"):
            st.info("This picture is not drawn with what its address has chosen.")


def sidebar(page: Page) -> None:
    """Draw the way to the other pages, and what hands this one on."""
    with st.sidebar:
        st.subheader("Headlight")
        st.caption("Every attention head of a Transformer, on the sentence you type.")
        opened = filter(lesson().has, PAGES.values())
        for group, pages in groupby(opened, key=lambda other: other.group):
            with st.container(key=f"pages-{group}", gap=None):
                st.caption(group)
                for other in pages:
                    st.page_link(other.file, label=other.title, help=other.purpose)
        share.tools(page)
