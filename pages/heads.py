"""The page Heads."""

from headlight.pages.parts.pages import open_page

open_page("heads")
