"""The page The model."""

from pages.parts.pages import open_page

open_page("model")
