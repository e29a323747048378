"""Every page of the app, in the order of the sidebar."""

from __future__ import annotations

import streamlit as st

from pages.parts.atlas.page import ATLAS
from pages.parts.attention.page import ATTENTION
from pages.parts.cause.page import CAUSE
from pages.parts.compare.page import COMPARE
from pages.parts.decoding.page import DECODING
from pages.parts.heads.page import HEADS
from pages.parts.inside.page import INSIDE
from pages.parts.masks.page import MASKS
from pages.parts.model.page import MODEL_PAGE
from pages.parts.models.page import MODELS
from pages.parts.positions.page import POSITIONS
from pages.parts.talk.page import TALK
from pages.parts.training.page import TRAINING
from pages.shared.frame import frame
from pages.shared.link import old
from pages.shared.state.page import PAGES, list_pages

list_pages(
    ATTENTION,
    INSIDE,
    POSITIONS,
    ATLAS,
    MASKS,
    HEADS,
    CAUSE,
    COMPARE,
    DECODING,
    TRAINING,
    TALK,
    MODELS,
    MODEL_PAGE,
)


def open_page(key: str) -> None:
    """Draw the page with this key."""
    frame.open_page(PAGES[key])


def forward(key: str) -> None:
    """Go from the address of a page that is gone to the page that shows what a link to it asks."""
    page, parameters = old.page_and_parameters(key, st.query_params)
    st.switch_page(PAGES[page].file, query_params=parameters)
