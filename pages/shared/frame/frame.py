"""What every page starts with: its title, the wide layout and the sidebar."""

from __future__ import annotations

import streamlit as st

from pages.browser.parts import keyboard
from pages.shared.frame import presenter, share
from pages.shared.frame.browser_tab import remember
from pages.shared.link import address
from pages.shared.show import saving
from pages.shared.show.pictures import load_library, show

# Every page of the app: its file, its name, what it is for.
PAGES = (
    ("app.py", "Attention", "What every head looks at, on your sentence"),
    ("pages/masks.py", "Masks", "Change what attention may see, and what that does"),
    ("pages/heads.py", "Heads", "Switch heads off, and see which of them matter"),
    ("pages/compare.py", "Compare", "Two sentences, heads, models or trainings, side by side"),
    ("pages/inside.py", "Inside a head", "Why a weight is what it is, number by number"),
    ("pages/positions.py", "Positions", "How a token knows its place, and what happens without"),
    ("pages/decoding.py", "Decoding", "How the output comes about, one token at a time"),
    ("pages/training.py", "Training", "Watch attention being learned, from random weights"),
    ("pages/bert.py", "BERT and others", "Other models' heads: a BERT to change, any to look at"),
    ("pages/talk.py", "Talk", "Make a list of scenes, and present it"),
    ("pages/model.py", "The model", "What it is, how it was trained, what it cannot do"),
)

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


def open_page(name: str) -> None:
    """Set up the page called `name`; the first Streamlit call of every page."""
    st.set_page_config(
        page_title=f"{name} · Headlight",
        page_icon="🔦",
        layout="wide",
        initial_sidebar_state=SIDEBAR_WIDTH,
    )
    st.html(f"<style>{STYLE}</style>")
    load_library()
    remember()
    if slide := presenter.open_slide(name, {title: file for file, title, _ in PAGES}):
        presenter.show_slide(slide)
    else:
        sidebar(name)
        st.title(name)
    address.restore(name)
    address.note()
    saving.about(model="")


def sidebar(name: str) -> None:
    """The way to the other pages, and what hands this one on."""
    with st.sidebar:
        st.subheader("Headlight")
        st.caption("Every attention head of a Transformer, on the sentence you type.")
        for file, title, purpose in PAGES:
            st.page_link(file, label=title, help=purpose)
        share.tools(name)
        show(keyboard(), "keyboard")
