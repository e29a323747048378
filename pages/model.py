"""The page The model."""

from headlight.pages.parts.pages import open_page

open_page("model")
