"""The page Atlas."""

from pages.parts.pages import open_page

open_page("atlas")
