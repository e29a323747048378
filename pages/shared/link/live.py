"""Where the running app shows the scene of a slide."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

import streamlit as st

from pages.shared.link.slides import Slide
from pages.shared.state.page import PAGES

HERE = ("localhost", "127.0.0.1", "::1")


def link_of(scene: Slide) -> str:
    """Return the address of a slide's scene; empty for a slide of words alone."""
    here = urlsplit(str(st.context.url or ""))
    if scene.page not in PAGES or here.scheme not in ("http", "https"):
        return ""
    page = "" if PAGES[scene.page].file == "app.py" else scene.page
    path = f"{here.path.rpartition('/')[0]}/{page}"
    return here._replace(path=path, query=urlencode(scene.parameters), fragment="").geturl()


def is_of_this_machine(link: str) -> bool:
    """Return whether an address opens on the machine alone on which the app runs."""
    return urlsplit(link).hostname in HERE
