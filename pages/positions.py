"""The page Positions."""

from pages.parts.pages import open_page

open_page("positions")
