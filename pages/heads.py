"""The page Heads."""

from pages.parts.pages import open_page

open_page("heads")
