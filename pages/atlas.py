"""The page Atlas."""

from headlight.pages.parts.pages import open_page

open_page("atlas")
