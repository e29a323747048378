"""Every page of the app, in the order of the sidebar."""

from __future__ import annotations

from pages.parts.attention.page import ATTENTION
from pages.parts.bert.page import BERT
from pages.parts.compare.page import COMPARE
from pages.parts.decoding.page import DECODING
from pages.parts.heads.page import HEADS
from pages.parts.inside.page import INSIDE
from pages.parts.masks.page import MASKS
from pages.parts.model.page import MODEL_PAGE
from pages.parts.positions.page import POSITIONS
from pages.parts.talk.page import TALK
from pages.parts.training.page import TRAINING
from pages.shared.frame import frame
from pages.shared.state.page import PAGES, list_pages

list_pages(
    ATTENTION,
    MASKS,
    HEADS,
    COMPARE,
    INSIDE,
    POSITIONS,
    DECODING,
    TRAINING,
    BERT,
    TALK,
    MODEL_PAGE,
)


def open_page(key: str) -> None:
    """Draw the page with this key."""
    frame.open_page(PAGES[key])
