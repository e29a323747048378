"""Presenter mode: one slide at a time, its words and pictures alone on the screen."""

from __future__ import annotations

import re
from collections.abc import Mapping

import streamlit as st

from pages.shared.frame import talk
from pages.shared.link import address
from pages.shared.link.slides import Slide
from pages.shared.show.pictures import show
from viz import slide as slide_picture

PARAMETER = "talk"  # which slide, in an address
MODEL_GONE = "The model of this slide is not here any more: it was a visitor's own."

# {shown} selects the slide's pictures and {kept} also its words, and what says that a picture
# cannot be shown; all else on the page is hidden.
# --slide-scale fits the whole to the screen and --slide-fit the pictures where they are too tall,
# see slide.js.
STYLE = """
.stSidebar, .stAppHeader, [data-testid="stExpandSidebarButton"] {{ display: none !important; }}
.stMainBlockContainer {{ zoom: var(--slide-scale, 1); padding: 20px 40px 0 !important; }}
.stMainBlockContainer :is(.stVerticalBlock, .stHorizontalBlock) > :not({kept}, :has({kept}))
{{ display: none !important; }}
.stMainBlockContainer [role="tablist"] {{ display: none !important; }}
@media (min-width: 641px) {{
  .stMainBlockContainer .stColumn {{ flex: 1 1 0; width: auto; min-width: 0; max-width: none; }}
}}
{shown} {{ --on-page: none; zoom: calc({size} * var(--slide-fit, 1)); }}
"""


def open_slide(page: str, files: Mapping[str, str]) -> Slide | None:
    """The slide to show on a page, with its choices made; None outside of presenter mode.

    Goes to the slide's page where that is another one; `files` names every page's file.
    """
    state = st.session_state
    asked = address.gone_to()
    if asked is not None:
        state.slide = number_of(asked.get(PARAMETER, ""))
        if state.slide is not None:
            state.update(turned=True, toured=True)
            address.arrived(asked)
    if state.get("slide") is None:
        return None
    slides = talk.in_force()
    state.slide = min(state.slide, len(slides))
    slide, link = slides[state.slide - 1], {PARAMETER: str(state.slide)}
    if slide.page != page:
        if not state.get("turned"):
            if PARAMETER in st.query_params:
                # Going back, the browser is about to pass this entry over, see slide.js.
                show_slide(slide, passing=True)
                st.stop()
            state.slide = None  # a click in a picture led away from the talk
            return None
        address.written(link)
        st.switch_page(files[slide.page], query_params=link)
    if state.get("turned"):
        state.turned = False
        state.slides_shown = state.get("slides_shown", 0) + 1
        address.apply(slide.parameters, page, everywhere="sentence" not in state)
        address.write(link)
    return slide


def number_of(text: str) -> int | None:
    """The number of a slide in an address, or None."""
    return int(text) if re.fullmatch("[1-9][0-9]{0,3}", text) else None


def present(number: int = 1) -> None:
    """Begin to present with a slide; a callback."""
    st.session_state.update(slide=number, turned=True, toured=True)


def show_slide(slide: Slide, *, passing: bool = False) -> None:
    """Hide all of the page but the slide's pictures, and write its words."""
    if "model" in st.session_state.pop("refused_parameters", ()):
        with st.container(key="slide-note"):
            st.info(MODEL_GONE)
    shown = ":is(" + ", ".join(map(css_class, slide.pictures or ("none",))) + ")"
    kept = (
        ":is("
        + ", ".join(map(css_class, ("slide-words", "slide-note", "kept", *slide.pictures)))
        + ")"
    )
    style = STYLE.format(shown=shown, kept=kept, size=slide.size)
    number, count = st.session_state.slide, len(talk.in_force())
    place = {"number": number, "count": count, "passing": passing}
    show(slide_picture(slide.title, slide.words, style=style, **place), "slide-words", _turn)
    talk.keep()


def css_class(key: str) -> str:
    """The class that Streamlit gives to what has a key."""
    return ".st-key-" + re.sub(r"[^a-zA-Z0-9_-]", "-", key)


def _turn() -> None:
    number = st.session_state.get("slide-words", {}).get("picked")
    if number is None:
        # Asked for by a page that is gone: the slide on its way comes, and asks again.
        st.session_state.turned = True
        return
    if number == 0:
        st.session_state.slide = None
    elif isinstance(number, int) and 1 <= number <= len(talk.in_force()):
        present(number)
