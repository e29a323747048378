"""What a slide is called as long as nobody gives it a title: its sentence and its site."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pages.shared.link import address, link
from pages.shared.link.slides import LONGEST_TITLE, Slide
from pages.shared.show.captions import site_words
from pages.shared.state.choices import HEAD, HEAD_NUMBER, LAYER, SENTENCE, chosen
from pages.shared.state.page import PAGES, Page

OF_A_SITE = ("attention", "masks", "inside")  # pages whose first picture is of one head
OF_NO_SENTENCE = ("compare", "training", "model")  # or of their own ones


def title_now(page: Page) -> str:
    """Return the title of what a page shows now."""
    return title_from(page, {choice.key: chosen(choice) for choice in page.linked})


def title_of(slide: Slide) -> str:
    """Return the title that the scene of a slide has if nobody gives it one."""
    if not slide.page:
        return slide.title
    page, shape = PAGES[slide.page], address.shape_for(slide.parameters)
    return title_from(page, link.read(slide.parameters, page.linked, shape)[0])


def title_from(page: Page, values: Mapping[str, Any]) -> str:
    """Return a title from the values of a page's choices, of at most as much as a slide takes."""
    if page.key in OF_NO_SENTENCE:
        return page.title
    what = page.title
    if page.key in OF_A_SITE:
        head = HEAD_NUMBER if HEAD_NUMBER in page.choices else HEAD
        what = site_words(*(values[choice.key] for choice in (page.kind, LAYER, head)))
    sentence = " ".join(values[SENTENCE.key].split())
    room = LONGEST_TITLE - len(f"{what}: “”")
    if len(sentence) > room:
        sentence = sentence[: room - 1].rstrip() + "…"
    return f"{what}: “{sentence}”"
