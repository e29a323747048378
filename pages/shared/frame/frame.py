"""What every page starts with: its title, the wide layout and the sidebar."""

from __future__ import annotations

import streamlit as st

from pages.browser.parts import keyboard
from pages.shared.frame import presenter, share
from pages.shared.frame.browser_tab import remember
from pages.shared.link import address
from pages.shared.show.pictures import load_library, show
from pages.shared.state.page import PAGES, Page

SIDEBAR_WIDTH = 220  # pixels

# Streamlit's own spacing leaves too little room for pictures on a projector.
STYLE = """
.stAppHeader { background: transparent; }
.stApp { --under-header: 3rem; }
.stMainBlockContainer { padding: 2.25rem 2rem 3rem; }
.stApp [data-testid="stCaptionContainer"] { opacity: 0.8; }
.stApp [data-testid="stCaptionContainer"] code { color: inherit; }
.stElementContainer:has(.text-alternative) {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
}
.stMultiSelect :has(> span[title]) { background-color: #1f6f8b; }
.stMainBlockContainer .katex-display { padding: 4px 3px; }
.stMainBlockContainer thead:not(:has(th:not(:empty))) { display: none; }
.stMainBlockContainer h2 { padding: 0.75rem 0 0.25rem; font-size: 1.15rem; }
.stMainBlockContainer h3 { padding-bottom: 0.25rem; font-size: 1.15rem; }
.stMainBlockContainer h1 { padding: 0; font-size: 1.6rem; }
.st-key-library, .st-key-grid-selection, .st-key-workshop-key { display: none; }
/* The menu that saves a chart takes no room, and shows when the chart is in use. */
[class*="st-key-save-"] { height: 0; min-height: 0; margin-top: -1rem; }
[class*="st-key-chart-"]:is(:hover, :focus-within) { --in-use: 1; }
@media (hover: none) { [class*="st-key-save-"] { height: 1.8rem; margin-top: -0.6rem; } }
@media (min-width: 641px) {
  .stMainBlockContainer > .stVerticalBlock { position: relative; }
  .st-key-tour { position: absolute; top: 0; right: 0; width: auto; }
}
@media (max-width: 640px) { .stMainBlockContainer { padding: 4rem 1rem 2rem; } }
"""


def open_page(page: Page) -> None:
    """Draw a page, or the slide that its address names."""
    st.set_page_config(
        page_title=f"{page.title} · Headlight",
        page_icon="🔦",
        layout="wide",
        initial_sidebar_state=SIDEBAR_WIDTH,
    )
    if file := st.session_state.pop("left_for", None):  # a slide; callbacks cannot change the page
        st.session_state.page = page
        if file != page.file:
            st.switch_page(file)
    st.html(f"<style>{STYLE}</style>")
    load_library()
    remember()
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


def sidebar(page: Page) -> None:
    """Draw the way to the other pages, and what hands this one on."""
    with st.sidebar:
        st.subheader("Headlight")
        st.caption("Every attention head of a Transformer, on the sentence you type.")
        for other in PAGES.values():
            st.page_link(other.file, label=other.title, help=other.purpose)
        share.tools(page)
        show(keyboard(), "keyboard")
